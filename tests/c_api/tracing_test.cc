// SPDX-License-Identifier: Apache-2.0
//
// Spans through the C interface: well nested and balanced whatever the work comes to, their numbers
// those of `explain`, and none where nobody asks.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/json.h"
#include "tests/support/temporary_directory.h"

namespace {

using abi_test::kNoOptions;
using abi_test::Outcome;
using abi_test::ResultHandle;
using abi_test::Sized;
using abi_test::Try;

constexpr int32_t kAll = PIGMENT_SPAN_QUERY | PIGMENT_SPAN_SEGMENT | PIGMENT_SPAN_JOB;

struct Seen {
  uint64_t parent = 0;
  int32_t kind = 0;
  std::string name;
  std::string collection;
  std::thread::id thread;
  pigment_status status = -1;  // until it ends
  std::map<std::string, int64_t> numbers;
};

// What a program sees; a span that is not nested in the last one of its thread, or ends twice,
// fails the test.
class Recorder {
 public:
  pigment_tracing table(int32_t kinds = kAll) {
    auto table = Sized<pigment_tracing>();
    table.kinds = kinds;
    table.begin = [](void* self, uint64_t span, uint64_t parent, int32_t kind, const char* name,
                     const char* collection) {
      static_cast<Recorder*>(self)->Begin(
          span, {parent, kind, name, collection, std::this_thread::get_id(), -1, {}});
    };
    table.end = [](void* self, uint64_t span, pigment_status status, size_t count,
                   const char* const* keys, const int64_t* values) {
      std::map<std::string, int64_t> numbers;
      for (size_t i = 0; i < count; ++i)
        EXPECT_TRUE(numbers.emplace(keys[i], values[i]).second) << keys[i];
      static_cast<Recorder*>(self)->End(span, status, std::move(numbers));
    };
    table.user_data = this;
    return table;
  }

  // All spans since the last Take, which must have ended, in the order of their begins.
  std::vector<Seen> Take() {
    const std::lock_guard lock(mutex_);
    std::vector<Seen> taken;
    for (const auto& [thread, stack] : open_) EXPECT_TRUE(stack.empty());
    for (const uint64_t span : order_) taken.push_back(spans_.at(span));
    for (const Seen& seen : taken) EXPECT_NE(seen.status, -1) << seen.name << " has no end";
    order_.clear();
    spans_.clear();
    return taken;
  }
  uint64_t calls() const { return calls_; }

  std::string cancel_at;  // the name of a span at whose begin `cancel` is set
  pigment_cancel* cancel = nullptr;

 private:
  void Begin(uint64_t span, Seen seen) {
    const std::lock_guard lock(mutex_);
    ++calls_;
    if (seen.name == cancel_at) pigment_cancel_set(cancel);
    EXPECT_NE(span, 0u);
    EXPECT_TRUE(ever_.insert(span).second) << "a number twice";
    open_[seen.thread].push_back(span);
    order_.push_back(span);
    spans_.emplace(span, std::move(seen));
  }
  void End(uint64_t span, pigment_status status, std::map<std::string, int64_t> numbers) {
    const std::lock_guard lock(mutex_);
    ++calls_;
    std::vector<uint64_t>& stack = open_[std::this_thread::get_id()];
    ASSERT_FALSE(stack.empty());
    EXPECT_EQ(stack.back(), span) << "spans of a thread cross";
    stack.pop_back();
    spans_.at(span).status = status;
    spans_.at(span).numbers = std::move(numbers);
  }

