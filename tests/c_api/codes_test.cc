// SPDX-License-Identifier: Apache-2.0
//
// Every code and detail that a call of the database interface can give by itself, provoked once
// each. Codes that only a failing machine gives are in machine_codes_test; the other kinds of
// damage are provoked by the corruption tests of the engine; what a failing embedding function
// returns passes through (embedding_test).

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/temporary_directory.h"

namespace {

using abi_test::kNoScope;
using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

void ExpectCode(const Outcome& outcome, pigment_status status, int32_t detail) {
  EXPECT_EQ(outcome.status, status) << outcome;
  EXPECT_EQ(outcome.detail, detail) << outcome;
  EXPECT_FALSE(outcome.message.empty());
}

abi_test::Batch One(const std::string& id, const std::vector<float>& vector) {
  abi_test::Batch batch;
  batch.ids.Add(id);
  batch.values = vector;
  batch.dimension = vector.size();
  return batch;
}

class Codes : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = abi_test::OpenMemory();
    ASSERT_NE(client_, nullptr);
    ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &docs_).ok());
  }
  Outcome Get(const std::string& where) {
    auto request = Sized<pigment_get_request>();
    request.where_json = where.data();
    request.where_json_size = where.size();
    abi_test::ResultHandle result;
    return abi_test::Get(docs_.get(), request, &result);
  }
  abi_test::Client client_;
  abi_test::Collection docs_;
};

TEST_F(Codes, OfArguments) {
  abi_test::Collection made;
  ExpectCode(abi_test::Create(client_.get(), "x", &made), PIGMENT_INVALID_ARGUMENT,
             PIGMENT_DETAIL_NAME);
  ExpectCode(Get("{"), PIGMENT_INVALID_ARGUMENT, PIGMENT_DETAIL_FILTER);
  ExpectCode(Get(std::string(65u << 20, ' ')), PIGMENT_RESOURCE_EXHAUSTED, PIGMENT_DETAIL_LIMIT);
  abi_test::Batch batch = One("a", {1});
  batch.metadatas.emplace().Add("{}");
  ExpectCode(abi_test::Write(pigment_collection_add, docs_.get(), batch), PIGMENT_INVALID_ARGUMENT,
             PIGMENT_DETAIL_METADATA);
  batch = One("a", {1, 2});
  batch.ids.Add("a");
  batch.dimension = 1;
  ExpectCode(abi_test::Write(pigment_collection_add, docs_.get(), batch), PIGMENT_INVALID_ARGUMENT,
             PIGMENT_DETAIL_DUPLICATE_ID);
  ExpectCode(abi_test::Write(pigment_collection_add, docs_.get(),
                             One("a", {std::numeric_limits<float>::infinity()})),
             PIGMENT_INVALID_ARGUMENT, PIGMENT_DETAIL_NOT_FINITE);
  ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), One("a", {1})).ok());
  ExpectCode(abi_test::Write(pigment_collection_add, docs_.get(), One("b", {1, 2})),
             PIGMENT_INVALID_ARGUMENT, PIGMENT_DETAIL_DIMENSION);
  batch = One("b", {});
  batch.documents.emplace().Add("text");
  ExpectCode(abi_test::Write(pigment_collection_add, docs_.get(), batch),
             PIGMENT_FAILED_PRECONDITION, PIGMENT_DETAIL_NO_EMBEDDING_FUNCTION);
  ExpectCode(abi_test::Create(client_.get(), "docs", &made), PIGMENT_ALREADY_EXISTS,
             PIGMENT_DETAIL_NONE);
  ExpectCode(Try(pigment_client_delete_collection, client_.get(), kNoScope, "nope", size_t{4}),
             PIGMENT_NOT_FOUND, PIGMENT_DETAIL_NONE);
}

