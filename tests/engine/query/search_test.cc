// SPDX-License-Identifier: Apache-2.0
//
// What the pipeline answers at its edges: over segments and tail together, compared with the plain
// model. How it stops and what it explains is in search_control_test.cc and search_explain_test.cc.

#include "engine/query/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
constexpr uint32_t kSearchDimension = 3;

// A store with three segments and a tail after random batches, and its model.
class Search : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = Store::Open(std::nullopt, {}).value();
    docs_ = store_->CreateCollection(EntryNamed("docs")).value();
    for (int part = 0; part < 4; ++part) {
      for (int batches = 0; batches < 12; ++batches) {
        const WriteBatch batch = maker_.Batch(12);
        model_.Apply(batch);
        ASSERT_OK(docs_->Write(batch));
      }
      if (part < 3) ASSERT_OK(docs_->Flush());
    }
    version_ = docs_->Pin().value();
    ASSERT_EQ(version_->segments.size(), 3u);
    ASSERT_GT(version_->tail.rows, 10u);
    ASSERT_GT(model_.records().size(), 30u);
  }

  std::vector<std::string> AllIds() const { return SelectIds(*version_, {}).value(); }

  QueryRequest RequestOf(const std::vector<float>& vectors, uint64_t k) const {
    QueryRequest request;
    request.embeddings = vectors;
    request.dimension = kSearchDimension;
    request.queries = vectors.size() / kSearchDimension;
    request.k = k;
    request.read.include = {true, true, true, true, true};
    return request;
  }

  BatchMaker maker_{20261121, kSearchDimension, 80};
  CollectionModel model_;
  std::shared_ptr<Store> store_;
  std::shared_ptr<Collection> docs_;
  std::shared_ptr<const Version> version_;
};

TEST_F(Search, LimitAndOffsetCutAPieceOutOfTheWhole) {
  const std::vector<std::string> all = AllIds();
  const uint64_t rows = all.size();
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{1}, rows / 2, rows - 1, rows, rows + 1, kHuge}) {
    for (const std::optional<uint64_t> limit :
         {std::optional<uint64_t>(), std::optional(uint64_t{0}), std::optional(uint64_t{1}),
          std::optional(rows - 1), std::optional(rows), std::optional(rows + 1),
          std::optional(kHuge)}) {
      SCOPED_TRACE(::testing::Message() << "offset " << offset << ", limit "
                                        << (limit ? std::to_string(*limit) : "none"));
      const uint64_t first = std::min(offset, rows);
      const uint64_t count = std::min(limit.value_or(kHuge), rows - first);
      GetRequest request;
      request.offset = offset;
      request.limit = limit;
      const auto ids = SelectIds(*version_, request);
      ASSERT_OK(ids);
      const auto begin = all.begin() + static_cast<ptrdiff_t>(first);
      EXPECT_EQ(*ids, std::vector<std::string>(begin, begin + static_cast<ptrdiff_t>(count)));
      EXPECT_EQ(DifferenceOfGet(*version_, model_, request), "");
    }
  }
}

TEST_F(Search, EveryChoiceOfColumnsGivesTheseAndNoOther) {
  const std::vector<float> vectors = maker_.Vector();
  for (unsigned mask = 0; mask < 32; ++mask) {
    SCOPED_TRACE("columns " + std::to_string(mask));
    const Include include{.documents = (mask & 1) != 0,
                          .metadatas = (mask & 2) != 0,
                          .embeddings = (mask & 4) != 0,
                          .uris = (mask & 8) != 0,
                          .distances = (mask & 16) != 0};
    GetRequest get;
    get.read.include = include;
    EXPECT_EQ(DifferenceOfGet(*version_, model_, get), "");
    EXPECT_TRUE(Get(*version_, get)->distances.empty()) << "a get is distant from nothing";
    QueryRequest query = RequestOf(vectors, kHuge);
    query.read.include = include;
    EXPECT_EQ(DifferenceOfQuery(*version_, model_, query), "");
    EXPECT_EQ(Query(*version_, query)->distances.empty(), !include.distances);
  }
}

