// SPDX-License-Identifier: Apache-2.0
//
// Schemas: what each says, what is refused, and that what is printed reads back equal.

#include "engine/record/schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "engine/record/metadata_path.h"
#include "tests/support/json.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

using nlohmann::json;

Result<Schema> ParseAsSchema(std::string_view text) {
  return ParseSchema(text, nullptr, std::nullopt);
}

std::string Printed(const Schema& schema) {
  return PrintSchema(schema.rules, schema.configuration.json).value();
}

// {"keys": {KEY: {TYPE: {INDEX: {"enabled": ENABLED, "config": {}}}}}}
std::string OfKey(const std::string& key, const std::string& type, const std::string& index,
                  bool enabled) {
  return json{
      {"keys", {{key, {{type, {{index, {{"enabled", enabled}, {"config", json::object()}}}}}}}}}}
      .dump();
}
std::string OfDefaults(const std::string& type, const std::string& index, bool enabled) {
  return json{{"defaults", {{type, {{index, {{"enabled", enabled}}}}}}}}.dump();
}

TEST(Schema, WithoutAWordEverythingIsIndexedAsInChroma) {
  for (const char* text : {"{}", R"({"defaults":{},"keys":{}})", R"({"keys":{"a":{}}})"}) {
    const auto schema = ParseAsSchema(text);
    ASSERT_OK(schema);
    EXPECT_EQ(schema->rules.IndexedOf("a"), kAllValues);
    EXPECT_TRUE(schema->rules.full_text);
    EXPECT_EQ(schema->configuration.json, ParseConfiguration({}, nullptr, {})->json);
  }
  EXPECT_EQ(json::parse(Printed(*ParseAsSchema("{}"))), json::parse(R"({
    "defaults": {
      "string": {"fts_index": {"enabled": false, "config": {}}, "string_inverted_index": {"enabled": true, "config": {}}},
      "float_list": {"vector_index": {"enabled": false, "config": {"space": "l2", "hnsw": {
          "ef_construction": 100, "ef_search": 100, "max_neighbors": 16, "batch_size": 100, "sync_threshold": 1000,
          "resize_factor": 1.2}}}},
      "sparse_vector": {"sparse_vector_index": {"enabled": false, "config": {"bm25": false}}},
      "int": {"int_inverted_index": {"enabled": true, "config": {}}},
      "float": {"float_inverted_index": {"enabled": true, "config": {}}},
      "bool": {"bool_inverted_index": {"enabled": true, "config": {}}}},
    "keys": {
      "#document": {"string": {"fts_index": {"enabled": true, "config": {}}, "string_inverted_index": {"enabled": false, "config": {}}}},
      "#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"space": "l2", "source_key": "#document", "hnsw": {
          "ef_construction": 100, "ef_search": 100, "max_neighbors": 16, "batch_size": 100, "sync_threshold": 1000,
          "resize_factor": 1.2}}}}}}})"));
}

TEST(Schema, KeysOverrideDefaultsTypeByType) {
  const auto schema = ParseAsSchema(R"({
    "defaults": {"string": {"string_inverted_index": {"enabled": false, "config": {}}}, "bool": {"bool_inverted_index": {"enabled": false}}},
    "keys": {"a": {"string": {"string_inverted_index": {"enabled": true, "config": {}}}},
             "b": {"int": {"int_inverted_index": {"enabled": false, "config": {}}}, "float": null},
             "#document": {"string": {"fts_index": {"enabled": false, "config": {}}}}}})");
  ASSERT_OK(schema);
  EXPECT_EQ(schema->rules.IndexedOf("other"), kIntValues | kFloatValues);
  EXPECT_EQ(schema->rules.IndexedOf("a"), kStringValues | kIntValues | kFloatValues);
  EXPECT_EQ(schema->rules.IndexedOf("b"), kFloatValues);
  EXPECT_FALSE(schema->rules.full_text);
}

TEST(Schema, TheVectorIndexIsAConfiguration) {
  const auto schema = ParseAsSchema(
      R"({"keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {
      "space": "cosine", "source_key": "#document", "embedding_function": {"type": "legacy"},
      "hnsw": {"ef_search": 50, "num_threads": null}}}}}}})");
  ASSERT_OK(schema);
  EXPECT_EQ(schema->configuration.metric, Metric::kCosine);
  EXPECT_EQ(schema->configuration.index.search_width, 50u);
  const auto spann = ParseAsSchema(
      R"({"defaults": {"float_list": {"vector_index": {"enabled": false, "config": {"spann": {"search_nprobe": 9}}}}}})");
  ASSERT_OK(spann);
  EXPECT_EQ(spann->configuration.index.kind, IndexKind::kSpann);
  const auto halves = ParseAsSchema(
      R"({"keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"space": "ip", "full_vectors": "f16"}}}}}})");
  ASSERT_OK(halves);
  EXPECT_EQ(halves->configuration.vector_element, VectorElement::kF16);
  EXPECT_EQ(halves->configuration.metric, Metric::kIp);
  EXPECT_EQ(ParseSchema("{}", nullptr, "ip")->configuration.metric, Metric::kIp);
}

