// SPDX-License-Identifier: Apache-2.0
//
// Collections by name and by id: what a rename, a deletion and a free mean for handles and results,
// and that a change is made whole or not at all.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/json.h"

namespace {

using abi_test::kNoFunction;
using abi_test::kNoScope;
using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

class CollectionsAbi : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = abi_test::OpenMemory();
    ASSERT_NE(client_, nullptr);
    ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &docs_).ok());
    abi_test::Batch batch;
    batch.ids = {"a", "b"};
    batch.values = {1, 0, 0, 1};
    batch.dimension = 2;
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
  }
  static nlohmann::json Describe(const abi_test::Collection& collection) {
    pigment_buffer* json = nullptr;
    const Outcome outcome = Try(pigment_collection_describe, collection.get(), &json);
    EXPECT_TRUE(outcome.ok()) << outcome;
    const abi_test::Buffer owned(json);
    return outcome.ok() ? nlohmann::json::parse(abi_test::Text(json)) : nlohmann::json();
  }
  static uint64_t CountOf(const abi_test::Collection& collection) {
    uint64_t count = 0;
    const Outcome outcome = abi_test::Count(collection.get(), &count);
    EXPECT_TRUE(outcome.ok()) << outcome;
    return count;
  }

  abi_test::Client client_;
  abi_test::Collection docs_;
};

TEST_F(CollectionsAbi, AreFoundByIdInWhateverDatabaseTheyAre) {
  ASSERT_TRUE(Try(pigment_client_create_tenant, client_.get(), "other", size_t{5}).ok());
  ASSERT_TRUE(
      Try(pigment_client_create_database, client_.get(), "other", size_t{5}, "place", size_t{5})
          .ok());
  auto scope = Sized<pigment_scope>();
  scope.tenant = "other";
  scope.tenant_size = 5;
  scope.database = "place";
  scope.database_size = 5;
  const pigment_scope* const there = &scope;
  pigment_collection* raw = nullptr;
  ASSERT_TRUE(Try(pigment_client_create_collection, client_.get(), there, "docs", size_t{4},
                  static_cast<const pigment_collection_options*>(nullptr), &raw)
                  .ok());
  const abi_test::Collection far(raw);
  for (const auto& one : {std::cref(docs_), std::cref(far)}) {
    const std::string id = Describe(one).at("id");
    ASSERT_TRUE(Try(pigment_client_get_collection_by_id, client_.get(), id.data(), id.size(),
                    kNoFunction, &raw)
                    .ok());
    const abi_test::Collection found(raw);
    EXPECT_EQ(Describe(found), Describe(one));
  }
  const std::string nobody = "00000000-0000-4000-8000-000000000000";
  EXPECT_EQ(Try(pigment_client_get_collection_by_id, client_.get(), nobody.data(), nobody.size(),
                kNoFunction, &raw)
                .status,
            PIGMENT_NOT_FOUND);
  EXPECT_EQ(raw, nullptr);
}

TEST_F(CollectionsAbi, ADeletedOneIsNotFoundByItsHandlesAndItsResultsStay) {
  abi_test::ResultHandle result;
  ASSERT_TRUE(abi_test::Get(docs_.get(), Sized<pigment_get_request>(), &result).ok());
  ASSERT_TRUE(
      Try(pigment_client_delete_collection, client_.get(), kNoScope, "docs", size_t{4}).ok());
  uint64_t count = 7;
  EXPECT_EQ(abi_test::Count(docs_.get(), &count).status, PIGMENT_NOT_FOUND);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(Try(pigment_collection_flush, docs_.get()).status, PIGMENT_NOT_FOUND);
  EXPECT_EQ(abi_test::Ids(result.get()), (std::vector<std::string>{"a", "b"}));
  // One of its name has nothing of it, and the old handle does not lead there.
  abi_test::Collection again;
  ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &again).ok());
  EXPECT_EQ(CountOf(again), 0u);
  EXPECT_EQ(abi_test::Count(docs_.get(), &count).status, PIGMENT_NOT_FOUND);
}