TEST_F(Codes, OfStores) {
  const pigment::TemporaryDirectory folder;
  const std::string path = folder.path() + "/store";
  abi_test::Client client;
  auto options = Sized<pigment_open_options>();
  options.must_exist = true;
  ExpectCode(abi_test::Open(path, &client, &options), PIGMENT_NOT_FOUND, PIGMENT_DETAIL_NONE);
  ASSERT_TRUE(abi_test::Open(path, &client).ok());
  abi_test::Collection docs;
  ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
  ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs.get(), One("a", {1})).ok());
  ASSERT_TRUE(Try(pigment_client_flush, client.get()).ok());
  ASSERT_TRUE(Try(pigment_client_close, client.get()).ok());
  uint64_t number = 0;
  ExpectCode(Try(pigment_client_position, client.get(), &number), PIGMENT_FAILED_PRECONDITION,
             PIGMENT_DETAIL_CLOSED);
  client.reset();
  docs.reset();

  options = Sized<pigment_open_options>();
  options.read_only = true;
  ASSERT_TRUE(abi_test::Open(path, &client, &options).ok());
  ExpectCode(Try(pigment_client_create_tenant, client.get(), "tenant", size_t{6}),
             PIGMENT_FAILED_PRECONDITION, PIGMENT_DETAIL_READ_ONLY);
  abi_test::Collection made;
  ExpectCode(abi_test::Create(client.get(), "more", &made), PIGMENT_FAILED_PRECONDITION,
             PIGMENT_DETAIL_READ_ONLY);
  client.reset();

  // One byte of each block of a segment changed: damage, with file and offset.
  std::filesystem::path segment;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    const bool in_segments = entry.path().parent_path().filename() == "segments";
    if (in_segments && entry.is_regular_file()) segment = entry.path();
  }
  ASSERT_FALSE(segment.empty());
  abi_test::DamageBlocks(segment);
  Outcome damaged = abi_test::Open(path, &client);
  if (damaged.ok()) {
    damaged = abi_test::GetByName(client.get(), "docs", &docs);
    if (damaged.ok()) {
      abi_test::ResultHandle result;
      damaged = abi_test::Get(docs.get(), Sized<pigment_get_request>(), &result);
    }
  }
  ExpectCode(damaged, PIGMENT_DATA_LOSS, PIGMENT_DETAIL_CHECKSUM);
  EXPECT_NE(damaged.file.find(segment.filename().string()), std::string::npos) << damaged.file;
  EXPECT_GE(damaged.offset, 0);
}

TEST_F(Codes, OfAChromaDirectoryGiveAHint) {
  const pigment::TemporaryDirectory folder;
  std::ofstream(folder.path() + "/chroma.sqlite3") << "SQLite format 3";
  abi_test::Client client;
  const Outcome outcome = abi_test::Open(folder.path(), &client);
  EXPECT_EQ(outcome.status, PIGMENT_FAILED_PRECONDITION) << outcome;
  EXPECT_FALSE(outcome.hint.empty()) << outcome;
}

TEST_F(Codes, OfControl) {
  auto options = Sized<pigment_call_options>();
  uint64_t count = 0;
  options.min_position = 1000;
  ExpectCode(Try(pigment_collection_count, docs_.get(), &options, &count),
             PIGMENT_FAILED_PRECONDITION, PIGMENT_DETAIL_STALE);
  options = Sized<pigment_call_options>();
  options.deadline_ns = 1;
  ExpectCode(Try(pigment_collection_count, docs_.get(), &options, &count),
             PIGMENT_DEADLINE_EXCEEDED, PIGMENT_DETAIL_NONE);
}

TEST_F(Codes, OfAMemoryBudget) {
  auto options = Sized<pigment_open_options>();
  options.memory_budget_bytes = 64 << 10;
  abi_test::Client client;
  ASSERT_TRUE(abi_test::Open("", &client, &options).ok());
  abi_test::Collection docs;
  ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
  Outcome outcome;
  // What is flushed gives way, so only a batch that is larger than the budget is refused.
  outcome = abi_test::Write(pigment_collection_add, docs.get(),
                            One("a", std::vector<float>(20000, 1.0f)));
  ExpectCode(outcome, PIGMENT_RESOURCE_EXHAUSTED, PIGMENT_DETAIL_MEMORY);
}

// A position that a write gave is reached by the next read, and results say what they saw.
TEST_F(Codes, APositionThatWasReachedIsNotStale) {
  pigment_write_result write = abi_test::WriteResult();
  ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), One("a", {1}), &write).ok());
  EXPECT_GT(write.position, 0u);
  auto options = Sized<pigment_call_options>();
  options.min_position = write.position;
  abi_test::ResultHandle result;
  ASSERT_TRUE(abi_test::Get(docs_.get(), Sized<pigment_get_request>(), &result, &options).ok());
  EXPECT_GE(pigment_result_position(result.get()), write.position);
  // Also in another collection: the position is the store's.
  abi_test::Collection other;
  ASSERT_TRUE(abi_test::Create(client_.get(), "other", &other).ok());
  ASSERT_TRUE(abi_test::Get(other.get(), Sized<pigment_get_request>(), &result, &options).ok());
}

}  // namespace
