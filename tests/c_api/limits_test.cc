// SPDX-License-Identifier: Apache-2.0
//
// CONTRACT 19: the table of limits, each number of it at which a call goes through and one beyond
// which is refused with the table's code and by the table's name, and the page that shows it.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "pigment/pigment_host.h"
#include "tests/c_api/abi.h"
#include "tests/support/json.h"

namespace {

using abi_test::kNoOptions;
using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;
using Json = nlohmann::json;

Json Limits() {
  pigment_buffer* raw = nullptr;
  EXPECT_TRUE(Try(pigment_limits, &raw).ok());
  const abi_test::Buffer buffer(raw);
  return Json::parse(abi_test::Text(raw));
}

uint64_t LimitOf(const std::string& name) {
  for (const Json& limit : Limits())
    if (limit.at("name") == name) return limit.at("most").get<uint64_t>();
  ADD_FAILURE() << "no limit " << name;
  return 0;
}

// A refusal ends with the limit's name and number, whatever it says before.
void ExpectNamed(const Outcome& beyond, const std::string& name) {
  const std::string end = " (limit " + name + ": " + std::to_string(LimitOf(name)) + ")";
  EXPECT_TRUE(beyond.message.ends_with(end)) << beyond << " does not end in" << end;
}

template <typename Piece>
std::string Joined(uint64_t count, const Piece& piece, std::string_view between = ",") {
  std::string all;
  for (uint64_t i = 0; i < count; ++i) all.append(i == 0 ? "" : between).append(piece(i));
  return all;
}

std::string Padded(std::string text, uint64_t bytes) {
  return text + std::string(bytes - text.size(), ' ');
}

// Zeros that take no memory while they are only read, or bytes that cannot be read at all.
class Zeros {
 public:
  explicit Zeros(size_t size, int protection = PROT_READ) : size_(size) {
    void* const mapped =
        mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped != MAP_FAILED) data_ = static_cast<const char*>(mapped);
  }
  ~Zeros() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;

  const char* data() const { return data_; }

 private:
  size_t size_;
  const char* data_ = nullptr;
};

class LimitsAbi : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = abi_test::OpenMemory();
    ASSERT_TRUE(Make("docs", R"({"text_index":{}})").ok());
    abi_test::Batch batch;
    batch.ids.Add("a").Add("b");
    batch.values = {1, 2};
    batch.dimension = 1;
    batch.documents.emplace().Add("a fox").Add("aaa");
    batch.metadatas.emplace().Add(R"({"n":1})").Add(R"({"n":2})");
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
  }

  Outcome Make(const std::string& name, const std::string& configuration) {
    return Make(name, configuration.data(), configuration.size());
  }
  Outcome Make(const std::string& name, const char* configuration, size_t size) {
    auto options = Sized<pigment_collection_options>();
    options.configuration_json = configuration;
    options.configuration_json_size = size;
    return abi_test::Create(client_.get(), name, &docs_, &options);
  }
  Outcome CountWhere(const std::string& where) {
    auto request = Sized<pigment_count_request>();
    request.where_json = where.data();
    request.where_json_size = where.size();
    uint64_t count = 0;
    const pigment_count_request* const given = &request;
    return Try(pigment_collection_count_where, docs_.get(), given, kNoOptions, &count);
  }
  Outcome WithRegex(const std::string& pattern) {
    return CountWhere(R"({"#document":{"$regex":)" + Json(pattern).dump() + "}}");
  }
  Outcome Ordered(const std::string& order) {
    auto request = Sized<pigment_get_request>();
    request.order_by_json = order.data();
    request.order_by_json_size = order.size();
    abi_test::ResultHandle result;
    return abi_test::Get(docs_.get(), request, &result);
  }
  Outcome Faceted(uint64_t count) {
    abi_test::Texts keys;
    for (uint64_t i = 0; i < count; ++i) keys.Add("k" + std::to_string(i));
    auto request = Sized<pigment_facets_request>();
    request.keys_count = keys.size();
    request.keys = keys.column();
    pigment_buffer* raw = nullptr;
    const pigment_facets_request* const given = &request;
    const Outcome outcome = Try(pigment_collection_facets, docs_.get(), given, kNoOptions, &raw);
    pigment_buffer_free(raw);
    return outcome;
  }
  Outcome Ranked(const std::string& words) {
    const abi_test::Texts queries{words};
    pigment_text_search_request request;
    pigment_text_search_request_init(&request);
    request.queries_count = queries.size();
    request.queries = queries.column();
    pigment_result* raw = nullptr;
    const pigment_text_search_request* const given = &request;
    const Outcome outcome =
        Try(pigment_collection_search_text, docs_.get(), given, kNoOptions, &raw);
    pigment_result_free(raw);
    return outcome;
  }
  Outcome Queried(uint64_t dimension, int32_t threads, int64_t n_results = 1) {
    const std::vector<float> vector(dimension);
    auto request = abi_test::QueryFor(vector, dimension, n_results);
    request.threads = threads;
    abi_test::ResultHandle result;
    return abi_test::Query(docs_.get(), request, &result);
  }

  abi_test::Client client_;
  abi_test::Collection docs_;
};

