// SPDX-License-Identifier: Apache-2.0
//
// Conditions on documents over stores whose documents are indexed, against looking at every record:
// gets whole and in parts, queries, alone and joined with metadata.

#include "engine/query/document_scan.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>

#include "engine/query/search.h"
#include "tests/support/json.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

using nlohmann::json;

struct PlainRecord {
  std::string id;
  int64_t number;
  std::optional<std::string> document;
};

std::string RandomDocument(std::mt19937_64& random, size_t words_max) {
  static constexpr const char* kWords[] = {"index ",
                                           "Index ",
                                           "segment",
                                           "the",
                                           "KERNEL",
                                           "漢字",
                                           "ein Ä ",
                                           "\n",
                                           ". ",
                                           "fd ",
                                           "x",
                                           "\xE2\x84\xAA"
                                           "el "};
  std::string text;
  for (uint64_t words = random() % words_max; words > 0; --words) {
    text += kWords[random() % 12];
    if (random() % 3 == 0) text += std::to_string(random() % 300);
  }
  return text;
}

class Library {
 public:
  Library(uint64_t seed, size_t rows, size_t words_max) : random_(seed), words_max_(words_max) {
    store_ = Store::Open(std::nullopt, {}).value();
    collection_ = store_->CreateCollection(EntryNamed("docs")).value();
    Add(rows);
    EXPECT_OK(store_->Compact());
    Add(rows / 2);
    EXPECT_OK(store_->Flush());
    Add(rows / 20);
    Delete();
  }

  const std::vector<PlainRecord>& records() const { return records_; }
  std::shared_ptr<const Version> Pin() const { return collection_->Pin().value(); }

 private:
  void Add(size_t rows) {
    for (; rows > 0; rows -= std::min<size_t>(rows, 500)) {
      WriteBatch batch;
      batch.kind = WriteKind::kAdd;
      batch.dimension = 1;
      for (size_t i = 0; i < std::min<size_t>(rows, 500); ++i) {
        PlainRecord record{"r" + std::to_string(records_.size()),
                           static_cast<int64_t>(random_() % 100), std::nullopt};
        if (random_() % 15 != 0) record.document = RandomDocument(random_, words_max_);
        if (random_() % 3000 == 0) record.document = std::string(100000, 'y') + "index";
        batch.ids.push_back(record.id);
        batch.embeddings.push_back(static_cast<float>(random_() % 100));
        batch.documents.push_back(record.document);
        batch.uris.push_back(std::nullopt);
        batch.metadatas.push_back(Metadata{{"number", record.number}});
        records_.push_back(std::move(record));
      }
      EXPECT_OK(collection_->Write(std::move(batch)));
    }
  }
  void Delete() {
    WriteBatch batch;
    batch.kind = WriteKind::kDelete;
    std::erase_if(records_, [&](const PlainRecord& record) {
      if (random_() % 10 != 0) return false;
      batch.ids.push_back(record.id);
      return true;
    });
    EXPECT_OK(collection_->Write(std::move(batch)));
  }

  std::mt19937_64 random_;
  size_t words_max_;
  std::shared_ptr<Store> store_;
  std::shared_ptr<Collection> collection_;
  std::vector<PlainRecord> records_;
};

// A condition on a record's document, or on its number.
json RandomLeaf(std::mt19937_64& random) {
  static const std::vector<std::string> kTexts = {
      "index 1", "Index", "segment", "nothing", "x",   "fd",     "1",    "漢",
      "\n",      "Ä",     "29",      "xx",      "el ", "yindex", "ntthe"};
  static const std::vector<std::string> kPatterns = {
      "ind.x",  "(?i)INDEX", "(?i)kernel",    "(?i)kel",        "^index",
      "x$",     "^$",        "fd [0-9]+",     "segment|KERNEL", ".",
      "\\d{4}", "[^a-z]Ä",   "(the|ein).*fd", "no such text",   "(?s)index.*segment.*the",
      "\\pL漢", "(?m)^the"};
  switch (random() % 6) {
    case 0:
    case 1:
      return {{"#document",
               {{random() % 3 != 0 ? "$contains" : "$not_contains",
                 kTexts[random() % kTexts.size()]}}}};
    case 2:
    case 3:
      return {{"#document",
               {{random() % 3 != 0 ? "$regex" : "$not_regex",
                 kPatterns[random() % kPatterns.size()]}}}};
    case 4:
      if (random() % 4 == 0) return {{"#document", {{"$exists", random() % 2 == 0}}}};
      return {{"#document", {{"$icontains", random() % 2 == 0 ? "KERNEL1" : "INDEX 2"}}}};
    default:
      return {{"number", {{random() % 2 == 0 ? "$lt" : "$gte", random() % 100}}}};
  }
}

json RandomWhere(std::mt19937_64& random, int depth) {
  if (depth == 0 || random() % 3 == 0) return RandomLeaf(random);
  json clauses = json::array();
  for (uint64_t i = 1 + random() % 3; i > 0; --i) clauses.push_back(RandomWhere(random, depth - 1));
  return {{random() % 3 != 0 ? "$and" : "$or", clauses}};
}

const re2::RE2& Compiled(const std::string& pattern) {
  static std::map<std::string, std::unique_ptr<re2::RE2>> known;
  std::unique_ptr<re2::RE2>& regex = known[pattern];
  if (regex == nullptr) regex = std::make_unique<re2::RE2>(pattern);
  return *regex;
}

