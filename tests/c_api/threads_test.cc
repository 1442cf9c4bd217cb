// SPDX-License-Identifier: Apache-2.0
//
// Clients and collections from many threads at once; cancellation and deadlines of calls under way.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/temporary_directory.h"

namespace {

using abi_test::kNoScope;
using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

abi_test::Batch Records(size_t first, size_t count, size_t dimension) {
  abi_test::Batch batch;
  batch.dimension = dimension;
  for (size_t i = first; i < first + count; ++i) {
    batch.ids.Add("id" + std::to_string(i));
    for (size_t d = 0; d < dimension; ++d)
      batch.values.push_back(static_cast<float>((i * 7 + d) % 13));
  }
  return batch;
}

TEST(Threads, ReadersSeeWholeBatchesWhileWritersWrite) {
  constexpr size_t kBatch = 10, kBatches = 40, kWriters = 2;
  abi_test::Client client;
  auto options = Sized<pigment_open_options>();
  options.flush_rows_max = 64;  // flushes go on meanwhile
  ASSERT_TRUE(abi_test::Open("", &client, &options).ok());
  abi_test::Collection docs;
  ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&] {
      uint64_t before = 0, position = 0;
      const std::vector<float> vector(4, 1.0f);
      while (!done) {
        uint64_t count = 0;
        ASSERT_TRUE(abi_test::Count(docs.get(), &count).ok());
        EXPECT_EQ(count % kBatch, 0u);
        EXPECT_GE(count, before);
        before = count;
        abi_test::ResultHandle result;
        ASSERT_TRUE(abi_test::Query(docs.get(), abi_test::QueryFor(vector, 4, 5), &result).ok());
        EXPECT_GE(pigment_result_position(result.get()), position);
        position = pigment_result_position(result.get());
      }
    });
  }
  std::vector<std::thread> writers;
  for (size_t writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (size_t i = 0; i < kBatches; ++i) {
        const abi_test::Batch batch = Records((writer * kBatches + i) * kBatch, kBatch, 4);
        ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs.get(), batch).ok());
      }
    });
  }
  for (std::thread& thread : writers) thread.join();
  done = true;
  for (std::thread& thread : threads) thread.join();
  uint64_t count = 0;
  ASSERT_TRUE(abi_test::Count(docs.get(), &count).ok());
  EXPECT_EQ(count, kWriters * kBatches * kBatch);
}