  std::mutex mutex_;
  uint64_t calls_ = 0;
  std::set<uint64_t> ever_;
  std::vector<uint64_t> order_;
  std::map<uint64_t, Seen> spans_;
  std::map<std::thread::id, std::vector<uint64_t>> open_;
};

std::vector<std::string> NamesOf(const std::vector<Seen>& spans) {
  std::vector<std::string> names;
  for (const Seen& span : spans) names.push_back(span.name);
  return names;
}

class TracingAbi : public testing::Test {
 protected:
  // Two segments of 100 and 50 rows, and 30 rows in the tail.
  void OpenWith(const pigment_tracing* tracing) {
    auto options = Sized<pigment_open_options>();
    options.background_threads = -1;
    ASSERT_TRUE(abi_test::OpenTraced(folder_ / "db", tracing, &client_, &options).ok());
    auto made = Sized<pigment_collection_options>();
    const std::string_view configuration = R"({"text_index": {}})";
    made.configuration_json = configuration.data();
    made.configuration_json_size = configuration.size();
    ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &docs_, &made).ok());
    Add(0, 100);
    ASSERT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
    Add(100, 150);
    ASSERT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
    Add(150, 180);
  }
  void Add(int begin, int end) {
    abi_test::Batch batch;
    batch.documents.emplace();
    batch.metadatas.emplace();
    for (int i = begin; i < end; ++i) {
      batch.ids.Add("id" + std::to_string(i));
      const auto x = static_cast<float>(i);
      batch.values.insert(batch.values.end(), {x, std::sin(x), 1.0f});
      batch.documents->Add(i % 3 == 0 ? "a fox that is quick" : "some dog");
      batch.metadatas->Add(R"({"n":)" + std::to_string(i) + "}");
    }
    batch.dimension = 3;
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
  }
  nlohmann::json Explain(const ResultHandle& result) {
    size_t size = 0;
    const char* text = pigment_result_explain(result.get(), &size);
    return nlohmann::json::parse(text, text + size);
  }
  Outcome Filtered(ResultHandle* result, const pigment_call_options* options = nullptr) {
    pigment_query_request request = abi_test::QueryFor(vector_, 3, 5);
    static constexpr std::string_view kWhere =
        R"({"$and": [{"n": {"$gte": 20}}, {"#document": {"$regex": "f.x"}}]})";
    request.where_json = kWhere.data();
    request.where_json_size = kWhere.size();
    request.explain = true;
    return abi_test::Query(docs_.get(), request, result, options);
  }

  const std::vector<float> vector_ = {40, 0.5f, 1};
  pigment::TemporaryDirectory folder_;
  Recorder recorder_;
  abi_test::Client client_;
  abi_test::Collection docs_;
};

TEST_F(TracingAbi, NumbersOfAQueryAreThoseOfExplain) {
  const pigment_tracing table = recorder_.table();
  OpenWith(&table);
  recorder_.Take();
  ResultHandle result;
  ASSERT_TRUE(Filtered(&result).ok());
  const nlohmann::json explained = Explain(result);
  std::vector<Seen> spans = recorder_.Take();
  ASSERT_FALSE(spans.empty());
  const Seen query = spans.front();
  EXPECT_EQ(query.name, "query");
  EXPECT_EQ(query.kind, PIGMENT_SPAN_QUERY);
  EXPECT_EQ(query.collection.size(), 36u);
  EXPECT_EQ(query.status, PIGMENT_OK);
  EXPECT_EQ(query.numbers.at("rows"), 5);
  for (const std::string side : {"segment", "tail"}) {
    const nlohmann::json& counted = explained.at(side == "segment" ? "segments" : "tail");
    EXPECT_EQ(query.numbers.at(side + "_rows_filtered"), counted.at("rows_filtered"));
    EXPECT_EQ(query.numbers.at(side + "_rows_scored"), counted.at("rows_scored"));
    EXPECT_EQ(query.numbers.at(side + "_bytes"), counted.at("bytes"));
    EXPECT_GT(query.numbers.at(side + "_rows_scored"), 0);
  }
  EXPECT_EQ(query.numbers.at("posting_lists_read"), explained.at("posting_lists_read"));
  EXPECT_GT(query.numbers.at("posting_lists_read"), 0);

  std::map<std::string, int64_t> scored, filtered;
  int64_t lists = 0;
  std::multiset<std::string> names;
  for (size_t i = 1; i < spans.size(); ++i) {
    const Seen& span = spans[i];
    EXPECT_EQ(span.kind, PIGMENT_SPAN_SEGMENT);
    EXPECT_EQ(span.status, PIGMENT_OK);
    EXPECT_EQ(span.collection, query.collection);
    EXPECT_NE(span.parent, 0u);
    EXPECT_EQ(span.parent, spans[1].parent);
    const std::string side = span.name.ends_with("_tail") ? "tail" : "segment";
    EXPECT_EQ(span.numbers.at("segment") == 0, side == "tail");
    EXPECT_EQ(span.numbers.at("rows") == 30, side == "tail");
    scored[side] += span.numbers.at("rows_scored");
    filtered[side] += span.numbers.at("rows_filtered");
    lists += span.numbers.at("posting_lists_read");
    names.insert(span.name);
  }
  for (const std::string side : {"segment", "tail"}) {
    EXPECT_EQ(scored[side], query.numbers.at(side + "_rows_scored"));
    EXPECT_EQ(filtered[side], query.numbers.at(side + "_rows_filtered"));
  }
  EXPECT_EQ(lists, query.numbers.at("posting_lists_read"));
  EXPECT_EQ(names.count("plan_segment"), 2u);
  EXPECT_EQ(names.count("search_segment"), 2u);
  EXPECT_EQ(names.count("search_tail"), 1u);
  EXPECT_EQ(names.count("filter_tail"), 1u);
}