bool Matches(const json& where, const PlainRecord& record) {
  const auto clause = where.begin();
  const std::string& key = clause.key();
  const json& value = clause.value();
  if (key == "$and")
    return std::all_of(value.begin(), value.end(),
                       [&](const json& w) { return Matches(w, record); });
  if (key == "$or")
    return std::any_of(value.begin(), value.end(),
                       [&](const json& w) { return Matches(w, record); });
  const auto condition = value.begin();
  const std::string& op = condition.key();
  const json& operand = condition.value();
  if (op == "$exists") return record.document.has_value() == operand.get<bool>();
  if (op == "$icontains")
    return record.document &&
           re2::RE2::PartialMatch(*record.document, Compiled("(?i)" + operand.get<std::string>()));
  if (op == "$lt") return record.number < operand.get<int64_t>();
  if (op == "$gte") return record.number >= operand.get<int64_t>();
  const std::string text = operand.get<std::string>();
  const bool is_negated = op.starts_with("$not");
  if (!record.document) return is_negated;
  const bool holds = op.ends_with("contains")
                         ? record.document->find(text) != std::string::npos
                         : re2::RE2::PartialMatch(*record.document, Compiled(text));
  return holds != is_negated;
}

// Short documents, which are stored as they are, and long ones, which are compressed.
TEST(DocumentScan, StoresAnswerAsLookingAtEveryRecordDoes) {
  uint64_t lists = 0, looked_at = 0, matched = 0, records = 0;
  struct Case {
    uint64_t seed;
    size_t rows;
    size_t words_max;
    int filters;
  };
  for (const auto& [seed, rows, words_max, filters] : {Case{1, 3000, 40, 200}, {2, 500, 700, 60}}) {
    const Library library(seed, rows, words_max);
    const auto version = library.Pin();
    ASSERT_GE(version->segments.size(), 2u);
    ASSERT_NE(version->segments[0].segment->NewCellReader(), nullptr);
    std::mt19937_64 random(seed);
    for (int i = 0; i < filters; ++i) {
      const json where = RandomWhere(random, static_cast<int>(random() % 3));
      SCOPED_TRACE(::testing::Message()
                   << "seed " << seed << " filter " << i << " " << where.dump());
      auto filter = Filter::Parse(where.dump(), std::nullopt);
      ASSERT_OK(filter);
      std::vector<std::string> expected;
      for (const PlainRecord& record : library.records())
        if (Matches(where, record)) expected.push_back(record.id);

      GetRequest get;
      get.read.filter = *filter;
      get.read.explain = true;
      auto got = Get(*version, get);
      ASSERT_OK(got);
      ASSERT_EQ(IdsOf(got->ids), expected);
      const json explained = json::parse(got->explain_json);
      lists += explained["posting_lists_read"].get<uint64_t>();
      looked_at += explained["segments"]["rows_filtered"].get<uint64_t>();
      matched += expected.size();
      records += library.records().size();

      get.limit = random() % 20;
      get.offset = random() % 9;
      got = Get(*version, get);
      ASSERT_OK(got);
      std::vector<std::string> part(
          expected.begin() + std::min<size_t>(get.offset, expected.size()), expected.end());
      part.resize(std::min<size_t>(part.size(), *get.limit));
      ASSERT_EQ(IdsOf(got->ids), part);

      const std::vector<float> embedding = {50};
      QueryRequest query;
      query.read.filter = *filter;
      query.embeddings = embedding;
      query.queries = 1;
      query.dimension = 1;
      query.k = 10000;
      auto queried = Query(*version, query);
      ASSERT_OK(queried);
      std::vector<std::string> all = IdsOf(queried->ids);
      std::sort(all.begin(), all.end());
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(all, expected);
    }
  }
  EXPECT_GT(lists, 0u);
  EXPECT_GT(matched, records / 10);
  EXPECT_LT(matched, records * 9 / 10);
  EXPECT_LT(looked_at, records);
}

// Only what the rest of the filter leaves is looked at.
TEST(DocumentScan, LooksAtCandidatesAlone) {
  const Library library(3, 4000, 40);
  const auto version = library.Pin();
  const auto looked_at = [&](const std::string& where) {
    GetRequest get;
    get.read.filter = Filter::Parse(where, std::nullopt).value();
    get.read.explain = true;
    return json::parse(Get(*version, get)->explain_json)["segments"]["rows_filtered"]
        .get<uint64_t>();
  };
  EXPECT_EQ(looked_at(R"({"#document": {"$contains": "nothing of it"}})"), 0u);
  EXPECT_EQ(looked_at(R"({"#document": {"$not_contains": "nothing of it"}})"), 0u);
  EXPECT_EQ(looked_at(R"({"$and": [{"number": -1}, {"#document": {"$contains": "index"}}]})"), 0u);
  const uint64_t of_one = looked_at(R"({"#document": {"$contains": "index 17"}})");
  const uint64_t of_both =
      looked_at(R"({"$and": [{"number": 7}, {"#document": {"$contains": "index 17"}}]})");
  EXPECT_GT(of_one, 0u);
  EXPECT_LT(of_one, 5500u);  // of 6,000
  EXPECT_LT(of_both, of_one / 10);
}

}  // namespace
}  // namespace pigment