TEST_F(Search, FewerRowsThanAskedForAreAllRows) {
  const uint64_t rows = model_.records().size();
  const std::vector<float> vectors = maker_.Vector();
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kIp}) {
    for (const uint64_t k : {uint64_t{1}, rows - 1, rows, rows + 1, kHuge}) {
      SCOPED_TRACE("k " + std::to_string(k));
      QueryRequest request = RequestOf(vectors, k);
      request.metric = metric;
      EXPECT_EQ(DifferenceOfQuery(*version_, model_, request), "");
      EXPECT_EQ(Query(*version_, request)->query_offsets,
                (std::vector<uint64_t>{0, std::min(k, rows)}));
    }
  }
}

TEST_F(Search, NothingAskedForIsNothingAnswered) {
  const std::vector<float> vectors = maker_.Vector();
  const auto none = Query(*version_, RequestOf(vectors, 0));
  ASSERT_OK(none);
  EXPECT_EQ(none->query_offsets, (std::vector<uint64_t>{0, 0}));
  EXPECT_EQ(none->ids.offsets, std::vector<int64_t>{0});
  const auto no_queries = Query(*version_, RequestOf({}, 10));
  ASSERT_OK(no_queries);
  EXPECT_EQ(no_queries->query_offsets, std::vector<uint64_t>{0});
}

TEST_F(Search, FiltersAndIdsThatMatchNothingGiveNothing) {
  const std::vector<float> vectors = maker_.Vector();
  std::vector<ReadOptions> reads(4);
  reads[0].filter = Filter::Parse(R"({"a":{"$eq":"nobody has this"}})", std::nullopt).value();
  reads[1].filter = Filter::Parse(std::nullopt, R"({"$contains":"nobody wrote this"})").value();
  reads[2].ids = std::vector<std::string>{};
  reads[3].ids = std::vector<std::string>{"nobody", "nobody either"};
  for (size_t index = 0; index < reads.size(); ++index) {
    SCOPED_TRACE(index);
    EXPECT_EQ(SelectIds(*version_, {.read = reads[index], .limit = {}, .offset = 0}).value(),
              std::vector<std::string>());
    QueryRequest request = RequestOf(vectors, 10);
    request.read = reads[index];
    request.read.include.distances = true;
    const auto result = Query(*version_, request);
    ASSERT_OK(result);
    EXPECT_EQ(result->query_offsets, (std::vector<uint64_t>{0, 0}));
    EXPECT_TRUE(result->distances.empty());
  }
}

TEST_F(Search, IdsGivenTwiceOrUnknownCountOnce) {
  const std::vector<std::string> all = AllIds();
  GetRequest request;
  request.read.ids = {{all.back(), all.front(), "nobody", all.back(), all.front()}};
  EXPECT_EQ(SelectIds(*version_, request).value(),
            (std::vector<std::string>{all.front(), all.back()}));
}

TEST_F(Search, ManyQueriesAtOnceAnswerAsOneAtATime) {
  constexpr size_t kQueries = 17;
  std::vector<float> vectors;
  for (size_t query = 0; query < kQueries; ++query) {
    for (const float number : maker_.Vector()) vectors.push_back(number);
  }
  for (const bool is_filtered : {false, true}) {
    QueryRequest all = RequestOf(vectors, 7);
    if (is_filtered) all.read.filter = Filter::Parse(R"({"a":{"$ne":"u"}})", std::nullopt).value();
    const auto together = Query(*version_, all);
    ASSERT_OK(together);
    ASSERT_EQ(together->query_offsets.size(), kQueries + 1);
    for (size_t query = 0; query < kQueries; ++query) {
      SCOPED_TRACE("query " + std::to_string(query));
      QueryRequest one = all;
      one.queries = 1;
      one.embeddings = all.embeddings.subspan(query * kSearchDimension, kSearchDimension);
      const auto alone = Query(*version_, one);
      ASSERT_OK(alone);
      const size_t first = together->query_offsets[query];
      ASSERT_EQ(together->query_offsets[query + 1] - first, alone->query_offsets[1]);
      ASSERT_GT(alone->query_offsets[1], 0u);
      for (size_t row = 0; row < alone->query_offsets[1]; ++row) {
        const std::string id = TextAt(alone->ids, row).value();
        EXPECT_EQ(DifferenceOfRow(*together, first + row, model_.records().at(id)), "");
        EXPECT_EQ(together->distances[first + row], alone->distances[row]);
      }
    }
  }
}