TEST_F(TracingAbi, EveryKindOfReadIsTold) {
  const pigment_tracing table = recorder_.table(PIGMENT_SPAN_QUERY);
  OpenWith(&table);
  EXPECT_TRUE(recorder_.Take().empty());
  ResultHandle result;
  ASSERT_TRUE(Filtered(&result).ok());
  auto get = Sized<pigment_get_request>();
  ASSERT_TRUE(abi_test::Get(docs_.get(), get, &result).ok());
  auto count = Sized<pigment_count_request>();
  const std::string_view where = R"({"n": {"$lt": 7}})";
  count.where_json = where.data();
  count.where_json_size = where.size();
  uint64_t rows = 0;
  ASSERT_TRUE(Try(pigment_collection_count_where, docs_.get(), &count, kNoOptions, &rows).ok());
  EXPECT_EQ(rows, 7u);
  const abi_test::Texts words{"fox"};
  pigment_text_search_request search;
  pigment_text_search_request_init(&search);
  search.queries_count = 1;
  search.queries = words.column();
  pigment_result* found = nullptr;
  ASSERT_TRUE(Try(pigment_collection_search_text, docs_.get(), &search, kNoOptions, &found).ok());
  result.reset(found);
  auto facets = Sized<pigment_facets_request>();
  const abi_test::Texts keys{"n"};
  facets.keys_count = 1;
  facets.keys = keys.column();
  pigment_buffer* json = nullptr;
  ASSERT_TRUE(Try(pigment_collection_facets, docs_.get(), &facets, kNoOptions, &json).ok());
  const abi_test::Buffer owned(json);
  const std::vector<Seen> spans = recorder_.Take();
  EXPECT_EQ(NamesOf(spans),
            (std::vector<std::string>{"query", "get", "count", "search_text", "facets"}));
  EXPECT_EQ(spans[1].numbers.at("rows"), 180);
  EXPECT_EQ(spans[2].numbers.at("rows"), 7);
  for (const Seen& span : spans) {
    EXPECT_EQ(span.status, PIGMENT_OK) << span.name;
    EXPECT_EQ(span.parent, 0u);
  }
}

TEST_F(TracingAbi, SegmentsAloneHaveNoParent) {
  const pigment_tracing table = recorder_.table(PIGMENT_SPAN_SEGMENT);
  OpenWith(&table);
  ResultHandle result;
  ASSERT_TRUE(Filtered(&result).ok());
  const std::vector<Seen> spans = recorder_.Take();
  EXPECT_GE(spans.size(), 6u);
  for (const Seen& span : spans) EXPECT_EQ(span.parent, 0u) << span.name;
}

TEST_F(TracingAbi, SpansEndWhenTheWorkIsCancelled) {
  const pigment_tracing table = recorder_.table();
  OpenWith(&table);
  for (const std::string at : {"query", "plan_segment", "search_segment", "search_tail"}) {
    recorder_.Take();
    pigment_cancel* cancel = nullptr;
    ASSERT_TRUE(Try(pigment_cancel_new, &cancel).ok());
    const abi_test::Cancel owned(cancel);
    auto options = Sized<pigment_call_options>();
    options.cancel = cancel;
    recorder_.cancel_at = at;
    recorder_.cancel = cancel;
    ResultHandle result;
    EXPECT_EQ(Filtered(&result, &options).status, PIGMENT_CANCELLED) << at;
    recorder_.cancel_at.clear();
    const std::vector<Seen> spans = recorder_.Take();
    ASSERT_FALSE(spans.empty());
    EXPECT_EQ(spans.front().name, "query");
    EXPECT_EQ(spans.front().status, PIGMENT_CANCELLED);
    if (at == "search_segment") {
      EXPECT_EQ(spans.back().status, PIGMENT_CANCELLED);
    }
    EXPECT_EQ(spans.back().name, at);
  }
}