TEST_F(CollectionsAbi, AChangeIsMadeWholeOrNotAtAll) {
  abi_test::Collection twin, other;
  ASSERT_TRUE(abi_test::GetByName(client_.get(), "docs", &twin).ok());
  ASSERT_TRUE(abi_test::Create(client_.get(), "other", &other).ok());
  const nlohmann::json before = Describe(docs_);
  const std::string metadata = R"({"k":1})";
  const std::string wrong = R"({"hnsw":{"space":"ip"}})";  // cannot change
  auto change = Sized<pigment_modify_options>();
  const pigment_modify_options* const options = &change;
  change.metadata_json = metadata.data();
  change.metadata_json_size = metadata.size();
  change.name = "new";
  change.name_size = 3;
  change.configuration_json = wrong.data();
  change.configuration_json_size = wrong.size();
  EXPECT_EQ(Try(pigment_collection_modify, docs_.get(), options).status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(Describe(docs_), before);
  change.configuration_json = nullptr;
  change.configuration_json_size = 0;
  change.name = "other";
  change.name_size = 5;
  EXPECT_EQ(Try(pigment_collection_modify, docs_.get(), options).status, PIGMENT_ALREADY_EXISTS);
  EXPECT_EQ(Describe(docs_), before);

  const std::string right = R"({"hnsw":{"ef_search":77}})";
  change.configuration_json = right.data();
  change.configuration_json_size = right.size();
  change.name = "new";
  change.name_size = 3;
  ASSERT_TRUE(Try(pigment_collection_modify, docs_.get(), options).ok());
  const nlohmann::json after = Describe(twin);  // a handle that was open before
  EXPECT_EQ(after.at("name"), "new");
  EXPECT_EQ(after.at("id"), before.at("id"));
  EXPECT_EQ(after.at("metadata").at("k"), 1);
  EXPECT_EQ(after.at("configuration").at("hnsw").at("ef_search"), 77);
  EXPECT_EQ(CountOf(twin), 2u);
  abi_test::Collection gone;
  EXPECT_EQ(abi_test::GetByName(client_.get(), "docs", &gone).status, PIGMENT_NOT_FOUND);
}

TEST_F(CollectionsAbi, AHandleThatIsFreedLeavesTheCollection) {
  docs_.reset();
  abi_test::Collection again;
  ASSERT_TRUE(abi_test::GetByName(client_.get(), "docs", &again).ok());
  EXPECT_EQ(CountOf(again), 2u);
}

TEST_F(CollectionsAbi, RowsOfAResultAreThoseOfAllItsQueries) {
  const std::vector<float> questions{1, 0, 0, 1, 1, 1};
  abi_test::ResultHandle result;
  ASSERT_TRUE(abi_test::Query(docs_.get(), abi_test::QueryFor(questions, 2, 1), &result).ok());
  EXPECT_EQ(pigment_result_query_count(result.get()), 3u);
  EXPECT_EQ(pigment_result_row_count(result.get()), 3u);
}

TEST_F(CollectionsAbi, WhatWasPassedInMayBeOverwrittenAfterTheCall) {
  std::string ids = "xy", documents = "first", metadatas = R"({"n":5})", uris = "file:";
  std::vector<int64_t> one_each{0, 1, 2}, document_ends{0, 5, 5}, metadata_ends{0, 7, 7},
      uri_ends{0, 5, 5};
  std::vector<uint8_t> first_alone{1};
  std::vector<float> values{0.25f, 0.5f, 2, 4};
  auto records = Sized<pigment_records>();
  records.count = 2;
  records.ids = {one_each.data(), ids.data(), nullptr};
  records.documents = {document_ends.data(), documents.data(), first_alone.data()};
  records.metadatas = {metadata_ends.data(), metadatas.data(), first_alone.data()};
  records.uris = {uri_ends.data(), uris.data(), first_alone.data()};
  records.embeddings = {values.data(), 2, 2, 0, PIGMENT_F32};
  std::string name = "fresh", about = R"({"about":"x"})", where = R"({"n":5})";
  auto options = Sized<pigment_collection_options>();
  options.metadata_json = about.data();
  options.metadata_json_size = about.size();
  pigment_collection* raw = nullptr;
  ASSERT_TRUE(Try(pigment_client_create_collection, client_.get(), kNoScope, name.data(),
                  name.size(), const_cast<const pigment_collection_options*>(&options), &raw)
                  .ok());
  const abi_test::Collection fresh(raw);
  ASSERT_TRUE(Try(pigment_collection_add, fresh.get(), const_cast<const pigment_records*>(&records),
                  abi_test::kNoOptions, static_cast<pigment_write_result*>(nullptr))
                  .ok());
  auto request = Sized<pigment_get_request>();
  request.where_json = where.data();
  request.where_json_size = where.size();
  request.include = PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS | PIGMENT_INCLUDE_URIS |
                    PIGMENT_INCLUDE_EMBEDDINGS;
  abi_test::ResultHandle result;
  ASSERT_TRUE(abi_test::Get(fresh.get(), request, &result).ok());
  for (std::string* const text : {&ids, &documents, &metadatas, &uris, &name, &about, &where})
    std::memset(text->data(), '~', text->size());
  for (auto* const ends : {&one_each, &document_ends, &metadata_ends, &uri_ends})
    std::fill(ends->begin(), ends->end(), INT64_MAX);
  std::fill(values.begin(), values.end(), -1.0f);
  first_alone[0] = 0;
  std::memset(&records, 0xFF, sizeof records);
  std::memset(&options, 0xFF, sizeof options);
  std::memset(&request, 0xFF, sizeof request);

  EXPECT_EQ(Describe(fresh).at("name"), "fresh");
  EXPECT_EQ(Describe(fresh).at("metadata").at("about"), "x");
  const auto expect_first_record = [](const pigment_result* found) {
    pigment_text_column column{};
    size_t dimension = 0;
    ASSERT_EQ(abi_test::Ids(found).front(), "x");
    ASSERT_TRUE(pigment_result_documents(found, &column));
    EXPECT_EQ(abi_test::Text(column, 0), "first");
    ASSERT_TRUE(pigment_result_metadatas(found, &column));
    EXPECT_EQ(abi_test::Text(column, 0), R"({"n":5})");
    ASSERT_TRUE(pigment_result_uris(found, &column));
    EXPECT_EQ(abi_test::Text(column, 0), "file:");
    EXPECT_EQ(pigment_result_embeddings(found, &dimension)[1], 0.5f);
  };
  expect_first_record(result.get());  // got before
  auto all = Sized<pigment_get_request>();
  all.include = PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS | PIGMENT_INCLUDE_URIS |
                PIGMENT_INCLUDE_EMBEDDINGS;
  ASSERT_TRUE(abi_test::Get(fresh.get(), all, &result).ok());
  ASSERT_EQ(abi_test::Ids(result.get()), (std::vector<std::string>{"x", "y"}));
  expect_first_record(result.get());
}

}  // namespace