Outcome RankedInAHost(const std::string& words) {
  pigment_text_analyzer* analyzer = nullptr;
  const char* const no_settings = nullptr;
  EXPECT_TRUE(Try(pigment_text_analyzer_new, no_settings, size_t{0}, &analyzer).ok());
  auto options = Sized<pigment_text_query_options>();
  options.words = words.data();
  options.words_size = words.size();
  options.k1 = 1.2;
  options.b = 0.75;
  pigment_text_query* query = nullptr;
  const pigment_text_query_options* const given = &options;
  const Outcome outcome = Try(pigment_text_query_new, analyzer, given, &query);
  pigment_text_query_free(query);
  pigment_text_analyzer_free(analyzer);
  return outcome;
}

Outcome OpenedWith(uint64_t background_threads) {
  auto options = Sized<pigment_open_options>();
  options.background_threads = static_cast<int32_t>(background_threads);
  pigment_client* raw = nullptr;
  const pigment_open_options* const given = &options;
  const char* const in_memory = nullptr;
  const Outcome outcome = Try(pigment_client_open, in_memory, size_t{0}, given, &raw);
  pigment_client_free(raw);
  return outcome;
}

std::string StopWords(const std::string& list) {
  return R"({"text_index":{"analyzer":{"stop_words":[)" + list + "]}}}";
}

std::string Word(uint64_t i) { return "w" + std::to_string(i); }
std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

