// SPDX-License-Identifier: Apache-2.0
//
// Nested metadata through the interface: asked for at creation, kept by reopening, forks and
// backups, refused elsewhere; and a million levels.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/json.h"
#include "tests/support/temporary_directory.h"

namespace {

using abi_test::kNoOptions;
using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;
using nlohmann::json;

constexpr std::string_view kNested = R"({"nested_metadata":true})";

class NestedMetadataAbi : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(abi_test::Open(folder_ / "db", &client_).ok());
    ASSERT_TRUE(Make("docs", kNested, &docs_).ok());
  }
  Outcome Make(std::string_view name, std::string_view configuration,
               abi_test::Collection* collection) {
    auto options = Sized<pigment_collection_options>();
    options.configuration_json = configuration.data();
    options.configuration_json_size = configuration.size();
    return abi_test::Create(client_.get(), name, collection, &options);
  }
  abi_test::Collection Named(const abi_test::Client& client, const std::string& name) {
    abi_test::Collection collection;
    const Outcome outcome = abi_test::GetByName(client.get(), name, &collection);
    EXPECT_TRUE(outcome.ok()) << outcome;
    return collection;
  }
  Outcome Write(abi_test::WriteFunction function, const abi_test::Collection& collection,
                const std::string& id, const std::string& metadata) {
    abi_test::Batch batch;
    batch.ids.Add(id);
    batch.values = {1};
    batch.dimension = 1;
    batch.metadatas.emplace().Add(metadata);
    return abi_test::Write(function, collection.get(), batch);
  }
  Outcome Read(const abi_test::Collection& collection, const std::string& where,
               const std::string& order, abi_test::ResultHandle* result) {
    auto request = Sized<pigment_get_request>();
    request.where_json = where.data();
    request.where_json_size = where.size();
    request.order_by_json = order.data();
    request.order_by_json_size = order.size();
    return abi_test::Get(collection.get(), request, result);
  }
  std::vector<std::string> Ids(const abi_test::Collection& collection, const std::string& where,
                               const std::string& order = "[]") {
    abi_test::ResultHandle result;
    const Outcome outcome = Read(collection, where, order, &result);
    EXPECT_TRUE(outcome.ok()) << outcome;
    return abi_test::Ids(result.get());
  }
  std::string MetadataOf(const abi_test::Collection& collection, const std::string& id) {
    abi_test::ResultHandle result;
    EXPECT_TRUE(Read(collection, R"({"#id":")" + id + "\"}", "[]", &result).ok());
    pigment_text_column column{};
    EXPECT_TRUE(pigment_result_metadatas(result.get(), &column));
    return abi_test::Has(column, 0) ? abi_test::Text(column, 0) : "none";
  }
  void AddThree() {
    ASSERT_TRUE(
        Write(pigment_collection_add, docs_, "a", R"({"size":{"w":2,"h":3},"t":"x"})").ok());
    ASSERT_TRUE(Write(pigment_collection_add, docs_, "b", R"({"size":{"w":1.5},"t":"y"})").ok());
    ASSERT_TRUE(Write(pigment_collection_add, docs_, "c", R"({"size":7})").ok());
  }
  void ExpectThree(const abi_test::Collection& docs) {
    using Found = std::vector<std::string>;
    EXPECT_EQ(Ids(docs, R"({"$/size/w":{"$gt":1.6}})"), Found{"a"});
    EXPECT_EQ(Ids(docs, R"({"$/size":{"$exists":true}})"), (Found{"a", "b", "c"}));
    EXPECT_EQ(Ids(docs, R"({"size":{"$gte":0}})"), Found{"c"});
    EXPECT_EQ(Ids(docs, R"({"$/size/h":{"$exists":false}})"), (Found{"b", "c"}));
    EXPECT_EQ(Ids(docs, R"({"$/t":"y"})"), Found{"b"});
    EXPECT_EQ(Ids(docs, "null", R"([{"key":"$/size/w"}])"), (Found{"b", "a", "c"}));
    EXPECT_EQ(MetadataOf(docs, "a"), R"({"size":{"h":3,"w":2},"t":"x"})");
  }

  pigment::TemporaryDirectory folder_;
  abi_test::Client client_;
  abi_test::Collection docs_;
};

TEST_F(NestedMetadataAbi, IsKeptByFlushesForksBackupsAndReopening) {
  AddThree();
  ExpectThree(docs_);
  ASSERT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
  ExpectThree(docs_);
  pigment_collection* raw = nullptr;
  ASSERT_TRUE(Try(pigment_collection_fork, docs_.get(), "fork", size_t{4}, &raw).ok());
  const abi_test::Collection fork(raw);
  ExpectThree(fork);
  EXPECT_TRUE(Write(pigment_collection_add, fork, "d", R"({"e":{"f":1}})").ok());
  pigment_buffer* summary = nullptr;
  const std::string copy = folder_ / "copy";
  ASSERT_TRUE(
      Try(pigment_client_backup, client_.get(), copy.data(), copy.size(), kNoOptions, &summary)
          .ok());
  pigment_buffer_free(summary);
  abi_test::Client other;
  ASSERT_TRUE(abi_test::Open(copy, &other).ok());
  ExpectThree(Named(other, "docs"));
  docs_.reset();
  ASSERT_TRUE(Try(pigment_client_close, client_.get()).ok());
  client_.reset();
  ASSERT_TRUE(abi_test::Open(folder_ / "db", &client_).ok());
  docs_ = Named(client_, "docs");
  ExpectThree(docs_);
  EXPECT_TRUE(
      Write(pigment_collection_update, docs_, "a", R"({"size":{"w":null,"h":{"mm":3}}})").ok());
  EXPECT_EQ(MetadataOf(docs_, "a"), R"({"size":{"h":{"mm":3}},"t":"x"})");
  EXPECT_TRUE(Write(pigment_collection_upsert, docs_, "a", R"({"size":{"h":{"mm":null}}})").ok());
  EXPECT_EQ(MetadataOf(docs_, "a"), R"({"t":"x"})");
}

TEST_F(NestedMetadataAbi, FacetsTakePaths) {
  AddThree();
  const abi_test::Texts keys{"$/size/w", "size", "$/t"};
  auto request = Sized<pigment_facets_request>();
  request.keys_count = keys.size();
  request.keys = keys.column();
  const pigment_facets_request* const given = &request;
  pigment_buffer* raw = nullptr;
  const Outcome outcome = Try(pigment_collection_facets, docs_.get(), given, kNoOptions, &raw);
  ASSERT_TRUE(outcome.ok()) << outcome;
  const abi_test::Buffer facets(raw);
  EXPECT_EQ(json::parse(abi_test::Text(facets.get())), json::parse(R"({
    "$/size/w": [{"value": 1.5, "count": 1}, {"value": 2, "count": 1}],
    "size": [{"value": 7, "count": 1}],
    "$/t": [{"value": "x", "count": 1}, {"value": "y", "count": 1}]})"));
}

TEST_F(NestedMetadataAbi, OtherCollectionsRefuseObjectsAndPaths) {
  abi_test::Collection flat;
  ASSERT_TRUE(Make("flat", "{}", &flat).ok());
  const Outcome object = Write(pigment_collection_add, flat, "a", R"({"a":{"b":1}})");
  EXPECT_EQ(object.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(object.message,
            "metadata key \"a\": expected a string, integer, float, bool or a list of these, got "
            "an object with the key \"b\"");
  abi_test::ResultHandle result;
  const Outcome where = Read(flat, R"({"$and":[{"t":1},{"$not":{"$/a/b":1}}]})", "[]", &result);
  EXPECT_EQ(where.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(where.detail, PIGMENT_DETAIL_FILTER);
  EXPECT_EQ(where.message,
            "where: $and[1].$not.\"$/a/b\": a path is for collections whose configuration has "
            "\"nested_metadata\": true");
  EXPECT_EQ(Read(flat, R"({"$/t":1})", "[]", &result).message,
            "where: \"$/t\": a path is for collections whose configuration has "
            "\"nested_metadata\": true");
  EXPECT_EQ(Read(flat, "null", R"([{"key":"$/a/b"}])", &result).message,
            "order_by: key \"$/a/b\": a path is for collections whose configuration has "
            "\"nested_metadata\": true");
}

TEST_F(NestedMetadataAbi, AMillionLevelsGoThroughLogAndSegments) {
  constexpr int kLevels = 1000000;
  std::string metadata, path = "$";
  for (int i = 0; i < kLevels; ++i) {
    metadata += R"({"a":)";
    path += "/a";
  }
  metadata += "1" + std::string(kLevels, '}');
  ASSERT_TRUE(Write(pigment_collection_add, docs_, "deep", metadata).ok());
  AddThree();
  for (const bool is_flushed : {false, true}) {
    if (is_flushed) {
      ASSERT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
    }
    EXPECT_EQ(MetadataOf(docs_, "deep"), metadata);
    EXPECT_EQ(Ids(docs_, R"({")" + path + R"(":1})"), std::vector<std::string>{"deep"});
    EXPECT_EQ(Ids(docs_, R"({"$/a/a":{"$exists":true}})"), std::vector<std::string>{"deep"});
    EXPECT_EQ(Ids(docs_, R"({")" + path + R"(/a":1})"), std::vector<std::string>{});
  }
  ASSERT_TRUE(Write(pigment_collection_update, docs_, "deep", R"({"a":{"a":null},"b":1})").ok());
  EXPECT_EQ(MetadataOf(docs_, "deep"), R"({"b":1})");
}

// Short as JSON, long as paths: refused before it takes the memory.
TEST_F(NestedMetadataAbi, ABatchOfLongPathsIsRefused) {
  std::string metadata, end;
  for (int i = 0; i < 7000; ++i) {
    metadata += R"({"v":1,"a":)";
    end += '}';
  }
  metadata += "1" + end;
  abi_test::Batch batch;
  batch.dimension = 1;
  batch.metadatas.emplace();
  for (int row = 0; row < 40; ++row) {
    batch.ids.Add("r" + std::to_string(row));
    batch.values.push_back(1);
    batch.metadatas->Add(metadata);
  }
  const Outcome outcome = abi_test::Write(pigment_collection_add, docs_.get(), batch);
  EXPECT_EQ(outcome.status, PIGMENT_RESOURCE_EXHAUSTED) << outcome;
  EXPECT_EQ(outcome.detail, PIGMENT_DETAIL_LIMIT);
}

}  // namespace
