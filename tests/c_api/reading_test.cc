// SPDX-License-Identifier: Apache-2.0
//
// What reads can be asked for beside filters: counts, a distance that bounds a query, an order, a
// cursor, facets, threads.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/json.h"

namespace {

using abi_test::kNoOptions;
using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;
using Json = nlohmann::json;

// Ids "id0" to "id29" at distances 0, 1, 4, … from 0; "n" is the number modulo 3, "odd" a bool.
class Reading : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = abi_test::OpenMemory();
    ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &docs_).ok());
    Add(0, 20);
    ASSERT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
    Add(20, 30);
  }
  void Add(int begin, int end) {
    abi_test::Batch batch;
    batch.metadatas.emplace();
    for (int i = begin; i < end; ++i) {
      batch.ids.Add("id" + std::to_string(i));
      batch.values.push_back(static_cast<float>(i));
      batch.metadatas->Add(Json{{"n", i % 3}, {"odd", i % 2 == 1}}.dump());
    }
    batch.dimension = 1;
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
  }
  uint64_t CountWhere(const pigment_count_request& request) {
    uint64_t count = 77;
    const Outcome outcome =
        Try(pigment_collection_count_where, docs_.get(), &request, kNoOptions, &count);
    EXPECT_TRUE(outcome.ok()) << outcome;
    return count;
  }
  static std::vector<std::string> Ids(const pigment_result* result) {
    pigment_text_column column{};
    EXPECT_TRUE(pigment_result_ids(result, &column));
    std::vector<std::string> ids;
    for (uint64_t row = 0; row < pigment_result_row_count(result); ++row)
      ids.push_back(abi_test::Text(column, row));
    return ids;
  }

  abi_test::Client client_;
  abi_test::Collection docs_;
};

void SetWhere(const std::string& where, auto& request) {
  request.where_json = where.data();
  request.where_json_size = where.size();
}

TEST_F(Reading, CountsWhatMatches) {
  auto request = Sized<pigment_count_request>();
  EXPECT_EQ(CountWhere(request), 30u);
  const std::string where = R"({"n": 1})";
  SetWhere(where, request);
  EXPECT_EQ(CountWhere(request), 10u);
  const abi_test::Texts ids{"id1", "id4", "id5", "nobody", "id1"};
  request.ids_count = ids.size();
  request.ids = ids.column();
  EXPECT_EQ(CountWhere(request), 2u);
  const std::string wrong = R"({"n": {}})";
  SetWhere(wrong, request);
  uint64_t count = 77;
  const pigment_count_request* const given = &request;
  const Outcome outcome =
      Try(pigment_collection_count_where, docs_.get(), given, kNoOptions, &count);
  EXPECT_EQ(outcome.detail, PIGMENT_DETAIL_FILTER) << outcome;
  EXPECT_EQ(count, 0u);
}

TEST_F(Reading, NothingFartherThanTheDistanceComes) {
  const std::vector<float> vector{0};
  for (const double recall : {0.0, 1.0}) {
    auto request = abi_test::QueryFor(vector, 1, 10);
    request.recall = recall;
    request.has_max_distance = true;
    request.max_distance = 9;
    abi_test::ResultHandle result;
    ASSERT_TRUE(abi_test::Query(docs_.get(), request, &result).ok());
    EXPECT_EQ(Ids(result.get()), (std::vector<std::string>{"id0", "id1", "id2", "id3"}));
    request.max_distance = std::nextafter(9.0, 0.0);
    ASSERT_TRUE(abi_test::Query(docs_.get(), request, &result).ok());
    EXPECT_EQ(pigment_result_row_count(result.get()), 3u);
    request.max_distance = -1;
    ASSERT_TRUE(abi_test::Query(docs_.get(), request, &result).ok());
    EXPECT_EQ(pigment_result_row_count(result.get()), 0u);
    request.max_distance = std::nan("");
    const Outcome outcome = abi_test::Query(docs_.get(), request, &result);
    EXPECT_EQ(outcome.message, "max_distance must not be NaN");
    EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT);
  }
}

TEST_F(Reading, ThreadsChangeNothing) {
  std::vector<float> vectors;
  for (int i = 0; i < 100; ++i) vectors.push_back(static_cast<float>(i) * 0.37f);
  std::vector<std::string> expected;
  for (const int32_t threads : {1, 2, 7, 0}) {
    auto request = abi_test::QueryFor(vectors, 1, 3);
    request.threads = threads;
    abi_test::ResultHandle result;
    ASSERT_TRUE(abi_test::Query(docs_.get(), request, &result).ok());
    ASSERT_EQ(pigment_result_row_count(result.get()), 300u);
    if (expected.empty()) expected = Ids(result.get());
    EXPECT_EQ(Ids(result.get()), expected) << threads;
  }
  for (const int32_t threads : {-1, 257}) {
    auto request = abi_test::QueryFor(vectors, 1, 3);
    request.threads = threads;
    abi_test::ResultHandle result;
    const Outcome outcome = abi_test::Query(docs_.get(), request, &result);
    EXPECT_EQ(outcome.message, "threads must be 0 to 256, got " + std::to_string(threads) +
                                   (threads > 0 ? " (limit query_threads: 256)" : ""));
  }
}