TEST_F(LimitsAbi, HoldToTheNumber) {
  int made = 0;
  const auto new_name = [&] { return "made" + std::to_string(made++); };
  const std::map<std::string, std::function<Outcome(uint64_t)>> calls = {
      // with so much of it
      {"filter_bytes", [&](uint64_t n) { return CountWhere(Padded(R"({"n":1})", n)); }},
      {"filter_values",
       // An object, a key's object and the list come besides.
       [&](uint64_t n) {
         return CountWhere(R"({"n":{"$in":[)" + Joined(n - 3, [](uint64_t) { return "1"; }) +
                           "]}}");
       }},
      {"filter_regexes",
       [&](uint64_t n) {
         return CountWhere(
             R"({"$or":[)" +
             Joined(n,
                    [](uint64_t i) { return R"({"#document":{"$regex":")" + Word(i) + "\"}}"; }) +
             "]}");
       }},
      {"regex_bytes", [&](uint64_t n) { return WithRegex(std::string(n, 'a')); }},
      {"order_bytes", [&](uint64_t n) { return Ordered(Padded(R"([{"key":"n"}])", n)); }},
      {"order_keys",
       [&](uint64_t n) {
         return Ordered(
             "[" + Joined(n, [](uint64_t i) { return R"({"key":")" + Word(i) + "\"}"; }) + "]");
       }},
      {"facet_keys", [&](uint64_t n) { return Faceted(n); }},
      {"text_query_words", [&](uint64_t n) { return Ranked(Joined(n, Word, " ")); }},
      {"host_query_words", [&](uint64_t n) { return RankedInAHost(Joined(n, Word, " ")); }},
      {"stop_words",
       [&](uint64_t n) {
         return Make(new_name(), StopWords(Joined(n, [](uint64_t i) { return Quoted(Word(i)); })));
       }},
      {"stop_word_bytes",
       [&](uint64_t n) { return Make(new_name(), StopWords(Quoted(std::string(n, 'x')))); }},
      {"query_threads", [&](uint64_t n) { return Queried(1, static_cast<int32_t>(n)); }},
      {"background_threads", OpenedWith},
      {"dimension",
       [&](uint64_t n) {
         if (const Outcome outcome = Make(new_name(), "{}"); !outcome.ok()) return outcome;
         abi_test::Batch batch;
         batch.ids.Add("a");
         batch.values.assign(n, 1);
         batch.dimension = n;
         const Outcome outcome = abi_test::Write(pigment_collection_add, docs_.get(), batch);
         return outcome.ok() ? Queried(n, 1) : outcome;
       }},
      {"collection_name_bytes", [&](uint64_t n) { return Make(std::string(n, 'a'), "{}"); }},
  };
  // These have tests of their own: below, and of what is too large for this one in the engine's.
  std::set<std::string> others = {"regex_memory_bytes", "n_results",   "json_bytes",
                                  "json_values",        "batch_bytes", "metadata_path_bytes"};
  for (const Json& limit : Limits()) {
    const auto name = limit.at("name").get<std::string>();
    SCOPED_TRACE(name);
    if (others.erase(name) != 0) continue;
    ASSERT_TRUE(calls.contains(name)) << "no call reaches this limit";
    const auto most = limit.at("most").get<uint64_t>();
    ASSERT_TRUE(Make(new_name(), R"({"text_index":{}})").ok());
    const Outcome at = calls.at(name)(most);
    EXPECT_TRUE(at.ok()) << at;
    ASSERT_TRUE(Make(new_name(), R"({"text_index":{}})").ok());
    const Outcome beyond = calls.at(name)(most + 1);
    EXPECT_EQ(beyond.status, limit.at("status") == "RESOURCE_EXHAUSTED" ? PIGMENT_RESOURCE_EXHAUSTED
                                                                        : PIGMENT_INVALID_ARGUMENT)
        << beyond;
    if (beyond.status == PIGMENT_RESOURCE_EXHAUSTED) {
      EXPECT_EQ(beyond.detail, PIGMENT_DETAIL_LIMIT) << beyond;
    }
    ExpectNamed(beyond, name);
  }
  EXPECT_TRUE(others.empty()) << *others.begin() << " is no limit";
}

TEST_F(LimitsAbi, ARegexBeyondItsMemorySaysSo) {
  const auto repeated = [&](int times) { return WithRegex("\\pL{" + std::to_string(times) + "}"); };
  EXPECT_TRUE(repeated(10).ok());
  const Outcome beyond = repeated(1000);
  EXPECT_EQ(beyond.status, PIGMENT_RESOURCE_EXHAUSTED) << beyond;
  EXPECT_EQ(beyond.detail, PIGMENT_DETAIL_LIMIT) << beyond;
  ExpectNamed(beyond, "regex_memory_bytes");
  // What RE2 has no number for.
  EXPECT_TRUE(WithRegex("a{1000}").ok());
  const Outcome invalid = WithRegex("a{1001}");
  EXPECT_EQ(invalid.status, PIGMENT_INVALID_ARGUMENT) << invalid;
  EXPECT_EQ(invalid.detail, PIGMENT_DETAIL_FILTER) << invalid;
}

TEST_F(LimitsAbi, NumbersGoAsFarAsTheirType) {
  constexpr int64_t kMost = INT64_MAX;
  ASSERT_EQ(LimitOf("n_results"), static_cast<uint64_t>(kMost));
  EXPECT_TRUE(Queried(1, 1, kMost).ok());
  for (const int64_t less : {int64_t{0}, int64_t{-1}, INT64_MIN})
    EXPECT_EQ(Queried(1, 1, less).status, PIGMENT_INVALID_ARGUMENT) << less;
  const std::string order = R"([{"key":"n"}])";
  for (const bool is_ordered : {false, true}) {
    const auto got = [&](int64_t limit, int64_t offset, uint64_t* rows) {
      auto request = Sized<pigment_get_request>();
      request.has_limit = true;
      request.limit = limit;
      request.offset = offset;
      if (is_ordered) {
        request.order_by_json = order.data();
        request.order_by_json_size = order.size();
      }
      abi_test::ResultHandle result;
      const Outcome outcome = abi_test::Get(docs_.get(), request, &result);
      *rows = outcome.ok() ? pigment_result_row_count(result.get()) : 0;
      return outcome;
    };
    uint64_t rows = 0;
    EXPECT_TRUE(got(kMost, 1, &rows).ok());
    EXPECT_EQ(rows, 1u);
    EXPECT_TRUE(got(kMost, kMost, &rows).ok());
    EXPECT_EQ(rows, 0u);
    EXPECT_TRUE(got(0, 0, &rows).ok());
    EXPECT_EQ(rows, 0u);
    EXPECT_EQ(got(-1, 0, &rows).status, PIGMENT_INVALID_ARGUMENT);
    EXPECT_EQ(got(1, -1, &rows).status, PIGMENT_INVALID_ARGUMENT);
  }
}

TEST_F(LimitsAbi, JsonBeyondItsBytesIsNotReadAtAll) {
  const uint64_t most = LimitOf("json_bytes");
  const Zeros zeros(most + 1);
  ASSERT_NE(zeros.data(), nullptr);
  const Outcome at = Make("made", zeros.data(), most);
  EXPECT_EQ(at.status, PIGMENT_INVALID_ARGUMENT) << at;  // it is no JSON
  const Outcome beyond = Make("made", zeros.data(), most + 1);
  EXPECT_EQ(beyond.status, PIGMENT_RESOURCE_EXHAUSTED) << beyond;
  EXPECT_EQ(beyond.detail, PIGMENT_DETAIL_LIMIT) << beyond;
  ExpectNamed(beyond, "json_bytes");
}

TEST_F(LimitsAbi, ABatchBeyondItsBytesIsNotReadAtAll) {
  const uint64_t most = LimitOf("batch_bytes");
  const Zeros unreadable(most + (1 << 20), PROT_NONE);
  ASSERT_NE(unreadable.data(), nullptr);
  const auto added = [&](uint64_t document_bytes, size_t rows, size_t dimension) {
    abi_test::Texts ids;
    for (size_t row = 0; row < rows; ++row) ids.Add("new" + std::to_string(row));
    std::vector<int64_t> offsets(rows + 1, static_cast<int64_t>(document_bytes));
    offsets[0] = 0;
    pigment_records records{};
    records.struct_size = sizeof records;
    records.count = rows;
    records.ids = ids.column();
    records.embeddings.dtype = PIGMENT_F32;
    records.embeddings.data = unreadable.data();
    records.embeddings.rows = rows;
    records.embeddings.dimension = dimension;
    if (document_bytes != 0) {
      records.documents.offsets = offsets.data();
      records.documents.bytes = unreadable.data();
    }
    const pigment_records* const given = &records;
    return Try(pigment_collection_add, docs_.get(), given, kNoOptions,
               static_cast<pigment_write_result*>(nullptr));
  };
  ASSERT_TRUE(Make("wide", "{}").ok());
  const uint64_t wide = LimitOf("dimension");
  for (const Outcome& beyond :
       {added(most, 1, 1), added(0, most / wide / sizeof(float) + 1, wide)}) {
    EXPECT_EQ(beyond.status, PIGMENT_RESOURCE_EXHAUSTED) << beyond;
    EXPECT_EQ(beyond.detail, PIGMENT_DETAIL_LIMIT) << beyond;
    ExpectNamed(beyond, "batch_bytes");
  }
}

TEST_F(LimitsAbi, AreToldWithTheirCodes) {
  const Json limits = Limits();
  ASSERT_GE(limits.size(), 20u);
  std::ifstream page(PIGMENT_SOURCE_DIR "/docs/limits.md");
  const std::string text((std::istreambuf_iterator<char>(page)), std::istreambuf_iterator<char>());
  size_t rows = 0;
  for (size_t at = text.find("\n| `"); at != text.npos; at = text.find("\n| `", at + 1)) ++rows;
  EXPECT_EQ(rows, limits.size());
  for (const Json& limit : limits) {
    EXPECT_GT(limit.at("most"), 0) << limit;
    EXPECT_TRUE(limit.at("status") == "RESOURCE_EXHAUSTED" ||
                limit.at("status") == "INVALID_ARGUMENT")
        << limit;
    EXPECT_FALSE(limit.at("of").get<std::string>().empty());
    const std::string row = "| `" + limit.at("name").get<std::string>() + "` | " +
                            limit.at("most").dump() + " | " + limit.at("of").get<std::string>() +
                            " | `" + limit.at("status").get<std::string>() + "` |";
    EXPECT_NE(text.find(row), std::string::npos) << "docs/limits.md lacks " << row;
  }
}

}  // namespace