TEST(Threads, OneNameIsCreatedOnceHoweverManyTry) {
  const abi_test::Client client = abi_test::OpenMemory();
  std::atomic<int> made{0}, existed{0}, gotten{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 10; ++round) {
        const std::string name = "docs" + std::to_string(round);
        abi_test::Collection collection;
        pigment_collection_options options;
        pigment_collection_options_init(&options);
        options.get_or_create = i % 2 == 0;
        const Outcome outcome = abi_test::Create(client.get(), name, &collection, &options);
        if (options.get_or_create) {
          EXPECT_TRUE(outcome.ok()) << outcome;
          ++gotten;
        } else if (outcome.ok()) {
          ++made;
        } else {
          EXPECT_EQ(outcome.status, PIGMENT_ALREADY_EXISTS) << outcome;
          ++existed;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(gotten, 40);
  EXPECT_EQ(made + existed, 40);
  EXPECT_LE(made, 10);
  uint64_t count = 0;
  ASSERT_TRUE(Try(pigment_client_count_collections, client.get(), kNoScope, &count).ok());
  EXPECT_EQ(count, 10u);
}

TEST(Threads, DeletingACollectionUnderItsUsersGivesNotFoundOnly) {
  const abi_test::Client client = abi_test::OpenMemory();
  for (int round = 0; round < 5; ++round) {
    abi_test::Collection docs;
    ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
    std::vector<std::thread> users;
    for (int i = 0; i < 4; ++i) {
      users.emplace_back([&, i] {
        for (size_t n = 0;; ++n) {
          uint64_t count = 0;
          const Outcome outcome = i % 2 == 0 ? abi_test::Write(pigment_collection_upsert,
                                                               docs.get(), Records(n % 20, 3, 2))
                                             : abi_test::Count(docs.get(), &count);
          if (outcome.ok()) continue;
          EXPECT_EQ(outcome.status, PIGMENT_NOT_FOUND) << outcome;
          return;
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(
        Try(pigment_client_delete_collection, client.get(), kNoScope, "docs", size_t{4}).ok());
    for (std::thread& user : users) user.join();
  }
}

TEST(Threads, FunctionsWithoutAHandleAreForAnyThread) {
  const pigment::TemporaryDirectory folder;
  const std::string path = folder.path() + "/store";
  {
    abi_test::Client client;
    ASSERT_TRUE(abi_test::Open(path, &client).ok());
    abi_test::Collection docs;
    ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs.get(), Records(0, 50, 4)).ok());
    ASSERT_TRUE(Try(pigment_client_close, client.get()).ok());
  }
  const auto everything = [&] {
    std::string all = std::string(pigment_version()) + pigment_build_info() +
                      pigment_status_name(PIGMENT_DATA_LOSS);
    pigment_buffer* buffer = nullptr;
    EXPECT_TRUE(Try(pigment_limits, &buffer).ok());
    all += abi_test::Text(abi_test::Buffer(buffer).get());
    const abi_test::Texts texts{"a red fish", "a law book"};
    const pigment_text_column column = texts.column();
    std::vector<float> values(2 * 64);
    EXPECT_TRUE(Try(pigment_embed_lexical, size_t{2}, &column, size_t{64}, values.data()).ok());
    for (const float value : values) all += std::to_string(value);
    buffer = nullptr;
    EXPECT_TRUE(
        Try(pigment_check, path.data(), path.size(), true, abi_test::kNoOptions, &buffer).ok());
    all += abi_test::Text(abi_test::Buffer(buffer).get());
    auto request = Sized<pigment_query_request>();
    pigment_query_request_init(&request);
    pigment_cancel* token = nullptr;
    EXPECT_TRUE(Try(pigment_cancel_new, &token).ok());
    pigment_cancel_free(token);
    return all + std::to_string(request.n_results);
  };
  const std::string expected = everything();
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) EXPECT_EQ(everything(), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class Stopping : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = abi_test::OpenMemory();
    ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &docs_).ok());
    const abi_test::Batch batch = Records(0, 2000, 64);
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
  }
  // Enough queries in one call to take a while.
  Outcome LongQuery(const pigment_call_options& options) {
    const std::vector<float> vectors(64 * 4000, 1.0f);
    abi_test::ResultHandle result;
    return abi_test::Query(docs_.get(), abi_test::QueryFor(vectors, 64, 100), &result, &options);
  }
  abi_test::Client client_;
  abi_test::Collection docs_;
};

TEST_F(Stopping, ACallUnderWayIsCancelled) {
  pigment_cancel* cancel = nullptr;
  ASSERT_TRUE(Try(pigment_cancel_new, &cancel).ok());
  auto options = Sized<pigment_call_options>();
  options.cancel = cancel;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pigment_cancel_set(cancel);
  });
  const Outcome outcome = LongQuery(options);
  stopper.join();
  pigment_cancel_free(cancel);
  EXPECT_EQ(outcome.status, PIGMENT_CANCELLED) << outcome;
}

TEST_F(Stopping, ADeadlineStopsACallUnderWay) {
  auto options = Sized<pigment_call_options>();
  options.deadline_ns = pigment_now_ns() + 20'000'000;
  const int64_t before = pigment_now_ns();
  const Outcome outcome = LongQuery(options);
  EXPECT_EQ(outcome.status, PIGMENT_DEADLINE_EXCEEDED) << outcome;
  EXPECT_LT(pigment_now_ns() - before, 5'000'000'000);
}

TEST_F(Stopping, AStoppedWriteChangesNothing) {
  pigment_cancel* raw = nullptr;
  ASSERT_TRUE(Try(pigment_cancel_new, &raw).ok());
  const abi_test::Cancel cancel(raw);
  pigment_cancel_set(raw);
  auto options = Sized<pigment_call_options>();
  options.cancel = raw;
  const abi_test::Batch batch = Records(5000, 3, 64);
  const pigment_records records = batch.records();
  pigment_write_result result = abi_test::WriteResult();
  for (const auto function :
       {pigment_collection_add, pigment_collection_update, pigment_collection_upsert}) {
    EXPECT_EQ(Try(function, docs_.get(), &records, &options, &result).status, PIGMENT_CANCELLED);
  }
  auto request = Sized<pigment_delete_request>();
  const std::string where = R"({"k":{"$ne":1}})";
  request.where_json = where.data();
  request.where_json_size = where.size();
  EXPECT_EQ(Try(pigment_collection_delete, docs_.get(), &request, &options, &result).status,
            PIGMENT_CANCELLED);
  uint64_t count = 0;
  ASSERT_TRUE(abi_test::Count(docs_.get(), &count).ok());
  EXPECT_EQ(count, 2000u);
}

}  // namespace
