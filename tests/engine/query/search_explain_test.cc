// SPDX-License-Identifier: Apache-2.0
//
// What `explain` tells, number by number: 40 and 30 rows in two segments, 20 in the tail, with rows
// deleted in each.

#include "engine/query/search_explain.h"

#include <gtest/gtest.h>

#include "engine/base/call_control.h"
#include "engine/query/search.h"
#include "engine/vector/byte_code.h"
#include "tests/support/json.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

using Json = nlohmann::json;

constexpr uint32_t kExplainDimension = 2;
constexpr uint64_t kVectorBytes = kExplainDimension * sizeof(float);

// Ids are "id10" to "id99": four bytes. Documents have ten bytes, uris three. "n" is the number.
WriteBatch RowsOf(int first, int end) {
  WriteBatch batch;
  batch.dimension = kExplainDimension;
  for (int n = first; n < end; ++n) {
    batch.ids.push_back("id" + std::to_string(n));
    batch.documents.push_back("document" + std::to_string(n));
    batch.uris.push_back("u" + std::to_string(n));
    batch.metadatas.push_back(Metadata{{"n", int64_t{n}}});
    batch.embeddings.push_back(static_cast<float>(n));
    batch.embeddings.push_back(1);
  }
  return batch;
}

class Explain : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto store = Store::Open(std::nullopt, {}).value();
    const auto docs = store->CreateCollection(EntryNamed("docs")).value();
    ASSERT_OK(docs->Write(RowsOf(10, 50)));
    ASSERT_OK(docs->Flush());
    ASSERT_OK(docs->Write(RowsOf(50, 80)));
    ASSERT_OK(docs->Flush());
    ASSERT_OK(docs->Write(RowsOf(80, 100)));
    WriteBatch erase;
    erase.kind = WriteKind::kDelete;
    erase.ids = {"id10", "id11", "id50", "id99"};
    ASSERT_OK(docs->Write(erase));
    version_ = docs->Pin().value();
    ASSERT_EQ(version_->segments.size(), 2u);
  }

  // Two queries, nearest to the rows around 79.5 and 98: tail and last segment.
  QueryRequest TwoQueries() const {
    QueryRequest request;
    request.embeddings = vectors_;
    request.queries = 2;
    request.dimension = kExplainDimension;
    request.k = 4;
    request.read.explain = true;
    return request;
  }

  const std::vector<float> vectors_ = {79.5f, 1, 98, 1};
  std::shared_ptr<const Version> version_;
};

// Stages are those, with rows; their times add up to no more than the call took.
void CheckStages(const Json& explained, const std::vector<std::pair<std::string, int>>& expected,
                 int64_t call_ns) {
  ASSERT_EQ(explained["stages"].size(), expected.size());
  int64_t total_ns = 0;
  for (size_t index = 0; index < expected.size(); ++index) {
    const Json& stage = explained["stages"][index];
    EXPECT_EQ(stage["name"], expected[index].first);
    EXPECT_EQ(stage["rows"], expected[index].second) << expected[index].first;
    ASSERT_TRUE(stage["nanoseconds"].is_number_integer());
    EXPECT_GE(stage["nanoseconds"], 0);
    total_ns += stage["nanoseconds"].get<int64_t>();
  }
  EXPECT_GT(total_ns, 0);
  EXPECT_LE(total_ns, call_ns);
}

template <typename Call>
void RunAndCheck(const Call& call, const std::vector<std::pair<std::string, int>>& stages,
                 Json* explained) {
  const int64_t begin = MonotonicNow();
  const Result<ResultSet> result = call();
  const int64_t call_ns = MonotonicNow() - begin;
  ASSERT_OK(result);
  *explained = Json::parse(result->explain_json);
  CheckStages(*explained, stages, call_ns);
}

// Rows of a segment are compared by their codes, and some of them by their vectors too.
void CheckBytesScored(uint64_t bytes, uint64_t rows_scored) {
  EXPECT_GT(bytes, rows_scored * ByteCodeBytes(kExplainDimension));
  EXPECT_LE(bytes, rows_scored * (ByteCodeBytes(kExplainDimension) + kVectorBytes));
}

TEST_F(Explain, IsEmptyUnlessAskedFor) {
  QueryRequest query = TwoQueries();
  query.read.explain = false;
  EXPECT_EQ(Query(*version_, query)->explain_json, "");
  EXPECT_EQ(Get(*version_, {})->explain_json, "");
}

TEST_F(Explain, CountsAQueryOverEverything) {
  QueryRequest query = TwoQueries();
  Json explained;
  RunAndCheck([&] { return Query(*version_, query); },
              {{"plan", 86}, {"filter", 86}, {"search", 8}, {"fetch", 8}}, &explained);
  EXPECT_EQ(explained["strategy"], "exact");
  EXPECT_EQ(explained["position"], version_->position);
  // 79.5: 79 and 80, 78 and 81; 98: 98, 97, 96, 95 (99 is deleted).
  EXPECT_EQ(explained["tail"], Json({{"rows", 20},
                                     {"live_rows", 19},
                                     {"rows_filtered", 0},
                                     {"rows_scored", 2 * 19},
                                     {"rows_fetched", 6},
                                     {"bytes", 2 * 19 * kVectorBytes + 6 * 4}}));
  Json segments = explained["segments"];
  // Whole runs of vectors are compared, deleted rows among them.
  const uint64_t scored = segments["rows_scored"];
  EXPECT_GE(scored, 2u * 67);
  EXPECT_LE(scored, 2u * 70);
  const uint64_t bytes = segments["bytes"];
  EXPECT_EQ(segments, Json({{"count", 2},
                            {"rows", 70},
                            {"live_rows", 67},
                            {"rows_filtered", 0},
                            {"rows_scored", scored},
                            {"rows_fetched", 2},
                            {"bytes", bytes}}));
  CheckBytesScored(bytes - 2 * 4, scored);
}