TEST_F(Search, AnotherDimensionIsRefusedByName) {
  const std::vector<float> vectors(4, 1.0f);
  QueryRequest request;
  request.embeddings = vectors;
  request.queries = 2;
  request.dimension = 2;
  const auto refused = Query(*version_, request);
  EXPECT_CODE(refused, Code::kInvalidArgument);
  EXPECT_EQ(refused.status().detail(), Detail::kDimension);
  EXPECT_EQ(refused.status().message(), "dimension mismatch: the collection has 3, got 2");
  request.queries = 3;
  EXPECT_EQ(Query(*version_, request).status().detail(), Detail::kDimension) << "numbers are short";
}

TEST(SearchEmpty, CollectionWithoutRecordsAnswersEveryDimensionWithNothing) {
  const auto store = Store::Open(std::nullopt, {}).value();
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  const auto version = docs->Pin().value();
  const std::vector<float> vectors(10, 1.0f);
  QueryRequest request;
  request.embeddings = vectors;
  request.queries = 2;
  request.dimension = 5;
  request.read.include = {true, true, true, true, true};
  const auto result = Query(*version, request);
  ASSERT_OK(result);
  EXPECT_EQ(result->query_offsets, (std::vector<uint64_t>{0, 0, 0}));
  EXPECT_EQ(Get(*version, {})->query_offsets, (std::vector<uint64_t>{0, 0}));
}

// Records "0" to "39" with one vector, ten in each of three segments and in the tail; then some are
// upserted with the same vector, which moves them to the tail and must not change their place.
TEST(SearchTies, ComeInInsertionOrderAcrossSegmentsAndTail) {
  const auto store = Store::Open(std::nullopt, {}).value();
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  std::vector<std::string> expected;
  const auto write = [&](WriteKind kind, const std::vector<std::string>& ids) {
    WriteBatch batch;
    batch.kind = kind;
    batch.ids = ids;
    batch.dimension = 2;
    batch.embeddings.assign(2 * ids.size(), 0.5f);
    ASSERT_OK(docs->Write(batch));
  };
  for (int part = 0; part < 4; ++part) {
    std::vector<std::string> ids;
    for (int row = 0; row < 10; ++row) ids.push_back(std::to_string(part * 10 + row));
    write(WriteKind::kAdd, ids);
    expected.insert(expected.end(), ids.begin(), ids.end());
    if (part < 3) ASSERT_OK(docs->Flush());
  }
  write(WriteKind::kUpsert, {"25", "3", "39", "14", "30", "0"});
  const auto version = docs->Pin().value();
  ASSERT_EQ(version->segments.size(), 3u);
  const std::vector<float> vectors = {0.25f, 0.75f, -1, 0};
  for (uint64_t k = 1; k <= expected.size() + 1; ++k) {
    SCOPED_TRACE("k " + std::to_string(k));
    QueryRequest request;
    request.embeddings = vectors;
    request.queries = 2;
    request.dimension = 2;
    request.k = k;
    const auto result = Query(*version, request);
    ASSERT_OK(result);
    const size_t count = std::min<size_t>(k, expected.size());
    ASSERT_EQ(result->query_offsets, (std::vector<uint64_t>{0, count, 2 * count}));
    for (size_t row = 0; row < 2 * count; ++row)
      ASSERT_EQ(TextAt(result->ids, row), expected[row % count]) << row;
  }
}

}  // namespace
}  // namespace pigment
