// SPDX-License-Identifier: Apache-2.0
//
// Requests of any size, on a thread with little stack: filters of many branches, levels and values,
// many ids, and answers that hold a whole collection.

#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/effort.h"

namespace {

using abi_test::kNoOptions;
using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

constexpr int kRows = 20000;
constexpr int kMany = pigment::Rounds(100000);
constexpr int kIds = pigment::Rounds(1000000);
constexpr std::chrono::seconds kLongest(pigment::kIsSanitized ? 240 : 30);

// Runs `body` where recursion over what a caller gave would soon meet the end of the stack, and
// expects it to be over in seconds.
void RunOnASmallStack(const std::function<void()>& body) {
  constexpr size_t kStackBytes = 256 << 10;
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  pthread_t thread;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* given) -> void* {
                  (*static_cast<const std::function<void()>*>(given))();
                  return nullptr;
                },
                const_cast<std::function<void()>*>(&body)),
            0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLongest);
}

// Ids "id0" …, "n" is the number; the last 1,000 are in the tail.
class ReadingSizes : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = abi_test::OpenMemory();
    ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &docs_).ok());
    for (int begin = 0; begin < kRows; begin += 1000) {
      abi_test::Batch batch;
      batch.metadatas.emplace();
      for (int i = begin; i < begin + 1000; ++i) {
        batch.ids.Add("id" + std::to_string(i));
        batch.values.push_back(static_cast<float>(i));
        batch.metadatas->Add("{\"n\":" + std::to_string(i) + "}");
      }
      batch.dimension = 1;
      ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
      if (begin == kRows - 2000) {
        ASSERT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
      }
    }
  }

  // How many match, of some ids or of all, by a count and by a query that wants all.
  void ExpectMatches(const std::string& where, uint64_t expected,
                     const abi_test::Texts* ids = nullptr) {
    RunOnASmallStack([&] {
      const auto fill = [&](auto& request) {
        request.where_json = where.data();
        request.where_json_size = where.size();
        if (ids == nullptr) return;
        request.ids_count = ids->size();
        request.ids = ids->column();
      };
      auto request = Sized<pigment_count_request>();
      fill(request);
      uint64_t count = 0;
      const Outcome counted =
          Try(pigment_collection_count_where, docs_.get(), &request, kNoOptions, &count);
      EXPECT_TRUE(counted.ok()) << counted;
      EXPECT_EQ(count, expected);
      const std::vector<float> vector{0};
      auto query = abi_test::QueryFor(vector, 1, kRows);
      fill(query);
      abi_test::ResultHandle result;
      const Outcome outcome = abi_test::Query(docs_.get(), query, &result);
      EXPECT_TRUE(outcome.ok()) << outcome;
      EXPECT_EQ(pigment_result_row_count(result.get()), expected);
    });
  }

  abi_test::Client client_;
  abi_test::Collection docs_;
};

TEST_F(ReadingSizes, AFilterMayHaveAHundredThousandBranches) {
  for (const char* group : {"$or", "$and"}) {
    std::string where = std::string("{\"") + group + "\":[";
    for (int i = 0; i < kMany; ++i)
      where += (i == 0 ? "" : ",") + ("{\"n\":{\"$ne\":" + std::to_string(-1 - i) + "}}");
    ExpectMatches(where + "]}", kRows);
  }
  std::string where = "{\"$or\":[";
  for (int i = 0; i < kMany; ++i)
    where += (i == 0 ? "" : ",") + ("{\"n\":" + std::to_string(kRows - 10 + i) + "}");
  ExpectMatches(where + "]}", 10);
}

TEST_F(ReadingSizes, AFilterMayHaveAHundredThousandLevels) {
  std::string where;
  for (int level = 0; level < kMany; ++level)
    where += level % 2 == 0 ? R"({"$or":[{"n":)" + std::to_string(level) + "},"
                            : R"({"$and":[{"n":{"$gte":5}},)";
  where += R"({"n":{"$lt":0}})";
  for (int level = 0; level < kMany; ++level) where += "]}";
  // Every record goes through all levels, so few are asked. 0 matches the outermost clause; all
  // others must be 5 or more, and even.
  abi_test::Texts ids;
  for (int i = 0; i < kRows; i += 100) ids.Add("id" + std::to_string(i + (i / 100) % 2));
  ExpectMatches(where, 100, &ids);
}