TEST_F(TracingAbi, FailuresEndTheirSpans) {
  const pigment_tracing table = recorder_.table();
  OpenWith(&table);
  recorder_.Take();
  auto facets = Sized<pigment_facets_request>();
  const abi_test::Texts keys{"n", "n"};
  facets.keys_count = 2;
  facets.keys = keys.column();
  pigment_buffer* json = nullptr;
  EXPECT_EQ(Try(pigment_collection_facets, docs_.get(), &facets, kNoOptions, &json).status,
            PIGMENT_INVALID_ARGUMENT);
  std::vector<Seen> spans = recorder_.Take();
  ASSERT_EQ(NamesOf(spans), (std::vector<std::string>{"facets"}));
  EXPECT_EQ(spans[0].status, PIGMENT_INVALID_ARGUMENT);

  const std::string taken = folder_ / "db";
  EXPECT_FALSE(
      Try(pigment_client_backup, client_.get(), taken.data(), taken.size(), kNoOptions, &json)
          .ok());
  spans = recorder_.Take();
  ASSERT_EQ(NamesOf(spans), (std::vector<std::string>{"backup"}));
  EXPECT_NE(spans[0].status, PIGMENT_OK);
  EXPECT_EQ(spans[0].collection, "");
}

TEST_F(TracingAbi, JobsAreTold) {
  const pigment_tracing table = recorder_.table(PIGMENT_SPAN_JOB);
  OpenWith(&table);
  std::vector<Seen> spans = recorder_.Take();
  ASSERT_EQ(NamesOf(spans), (std::vector<std::string>{"flush", "flush"}));
  EXPECT_EQ(spans[0].numbers.at("rows"), 100);
  EXPECT_GT(spans[0].numbers.at("bytes"), 0);
  auto compacted = Sized<pigment_compaction>();
  ASSERT_TRUE(Try(pigment_collection_compact, docs_.get(), kNoOptions, &compacted).ok());
  spans = recorder_.Take();
  ASSERT_EQ(NamesOf(spans), (std::vector<std::string>{"compaction"}));
  EXPECT_EQ(spans[0].numbers.at("rows"), 180);
  EXPECT_EQ(spans[0].numbers.at("segments"), static_cast<int64_t>(compacted.segments_in));
  EXPECT_EQ(spans[0].numbers.at("bytes_after"), static_cast<int64_t>(compacted.bytes_after));

  const std::string copy = folder_ / "copy";
  pigment_buffer* json = nullptr;
  ASSERT_TRUE(
      Try(pigment_client_backup, client_.get(), copy.data(), copy.size(), kNoOptions, &json).ok());
  const abi_test::Buffer summary(json);
  for (int i = 0; i < 12; ++i) {
    Add(200 + 20 * i, 220 + 20 * i);
    ASSERT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
  }
  docs_.reset();
  ASSERT_TRUE(Try(pigment_client_close, client_.get()).ok());
  spans = recorder_.Take();
  std::map<std::string, int> jobs;
  for (const Seen& span : spans) {
    EXPECT_EQ(span.status, PIGMENT_OK) << span.name;
    EXPECT_EQ(span.kind, PIGMENT_SPAN_JOB);
    ++jobs[span.name];
  }
  EXPECT_EQ(spans.front().name, "backup");
  EXPECT_EQ(spans.front().numbers.at("bytes"),
            nlohmann::json::parse(abi_test::Text(json)).at("bytes"));
  EXPECT_EQ(jobs["flush"], 12);
  EXPECT_GE(jobs["merge"], 1);
  EXPECT_EQ(spans.back().name, "close");
}

// Queries of one call on several threads: each thread's spans nest, all have one parent.
TEST_F(TracingAbi, ThreadsOfOneCallShareItsSpan) {
  const pigment_tracing table = recorder_.table(PIGMENT_SPAN_QUERY | PIGMENT_SPAN_SEGMENT);
  OpenWith(&table);
  recorder_.Take();
  std::vector<float> many;
  for (int i = 0; i < 64; ++i) many.insert(many.end(), {static_cast<float>(i), 0.5f, 1});
  pigment_query_request request = abi_test::QueryFor(many, 3, 5);
  request.threads = 4;
  request.explain = true;
  ResultHandle result;
  ASSERT_TRUE(abi_test::Query(docs_.get(), request, &result).ok());
  const std::vector<Seen> spans = recorder_.Take();
  ASSERT_GT(spans.size(), 4u);
  int64_t scored = 0;
  for (size_t i = 1; i < spans.size(); ++i) {
    EXPECT_EQ(spans[i].parent, spans[1].parent);
    if (spans[i].name == "search_segment") scored += spans[i].numbers.at("rows_scored");
  }
  EXPECT_EQ(scored, Explain(result).at("segments").at("rows_scored"));
}