std::string OfDocuments(bool enabled, const std::string& config) {
  return fmt::format(
      R"({{"keys": {{"#document": {{"string": {{"fts_index": {{"enabled": {}, "config": {}}}}}}}}}}})",
      enabled, config);
}

TEST(Schema, RankedTextIsAConfiguration) {
  const auto schema = ParseAsSchema(OfDocuments(
      true,
      R"({"text_index": {"analyzer": {"language": "english", "stop_words": ["fox"]}, "b": 0.5}})"));
  ASSERT_OK(schema);
  ASSERT_TRUE(schema->configuration.text_index.has_value());
  EXPECT_EQ(schema->configuration.text_index->analyzer.language, "english");
  EXPECT_EQ(schema->configuration.text_index->b, 0.5);
  EXPECT_EQ(json::parse(Printed(*schema))["keys"]["#document"]["string"]["fts_index"],
            json::parse(R"(
      {"enabled": true, "config": {"text_index": {"analyzer": {"language": "english", "stop_words": ["fox"]}, "k1": 1.2, "b": 0.5}}})"));
  EXPECT_EQ(schema->rules.json.find("text_index"), std::string::npos);  // is in the configuration
  for (const char* none : {"{}", R"({"text_index": null})"}) {
    const auto without = ParseAsSchema(OfDocuments(true, none));
    ASSERT_OK(without);
    EXPECT_FALSE(without->configuration.text_index.has_value());
    EXPECT_EQ(Printed(*without), Printed(*ParseAsSchema("{}")));
  }
}

TEST(Schema, NestedMetadataFollowsTheKeyAtTheTop) {
  const auto schema = ParseAsSchema(
      R"({"keys": {"a": {"int": {"int_inverted_index": {"enabled": false}}}}, "nested_metadata": true})");
  ASSERT_OK(schema);
  EXPECT_TRUE(schema->configuration.nested_metadata);
  EXPECT_FALSE(ParseAsSchema(R"({"nested_metadata": false})")->configuration.nested_metadata);
  EXPECT_EQ(schema->rules.IndexedOf(*StoredKeyOf("$/a/b/c")), kAllValues & ~kIntValues);
  EXPECT_EQ(schema->rules.IndexedOf(*StoredKeyOf("$/b/a")), kAllValues);
}

TEST(Schema, WhatIsPrintedReadsBackEqual) {
  for (
      const std::string& text :
      {std::string("{}"), OfDefaults("string", "string_inverted_index", false),
       OfDefaults("int", "int_inverted_index", false),
       OfKey("a \"b\"", "bool", "bool_inverted_index", false),
       OfKey("a", "string", "fts_index", false), OfKey("#document", "string", "fts_index", false),
       OfDocuments(true, R"({"text_index": {}})"),
       OfDocuments(true, R"({"text_index": {"analyzer": {"stop_words": ["a\"b"]}}})"),
       OfDocuments(false, R"({"text_index": null})"),
       std::string(
           R"({"keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"space": "ip"}}}},
            "#document": {"string": {"fts_index": {"enabled": true, "config": {"text_index": {"k1": 0.0}}}}}}})"),
       std::string(R"({"keys": {"a": {}}})"), std::string(R"({"nested_metadata": true})"),
       std::string(
           R"({"nested_metadata": true, "keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"space": "ip"}}}}}})"),
       std::string(
           R"({"keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {
            "space": "cosine", "spann": {"search_nprobe": 9}, "full_vectors": "f16"}}}}}})")}) {
    const auto schema = ParseAsSchema(text);
    ASSERT_OK(schema);
    const std::string printed = Printed(*schema);
    const auto again = ParseAsSchema(printed);
    ASSERT_OK(again);
    EXPECT_EQ(Printed(*again), printed) << text;
    EXPECT_EQ(again->rules.json, schema->rules.json);
    EXPECT_EQ(again->configuration.json, schema->configuration.json);
    const auto stored = ReadStoredRules(schema->rules.json);
    ASSERT_OK(stored);
    EXPECT_EQ(PrintSchema(**stored, schema->configuration.json).value(), printed);
  }
}