TEST_F(Reading, PagesGoOnBehindTheCursor) {
  const std::string order = R"([{"key":"n","descending":true},{"key":"odd"}])";
  for (const bool is_ordered : {false, true}) {
    auto request = Sized<pigment_get_request>();
    if (is_ordered) {
      request.order_by_json = order.data();
      request.order_by_json_size = order.size();
    }
    abi_test::ResultHandle result;
    ASSERT_TRUE(abi_test::Get(docs_.get(), request, &result).ok());
    const std::vector<std::string> all = Ids(result.get());
    if (is_ordered) {
      EXPECT_EQ(std::vector<std::string>(all.begin(), all.begin() + 6),
                (std::vector<std::string>{"id2", "id8", "id14", "id20", "id26", "id5"}));
    }
    size_t size = 7;
    EXPECT_EQ(pigment_result_cursor(result.get(), &size), nullptr) << "there is no more";
    EXPECT_EQ(size, 0u);
    std::vector<std::string> seen;
    std::string cursor;
    request.has_limit = true;
    request.limit = 7;
    do {
      request.cursor = cursor.empty() ? nullptr : cursor.data();
      request.cursor_size = cursor.size();
      ASSERT_TRUE(abi_test::Get(docs_.get(), request, &result).ok());
      for (const std::string& id : Ids(result.get())) seen.push_back(id);
      const char* next = pigment_result_cursor(result.get(), &size);
      cursor = next != nullptr ? std::string(next, size) : "";
    } while (!cursor.empty());
    EXPECT_EQ(seen, all);
  }
}

TEST_F(Reading, CursorsOfOthersAreRefused) {
  auto request = Sized<pigment_get_request>();
  request.has_limit = true;
  request.limit = 1;
  abi_test::ResultHandle result;
  ASSERT_TRUE(abi_test::Get(docs_.get(), request, &result).ok());
  size_t size = 0;
  const char* const text = pigment_result_cursor(result.get(), &size);
  ASSERT_NE(text, nullptr);
  const std::string cursor(text, size);
  abi_test::Collection other;
  ASSERT_TRUE(abi_test::Create(client_.get(), "other", &other).ok());
  request.cursor = cursor.data();
  request.cursor_size = cursor.size();
  EXPECT_TRUE(abi_test::Get(docs_.get(), request, &result).ok());
  EXPECT_EQ(Ids(result.get()), std::vector<std::string>{"id1"});
  Outcome outcome = abi_test::Get(other.get(), request, &result);
  EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT) << outcome;
  const std::string order = R"([{"key":"n"}])";
  request.order_by_json = order.data();
  request.order_by_json_size = order.size();
  outcome = abi_test::Get(docs_.get(), request, &result);
  EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT) << outcome;
  request.cursor_size = 0;
  outcome = abi_test::Get(docs_.get(), request, &result);
  EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT) << outcome;
  request.cursor = nullptr;
  request.order_by_json_size = 3;
  outcome = abi_test::Get(docs_.get(), request, &result);
  EXPECT_NE(outcome.message.find("order_by"), std::string::npos) << outcome;
}

TEST_F(Reading, FacetsCountTheValuesOfWhatMatches) {
  const abi_test::Texts keys{"n", "odd"};
  auto request = Sized<pigment_facets_request>();
  request.keys_count = keys.size();
  request.keys = keys.column();
  const std::string where = R"({"n": {"$gte": 1}})";
  SetWhere(where, request);
  request.has_limit = true;
  request.limit = 1;
  pigment_buffer* raw = nullptr;
  ASSERT_TRUE(Try(pigment_collection_facets, docs_.get(), &request, kNoOptions, &raw).ok());
  abi_test::Buffer json(raw);
  EXPECT_EQ(abi_test::Text(raw),
            R"({"n":[{"value":1,"count":10}],"odd":[{"value":false,"count":10}]})");
  request.limit = -1;
  const Outcome outcome = Try(pigment_collection_facets, docs_.get(), &request, kNoOptions, &raw);
  EXPECT_EQ(outcome.message, "limit must not be negative, got -1");
  EXPECT_EQ(raw, nullptr);
}

}  // namespace