// While a span begins or ends, another thread reads and writes: it would wait for ever for a mutex
// that the one that tells has.
TEST_F(TracingAbi, NoMutexIsHeldWhereItTells) {
  struct Watched {
    std::atomic<pigment_collection*> docs = nullptr;
    std::atomic<int> told = 0;
    std::atomic<int> next = 0;
    std::atomic<bool> is_inside = false;  // the other thread's own spans are passed over

    void Tell() {
      pigment_collection* const collection = docs;
      if (collection == nullptr || is_inside.exchange(true)) return;
      auto work = std::async(std::launch::async, [&] {
        uint64_t count = 0;
        EXPECT_TRUE(abi_test::Count(collection, &count).ok());
        abi_test::Batch batch;
        batch.ids.Add("told" + std::to_string(next++));
        batch.values.assign(3, 1.0f);
        batch.dimension = 3;
        EXPECT_TRUE(abi_test::Write(pigment_collection_upsert, collection, batch).ok());
      });
      if (work.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
        std::fputs("a mutex is held where a span is told\n", stderr);
        std::abort();  // nothing here would ever end
      }
      ++told;
      is_inside = false;
    }
  } watched;
  auto table = Sized<pigment_tracing>();
  table.kinds = kAll;
  table.begin = [](void* self, uint64_t, uint64_t, int32_t, const char*, const char*) {
    static_cast<Watched*>(self)->Tell();
  };
  table.end = [](void* self, uint64_t, pigment_status, size_t, const char* const*, const int64_t*) {
    static_cast<Watched*>(self)->Tell();
  };
  table.user_data = &watched;
  OpenWith(&table);
  watched.docs = docs_.get();
  ResultHandle result;
  EXPECT_TRUE(Filtered(&result, kNoOptions).ok());
  EXPECT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
  EXPECT_TRUE(Try(pigment_collection_compact, docs_.get(), kNoOptions,
                  static_cast<pigment_compaction*>(nullptr))
                  .ok());
  const std::string copy = folder_ / "copy";
  EXPECT_TRUE(Try(pigment_client_backup, client_.get(), copy.data(), copy.size(), kNoOptions,
                  static_cast<pigment_buffer**>(nullptr))
                  .ok());
  watched.docs = nullptr;
  docs_.reset();
  client_.reset();  // what it tells when it closes is told to the watched, too
  EXPECT_GE(watched.told, 8);
}

TEST_F(TracingAbi, OffMakesNoCall) {
  const pigment_tracing table = recorder_.table(0);
  OpenWith(&table);
  ResultHandle result;
  ASSERT_TRUE(Filtered(&result).ok());
  ASSERT_TRUE(Try(pigment_client_compact, client_.get(), kNoOptions,
                  static_cast<pigment_compaction*>(nullptr))
                  .ok());
  docs_.reset();
  ASSERT_TRUE(Try(pigment_client_close, client_.get()).ok());
  EXPECT_EQ(recorder_.calls(), 0u);
}

TEST_F(TracingAbi, ATableIsChecked) {
  const auto refused = [this](const pigment_tracing& table) {
    abi_test::Client client;
    const Outcome outcome = abi_test::OpenTraced(folder_ / "db", &table, &client);
    EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT);
    return outcome.message;
  };
  pigment_tracing table = recorder_.table();
  table.kinds = 9;
  EXPECT_EQ(refused(table), "argument tracing.kinds is 9, which has unknown bits");
  table = recorder_.table();
  table.begin = nullptr;
  EXPECT_NE(refused(table).find("tracing.begin"), std::string::npos);
  table = recorder_.table();
  table.end = nullptr;
  EXPECT_NE(refused(table).find("tracing.end"), std::string::npos);
  table = recorder_.table();
  table.struct_size = 3;
  EXPECT_NE(refused(table).find("tracing"), std::string::npos);
}

TEST_F(TracingAbi, OpensOfOneStoreAgree) {
  const pigment_tracing table = recorder_.table();
  OpenWith(&table);
  auto options = Sized<pigment_open_options>();
  options.background_threads = -1;
  abi_test::Client again;
  EXPECT_TRUE(abi_test::OpenTraced(folder_ / "db", &table, &again, &options).ok());
  again.reset();
  pigment_tracing other = recorder_.table(PIGMENT_SPAN_JOB);
  for (const pigment_tracing* one :
       {static_cast<const pigment_tracing*>(nullptr), &std::as_const(other)}) {
    const Outcome outcome = abi_test::OpenTraced(folder_ / "db", one, &again, &options);
    EXPECT_EQ(outcome.status, PIGMENT_FAILED_PRECONDITION) << outcome;
    EXPECT_NE(outcome.message.find("with tracing on, got "), std::string::npos) << outcome;
  }
}

}  // namespace
