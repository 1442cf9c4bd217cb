// SPDX-License-Identifier: Apache-2.0
//
// Filters over stores against the plain model, record by record: through inverted indexes, deleted
// rows and the tail, for gets, queries and lists of ids alike.

#include "engine/query/filter_rows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/query/search.h"
#include "tests/support/effort.h"
#include "tests/support/filter_model.h"
#include "tests/support/json.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

using nlohmann::json;

// A collection and what is in it.
class FilledCollection {
 public:
  FilledCollection(uint64_t seed, size_t rows, size_t rows_in_tail,
                   ModelShape shape = ModelShape::kFlat)
      : random_(seed), shape_(shape) {
    store_ = Store::Open(std::nullopt, {}).value();
    CollectionEntry entry = EntryNamed("docs");
    if (shape == ModelShape::kNested) entry.configuration_json = R"({"nested_metadata":true})";
    collection_ = store_->CreateCollection(entry).value();
    Add(rows - rows_in_tail);
    EXPECT_OK(store_->Compact());
    Add(rows_in_tail);
    Delete();
  }

  const std::vector<ModelRecord>& records() const { return records_; }  // by insertion
  std::shared_ptr<const Version> Pin() const { return collection_->Pin().value(); }

 private:
  void Add(size_t rows) {
    while (rows > 0) {
      WriteBatch batch;
      batch.kind = WriteKind::kAdd;
      batch.dimension = 1;
      for (size_t i = 0; i < std::min<size_t>(rows, 500); ++i) {
        ModelRecord record = RandomModelRecord(random_, shape_);
        record.id = "r" + std::to_string(records_.size());
        batch.ids.push_back(record.id);
        batch.embeddings.push_back(static_cast<float>(random_() % 100));
        batch.documents.push_back(record.document);
        batch.uris.push_back(record.uri);
        bool present = false;
        batch.metadatas.push_back(std::nullopt);
        if (!record.metadata.is_null())
          batch.metadatas.back() =
              ParseMetadataJson(
                  record.metadata.dump(), MetadataUse::kNewRecord, &present,
                  shape_ == ModelShape::kNested ? MetadataShape::kNested : MetadataShape::kFlat)
                  .value();
        records_.push_back(std::move(record));
      }
      rows -= batch.ids.size();
      EXPECT_OK(collection_->Write(std::move(batch)));
    }
  }
  void Delete() {
    WriteBatch batch;
    batch.kind = WriteKind::kDelete;
    std::erase_if(records_, [&](const ModelRecord& record) {
      if (random_() % 10 != 0) return false;
      batch.ids.push_back(record.id);
      return true;
    });
    EXPECT_OK(collection_->Write(std::move(batch)));
  }

  std::mt19937_64 random_;
  const ModelShape shape_;
  std::shared_ptr<Store> store_;
  std::shared_ptr<Collection> collection_;
  std::vector<ModelRecord> records_;
};

void ExpectAnswers(ModelShape shape) {
  uint64_t filters = 0, matched = 0, records = 0, lists = 0, looked_at = 0;
  for (const auto& [seed, rows, tail] :
       {std::tuple(1u, 900u, 100u), {2u, 70u, 0u}, {3u, 3000u, 30u}}) {
    const FilledCollection filled(seed, rows, tail, shape);
    const auto version = filled.Pin();
    std::mt19937_64 random(seed);
    for (int i = 0; i < Rounds(400); ++i) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << " filter " << i);
      const int depth = static_cast<int>(random() % 4);
      const json where = random() % 8 == 0 ? json() : RandomModelWhere(random, depth, shape);
      const json document = random() % 4 != 0 ? json() : RandomModelWhereDocument(random, depth);
      auto filter = Filter::Parse(where.dump(), document.dump());
      ASSERT_OK(filter);
      std::vector<std::string> expected;
      for (const ModelRecord& record : filled.records())
        if (ModelMatches(where, document, record)) expected.push_back(record.id);

      GetRequest get;
      get.read.filter = *filter;
      get.read.explain = true;
      auto got = Get(*version, get);
      ASSERT_OK(got);
      ASSERT_EQ(IdsOf(got->ids), expected) << where.dump() << " " << document.dump();
      const json explained = json::parse(got->explain_json);
      lists += explained["posting_lists_read"].get<uint64_t>();
      if (document.is_null() && where.dump().find("#document") == std::string::npos)
        looked_at += explained["segments"]["rows_filtered"].get<uint64_t>();

      get.limit = random() % 5;
      get.offset = random() % 3;
      got = Get(*version, get);
      ASSERT_OK(got);
      std::vector<std::string> part(
          expected.begin() + std::min<size_t>(get.offset, expected.size()), expected.end());
      part.resize(std::min<size_t>(part.size(), *get.limit));
      ASSERT_EQ(IdsOf(got->ids), part) << where.dump() << " " << document.dump();

      const std::vector<float> embedding = {50};
      QueryRequest query;
      query.read.filter = *filter;
      query.embeddings = embedding;
      query.queries = 1;
      query.dimension = 1;
      query.k = rows;
      auto queried = Query(*version, query);
      ASSERT_OK(queried);
      std::vector<std::string> all = IdsOf(queried->ids);
      std::sort(all.begin(), all.end());
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(all, expected) << where.dump() << " " << document.dump();
      ++filters;
      matched += expected.size();
      records += filled.records().size();
    }
  }
  EXPECT_EQ(filters, 3 * Rounds(400u));
  EXPECT_GT(matched, records / 4);
  EXPECT_LT(matched, records * 3 / 4);
  EXPECT_GT(lists, filters);
  // Conditions on metadata alone take no look at a record of a segment.
  EXPECT_EQ(looked_at, 0u);
}

TEST(FilterRows, StoresAnswerAsTheModelDoes) { ExpectAnswers(ModelShape::kFlat); }
TEST(FilterRows, StoresOfNestedMetadataAnswerAsTheModelDoes) { ExpectAnswers(ModelShape::kNested); }

// Groups so deep that their sets would take much memory are looked at row by row, and right.
TEST(FilterRows, DeepGroupsTakeLittleMemory) {
  constexpr int kLevels = 40000;
  const FilledCollection filled(4, 2000, 0);
  std::string where, end;
  for (int i = 0; i < kLevels; ++i) {
    where += i % 2 == 0 ? R"({"$or": [{"k": "no such text"}, )"
                        : R"({"$and": [{"k": {"$ne": "no such text"}}, )";
    end += "]}";
  }
  auto filter = Filter::Parse(where + R"({"k": {"$in": ["", "a", "b"]}})" + end, std::nullopt);
  ASSERT_OK(filter);
  std::vector<std::string> expected;
  for (const ModelRecord& record : filled.records())
    if (ModelMatches(json::parse(R"({"k": {"$in": ["", "a", "b"]}})"), json(), record))
      expected.push_back(record.id);
  ASSERT_FALSE(expected.empty());
  GetRequest get;
  get.read.filter = *filter;
  get.read.explain = true;
  auto got = Get(*filled.Pin(), get);
  ASSERT_OK(got);
  EXPECT_EQ(IdsOf(got->ids), expected);
  EXPECT_GT(json::parse(got->explain_json)["segments"]["rows_filtered"].get<uint64_t>(), 0u);
}

}  // namespace
}  // namespace pigment