TEST(Schema, TheGuideShowsASchema) {
  std::ifstream file(std::string(PIGMENT_SOURCE_DIR) + "/docs/schema.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string guide = text.str();
  const size_t begin = guide.find("```json") + 7;
  const auto schema = ParseAsSchema(guide.substr(begin, guide.find("```", begin) - begin));
  ASSERT_OK(schema);
  EXPECT_EQ(schema->rules.IndexedOf("title"), kAllValues & ~kStringValues);
  EXPECT_EQ(schema->rules.IndexedOf("other"), kAllValues);
}

struct SchemaRefusal {
  std::string text;
  const char* message;
};

TEST(Schema, RefusalsNameThePlace) {
  const std::string sparse = OfKey("s", "sparse_vector", "sparse_vector_index", true);
  EXPECT_EQ(ParseAsSchema(sparse).status().code(), Code::kUnimplemented);
  EXPECT_EQ(
      ParseAsSchema(sparse).status().message(),
      R"(schema: keys["s"].sparse_vector.sparse_vector_index: sparse vectors are not supported)");
  for (
      const SchemaRefusal& refusal : {
          SchemaRefusal{"[]", "schema: expected an object, got an empty list"},
          {R"({"a": 1})",
           R"(schema: unknown member "a", expected defaults, keys or nested_metadata)"},
          {R"({"cmek": {"gcp": "x"}})",
           R"(schema: unknown member "cmek", expected defaults, keys or nested_metadata)"},
          {R"({"nested_metadata": 1})", "schema: nested_metadata: takes true or false, got 1"},
          {R"({"defaults": 1})", "schema: defaults: expected an object, got 1"},
          {R"({"keys": {"a": {"int": {}, "int": {}}}})",
           R"(schema: "keys"."a": has the key "int" twice in one object)"},
          {R"({"keys": {}, "keys": {}})", R"(schema has the key "keys" twice in one object)"},
          {R"({"defaults": {"int": {"int_inverted_index": {"enabled": 1e999}}}})",
           R"(schema: "defaults"."int"."int_inverted_index"."enabled": has a number beyond double: 1e999)"},
          {R"({"keys": {"a": [}})",
           R"(schema: "keys"."a"[0]: is not valid JSON at byte 17, near "\"a\": [}")"},
          {R"({"defaults": {"list": {}}})",
           R"(schema: defaults: unknown type of values "list", expected string, int, float, bool, float_list or sparse_vector)"},
          {R"({"defaults": {"int": 1}})", "schema: defaults.int: expected an object, got 1"},
          {R"({"defaults": {"int": {"float_inverted_index": {"enabled": true}}}})",
           R"(schema: defaults.int: no such index of this type: "float_inverted_index")"},
          {R"({"defaults": {"int": {"int_inverted_index": true}}})",
           "schema: defaults.int.int_inverted_index: expected an object, got true"},
          {R"({"defaults": {"int": {"int_inverted_index": {}}}})",
           "schema: defaults.int.int_inverted_index: enabled is missing"},
          {R"({"defaults": {"int": {"int_inverted_index": {"enabled": 1}}}})",
           "schema: defaults.int.int_inverted_index: enabled takes true or false, got 1"},
          {R"({"defaults": {"int": {"int_inverted_index": {"enabled": true, "config": {"x": 1}}}}})",
           R"(schema: defaults.int.int_inverted_index: its config takes no members, got "x")"},
          {R"({"defaults": {"int": {"int_inverted_index": {"enabled": true, "size": 1}}}})",
           R"(schema: defaults.int.int_inverted_index: unknown member "size", expected enabled or config)"},
          {OfDefaults("string", "fts_index", true),
           R"(schema: defaults.string: the full-text index is enabled on "#document" alone)"},
          {OfKey("a", "string", "fts_index", true),
           R"(schema: keys["a"].string: the full-text index is enabled on "#document" alone)"},
          {R"({"keys": {"a": {"string": {"fts_index": {"enabled": false, "config": {"text_index": {}}}}}}})",
           R"(schema: keys["a"].string.fts_index: its config takes no members, got "text_index")"},
          {R"({"defaults": {"string": {"fts_index": {"enabled": false, "config": {"text_index": {}}}}}})",
           R"(schema: defaults.string.fts_index: its config takes no members, got "text_index")"},
          {OfDocuments(false, R"({"text_index": {}})"),
           R"(schema: keys["#document"].string.fts_index: documents are not ranked (text_index) where their index is disabled)"},
          {OfDocuments(true, R"({"words": {}})"),
           R"(schema: keys["#document"].string.fts_index: config has an unknown member "words", expected text_index)"},
          {OfDocuments(true, R"({"text_index": true})"),
           R"(schema: keys["#document"].string.fts_index: text_index must be an object or null, got true)"},
          {OfDocuments(true, R"({"text_index": {"b": 2}})"),
           R"(schema: keys["#document"].string.fts_index: text_index b takes a number of 0 to 1, got 2)"},
          {OfDefaults("float_list", "vector_index", true),
           R"(schema: defaults.float_list: the vector index is enabled on "#embedding" alone)"},
          {OfKey("a", "float_list", "vector_index", true),
           R"(schema: keys["a"].float_list: the vector index must be configured globally, not on a key)"},
          {OfKey("#embedding", "float_list", "vector_index", false),
           R"(schema: keys["#embedding"]: the vector index cannot be disabled)"},
          {R"({"keys": {"#embedding": {"float_list": {}}}})",
           R"(schema: keys["#embedding"].float_list: vector_index is missing)"},
          {OfKey("#embedding", "string", "string_inverted_index", false),
           R"(schema: keys["#embedding"]: embeddings are float_list, got "string")"},
          {OfKey("#document", "int", "int_inverted_index", false),
           R"(schema: keys["#document"]: documents are strings, got "int")"},
          {OfKey("#document", "string", "string_inverted_index", true),
           R"(schema: keys["#document"]: documents have no inverted index, only a full-text index)"},
          {OfKey("#id", "string", "string_inverted_index", false),
           R"(schema: keys["#id"]: of special keys only "#document" and "#embedding" have indexes)"},
          {OfKey("$a", "string", "string_inverted_index", false),
           R"(schema: keys["$a"]: of special keys only "#document" and "#embedding" have indexes)"},
          {OfKey("", "string", "string_inverted_index", false),
           R"(schema: keys[""]: no such key of metadata)"},
          {OfKey("a", "list", "x", false),
           R"(schema: keys["a"]: unknown type of values "list", expected string, int, float, bool, float_list or sparse_vector)"},
          {OfKey("s", "sparse_vector", "sparse_vector_index", false),
           R"(schema: keys["s"].sparse_vector: a sparse vector index cannot be disabled)"},
          {R"({"keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"hnsw": {}, "spann": {}}}}}}})",
           R"(schema: keys["#embedding"].float_list.vector_index: hnsw and spann cannot both be given)"},
          {R"({"keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"space": "foo"}}}}}})",
           R"(schema: keys["#embedding"].float_list.vector_index: unknown space "foo", expected one of l2, cosine, ip)"},
          {R"({"keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"hnsw": {"foo": 1}}}}}}})",
           R"(schema: keys["#embedding"].float_list.vector_index: unknown hnsw parameter "foo")"},
          {R"({"keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"hnsw": {"space": "l2"}}}}}}})",
           R"(schema: keys["#embedding"].float_list.vector_index.hnsw: space belongs to the config of the vector index)"},
          {R"({"keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"hnsw": {"ef_search": "x"}}}}}}})",
           R"(schema: keys["#embedding"].float_list.vector_index.hnsw: "ef_search" takes a number, got "x")"},
          {R"({"keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"source_key": "a"}}}}}})",
           R"(schema: keys["#embedding"].float_list.vector_index: source_key takes "#document" alone, got "a")"},
          {R"({"keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"embedding_function": {"type": "known"}}}}}}})",
           R"(schema: keys["#embedding"].float_list.vector_index: an embedding function is given with the collection, not in its schema)"},
          {R"({"keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"size": 1}}}}}})",
           R"(schema: keys["#embedding"].float_list.vector_index: config has an unknown member or a wrong value: "size": 1)"},
          {R"({"defaults": {"float_list": {"vector_index": {"enabled": false, "config": {"space": "l2"}}}},
                "keys": {"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"space": "ip"}}}}}})",
           R"(schema: keys["#embedding"].float_list.vector_index: config differs from that of the other vector index)"},
      }) {
    const auto schema = ParseAsSchema(refusal.text);
    ASSERT_FALSE(schema.ok()) << refusal.text;
    EXPECT_EQ(schema.status().code(), Code::kInvalidArgument) << refusal.text;
    EXPECT_EQ(schema.status().message(), refusal.message) << refusal.text;
  }
}

TEST(Schema, ALimitThatIsCrossedIsNamedWithThePlace) {
  const std::string words(257, 'x');
  const Status status =
      ParseAsSchema(
          OfDocuments(true, R"({"text_index": {"analyzer": {"stop_words": [")" + words + "\"]}}}"))
          .status();
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_EQ(status.detail(), Detail::kLimit);
  EXPECT_TRUE(status.message().starts_with(R"(schema: keys["#document"].string.fts_index: )"));
  EXPECT_TRUE(status.message().ends_with("(limit stop_word_bytes: 256)")) << status.message();
}

TEST(Schema, WhatIsStoredAndCannotBeReadIsDamage) {
  EXPECT_EQ(*ReadStoredRules(""), nullptr);
  EXPECT_CODE(ReadStoredRules("{").status(), Code::kDataLoss);
  EXPECT_CODE(ReadStoredRules(R"({"keys": {"#id": {}}})").status(), Code::kDataLoss);
  EXPECT_OK(ReadStoredRules(R"({"keys":{}})"));
}

}  // namespace
}  // namespace pigment