TEST_F(ReadingSizes, AFilterMayListAMillionValues) {
  std::string ids, numbers;
  for (int i = 0; i < kIds; ++i) {
    ids += (i == 0 ? "\"id" : ",\"id") + std::to_string(kRows - 100 + i) + "\"";
    numbers += (i == 0 ? "" : ",") + std::to_string(kRows - 100 + i);
  }
  ExpectMatches(R"({"#id":{"$in":[)" + ids + "]}}", 100);
  ExpectMatches(R"({"#id":{"$nin":[)" + ids + "]}}", kRows - 100);
  ExpectMatches(R"({"n":{"$in":[)" + numbers + "]}}", 100);
  ExpectMatches(R"({"n":{"$nin":[)" + numbers + "]}}", kRows - 100);
}

TEST_F(ReadingSizes, AMillionIdsMayBeAsked) {
  abi_test::Texts ids;
  for (int i = 0; i < kIds; ++i) ids.Add("id" + std::to_string(i * 2));
  RunOnASmallStack([&] {
    auto request = Sized<pigment_get_request>();
    request.ids_count = ids.size();
    request.ids = ids.column();
    abi_test::ResultHandle result;
    Outcome outcome = abi_test::Get(docs_.get(), request, &result);
    EXPECT_TRUE(outcome.ok()) << outcome;
    EXPECT_EQ(pigment_result_row_count(result.get()), uint64_t{kRows / 2});
    const std::vector<float> vector{0};
    auto query = abi_test::QueryFor(vector, 1, kRows);
    query.ids_count = ids.size();
    query.ids = ids.column();
    outcome = abi_test::Query(docs_.get(), query, &result);
    EXPECT_TRUE(outcome.ok()) << outcome;
    EXPECT_EQ(pigment_result_row_count(result.get()), uint64_t{kRows / 2});
  });
}

TEST_F(ReadingSizes, ABatchMayHaveFortyThousandRecords) {
  constexpr int kBatch = 40000;
  abi_test::Batch batch;
  batch.metadatas.emplace();
  for (int i = 0; i < kBatch; ++i) {
    batch.ids.Add("more" + std::to_string(i));
    batch.values.push_back(static_cast<float>(i));
    batch.metadatas->Add("{\"n\":" + std::to_string(i) + "}");
  }
  batch.dimension = 1;
  RunOnASmallStack([&] {
    auto result = abi_test::WriteResult();
    Outcome outcome = abi_test::Write(pigment_collection_add, docs_.get(), batch, &result);
    EXPECT_TRUE(outcome.ok()) << outcome;
    EXPECT_EQ(result.inserted, static_cast<uint64_t>(kBatch));
    outcome = abi_test::Write(pigment_collection_upsert, docs_.get(), batch, &result);
    EXPECT_TRUE(outcome.ok()) << outcome;
    EXPECT_EQ(result.updated, static_cast<uint64_t>(kBatch));
    auto request = Sized<pigment_delete_request>();
    request.ids_count = batch.ids.size();
    request.ids = batch.ids.column();
    outcome = Try(pigment_collection_delete, docs_.get(), &request, kNoOptions, &result);
    EXPECT_TRUE(outcome.ok()) << outcome;
    EXPECT_EQ(result.deleted, static_cast<uint64_t>(kBatch));
  });
}

TEST_F(ReadingSizes, AnAnswerMayBeTheWholeCollection) {
  const std::string order = R"([{"key":"n","descending":true}])";
  RunOnASmallStack([&] {
    for (const bool is_ordered : {false, true}) {
      auto request = Sized<pigment_get_request>();
      request.include = PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS |
                        PIGMENT_INCLUDE_EMBEDDINGS | PIGMENT_INCLUDE_URIS;
      if (is_ordered) {
        request.order_by_json = order.data();
        request.order_by_json_size = order.size();
      }
      abi_test::ResultHandle result;
      const Outcome outcome = abi_test::Get(docs_.get(), request, &result);
      EXPECT_TRUE(outcome.ok()) << outcome;
      ASSERT_EQ(pigment_result_row_count(result.get()), uint64_t{kRows});
      size_t dimension = 0;
      const float* const values = pigment_result_embeddings(result.get(), &dimension);
      for (int row = 0; row < kRows; ++row)
        ASSERT_EQ(values[row], static_cast<float>(is_ordered ? kRows - 1 - row : row));
    }
  });
}

}  // namespace