TEST_F(Explain, CountsWhatAFilterReadsAndLeaves) {
  QueryRequest query = TwoQueries();
  query.read.filter = Filter::Parse(R"({"n":{"$gte":78}})", R"({"$contains":"doc"})").value();
  query.read.include.documents = true;
  Json explained;
  RunAndCheck([&] { return Query(*version_, query); },
              {{"plan", 86}, {"filter", 21}, {"search", 8}, {"fetch", 8}}, &explained);
  const Json& tail = explained["tail"];
  EXPECT_EQ(tail["rows_filtered"], 19);
  EXPECT_EQ(tail["rows_scored"], 2 * 19);
  EXPECT_EQ(tail["rows_fetched"], 6);
  EXPECT_EQ(tail["bytes"], 19 * 10 + 2 * 19 * kVectorBytes + 6 * (4 + 10));
  const Json& segments = explained["segments"];
  EXPECT_EQ(segments["rows_filtered"], 67);
  EXPECT_EQ(segments["rows_fetched"], 2);
  // The first segment has no row left and is not read.
  const uint64_t scored = segments["rows_scored"];
  EXPECT_GE(scored, 2u * 2);
  EXPECT_LE(scored, 2u * 30);
  CheckBytesScored(segments["bytes"].get<uint64_t>() - 67 * 10 - 2 * (4 + 10), scored);
}

TEST_F(Explain, CountsOnlyTheRowsOfTheAllowList) {
  QueryRequest query = TwoQueries();
  query.read.ids = {{"id10", "id12", "id98", "id98", "nobody"}};  // id10 is deleted
  query.read.filter = Filter::Parse(R"({"n":{"$gt":12}})", std::nullopt).value();
  Json explained;
  RunAndCheck([&] { return Query(*version_, query); },
              {{"plan", 2}, {"filter", 1}, {"search", 2}, {"fetch", 2}}, &explained);
  EXPECT_EQ(explained["tail"]["rows_filtered"], 1);
  EXPECT_EQ(explained["tail"]["rows_scored"], 2);
  EXPECT_EQ(explained["tail"]["rows_fetched"], 2);
  EXPECT_EQ(explained["segments"]["rows_filtered"], 1);
  EXPECT_EQ(explained["segments"]["rows_scored"], 0);
  EXPECT_EQ(explained["segments"]["bytes"], 0);
}

TEST_F(Explain, CountsAGetAndStopsWithItsLimit) {
  GetRequest get;
  get.read.explain = true;
  get.read.filter = Filter::Parse(R"({"n":{"$gte":20}})", std::nullopt).value();
  get.read.include = {true, true, true, true, true};
  get.offset = 2;
  get.limit = 5;
  Json explained;
  RunAndCheck([&] { return Get(*version_, get); }, {{"plan", 86}, {"select", 5}, {"fetch", 5}},
              &explained);
  // 12 to 19 do not match, 20 and 21 are passed over, 22 to 26 are the answer.
  EXPECT_EQ(explained["segments"]["rows_filtered"], 15);
  EXPECT_EQ(explained["segments"]["rows_scored"], 0);
  EXPECT_EQ(explained["segments"]["rows_fetched"], 5);
  EXPECT_EQ(explained["segments"]["bytes"], 5 * (4 + 10 + 3 + kVectorBytes));
  EXPECT_EQ(explained["tail"]["rows_filtered"], 0);
  EXPECT_EQ(explained["tail"]["bytes"], 0);

  get.offset = 0;
  get.limit.reset();
  RunAndCheck([&] { return Get(*version_, get); }, {{"plan", 86}, {"select", 78}, {"fetch", 78}},
              &explained);
  EXPECT_EQ(explained["segments"]["rows_filtered"], 67);
  EXPECT_EQ(explained["segments"]["rows_fetched"], 59);
  EXPECT_EQ(explained["tail"]["rows_filtered"], 19);
  EXPECT_EQ(explained["tail"]["rows_fetched"], 19);
  EXPECT_EQ(explained["tail"]["bytes"], 19 * (4 + 10 + 3 + kVectorBytes));
}

TEST(ExplainOfNeighbours, AFilterReadsNothingOfOtherCollections) {
  const auto store = Store::Open(std::nullopt, {.background_threads = 0}).value();
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  ASSERT_OK(docs->Write(RowsOf(10, 90)));
  ASSERT_OK(docs->Flush());
  ASSERT_OK(docs->Write(RowsOf(90, 100)));
  const auto read = [&] {
    GetRequest get;
    get.read.explain = true;
    get.read.filter = Filter::Parse(R"({"n":{"$gte":50}})", R"({"$contains":"9"})").value();
    get.read.include.documents = true;
    Json explained = Json::parse(Get(**docs->Pin(), get).value().explain_json);
    explained.erase("position");
    for (Json& stage : explained["stages"]) stage.erase("nanoseconds");
    return explained;
  };
  const Json alone = read();
  EXPECT_GT(alone["posting_lists_read"], 0);
  const auto large = store->CreateCollection(EntryNamed("large")).value();
  for (int first = 0; first < 50; ++first)
    ASSERT_OK(large->Write(RowsOf(first * 1000, (first + 1) * 1000)));
  ASSERT_OK(large->Flush());
  EXPECT_EQ(read(), alone);
}

}  // namespace
}  // namespace pigment
