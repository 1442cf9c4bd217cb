// SPDX-License-Identifier: Apache-2.0
//
// Filters, checks and configuration of the host interface, and the lexical embedding, through the
// public headers alone.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "pigment/pigment_host.h"

namespace {

using namespace std::string_view_literals;

// What a call said, freed.
struct Said {
  pigment_status status;
  int32_t detail;
  std::string message;
  std::string hint;
};

// By reference: the call that sets the error may be evaluated after its other arguments.
Said Take(pigment_status status, pigment_error*& error) {
  Said said{status, pigment_error_detail(error), pigment_error_message(error),
            pigment_error_hint(error)};
  EXPECT_EQ(status == PIGMENT_OK, error == nullptr);
  EXPECT_EQ(pigment_error_status(error), status);
  pigment_error_free(error);
  error = nullptr;
  return said;
}

Said Compile(std::string_view where, std::string_view where_document, pigment_filter** filter) {
  pigment_error* error = nullptr;
  const pigment_status status = pigment_filter_compile(
      where.data(), where.size(), where_document.data(), where_document.size(), filter, &error);
  return Take(status, error);
}

pigment_filter_record Record(std::string_view id, const char* metadata, std::string_view document,
                             const char* uri) {
  pigment_filter_record record{};
  record.struct_size = sizeof record;
  record.id = id.data();
  record.id_size = id.size();
  record.metadata_json = metadata;
  record.metadata_json_size = metadata == nullptr ? 0 : strlen(metadata);
  record.document = document.data();
  record.document_size = document.size();
  record.uri = uri;
  record.uri_size = uri == nullptr ? 0 : strlen(uri);
  return record;
}

bool Matches(std::string_view where, std::string_view where_document,
             const pigment_filter_record& record) {
  pigment_filter* filter = nullptr;
  EXPECT_EQ(Compile(where, where_document, &filter).status, PIGMENT_OK) << where;
  bool matches = false;
  pigment_error* error = nullptr;
  const Said said = Take(pigment_filter_matches(filter, &record, &matches, &error), error);
  EXPECT_EQ(said.status, PIGMENT_OK) << said.message;
  pigment_filter_free(filter);
  return matches;
}

TEST(HostFilter, MatchesRecordsOfTheHost) {
  const pigment_filter_record record =
      Record("id1", R"({"year": 2024, "tags": ["a", "b"], "score": 2.5})", "some\0text\xff"sv,
             "file:///x");
  EXPECT_TRUE(Matches(R"({"year": {"$gte": 2024}})", {}, record));
  EXPECT_FALSE(Matches(R"({"year": {"$gt": 2024}})", {}, record));
  EXPECT_TRUE(Matches(R"({"tags": {"$contains": "b"}})", {}, record));
  EXPECT_TRUE(Matches(R"({"#id": "id1"})", {}, record));
  EXPECT_TRUE(Matches(R"({"chroma:uri": "file:///x"})", {}, record));
  EXPECT_TRUE(Matches({}, R"({"$contains": "text"})", record));
  EXPECT_FALSE(Matches(R"({"year": 2024})", R"({"$contains": "Text"})", record));
  EXPECT_TRUE(Matches({}, {}, record));
  EXPECT_TRUE(Matches("null", "null", record));
}

TEST(HostFilter, AbsentFieldsAreAbsent) {
  pigment_filter_record record = Record({}, nullptr, {}, nullptr);
  EXPECT_FALSE(Matches(R"({"a": 1})", {}, record));
  EXPECT_TRUE(Matches(R"({"a": {"$ne": 1}})", {}, record));
  EXPECT_FALSE(Matches({}, R"({"$regex": "x*"})", record));
  EXPECT_TRUE(Matches({}, R"({"$not_contains": "x"})", record));
  record.document = "";
  EXPECT_TRUE(Matches({}, R"({"$regex": "x*"})", record));
  record.metadata_json = "null";
  record.metadata_json_size = 4;
  EXPECT_TRUE(Matches(R"({"a": {"$nin": [1]}})", {}, record));
  record.metadata_json = "{}";  // what deleting the last key leaves
  record.metadata_json_size = 2;
  EXPECT_TRUE(Matches(R"({"a": {"$nin": [1]}})", {}, record));
}

TEST(HostFilter, BadFiltersAreRefusedWithTheClause) {
  pigment_filter* filter = reinterpret_cast<pigment_filter*>(1);
  Said said = Compile(R"({"year": {"$gt": "x"}})", {}, &filter);
  EXPECT_EQ(said.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(said.detail, PIGMENT_DETAIL_FILTER);
  EXPECT_EQ(said.message,
            "where: \"year\": operator \"$gt\" takes an integer or a float, got \"x\"");
  EXPECT_EQ(filter, nullptr);
  said = Compile(R"({"a": 1, "b": 2})", {}, &filter);
  EXPECT_NE(said.hint.find("$and"), std::string::npos);
  said = Compile({}, R"({"$regex": "("})", &filter);
  EXPECT_EQ(said.detail, PIGMENT_DETAIL_FILTER);
  said = Compile("\xff", {}, &filter);
  EXPECT_EQ(said.status, PIGMENT_INVALID_ARGUMENT);
  said = Compile({}, std::string(R"({"$regex": ")") + std::string(70000, 'a') + "\"}", &filter);
  EXPECT_EQ(said.status, PIGMENT_RESOURCE_EXHAUSTED);
  EXPECT_EQ(said.detail, PIGMENT_DETAIL_LIMIT);
}

TEST(HostFilter, BadArgumentsAreErrors) {
  pigment_error* error = nullptr;
  EXPECT_EQ(Take(pigment_filter_compile(nullptr, 0, nullptr, 0, nullptr, &error), error).status,
            PIGMENT_INVALID_ARGUMENT);
  pigment_filter* filter = nullptr;
  EXPECT_EQ(Take(pigment_filter_compile(nullptr, 5, nullptr, 0, &filter, &error), error).status,
            PIGMENT_INVALID_ARGUMENT);
  ASSERT_EQ(pigment_filter_compile(nullptr, 0, nullptr, 0, &filter, nullptr), PIGMENT_OK);
  bool matches = true;
  pigment_filter_record record = Record("x", nullptr, {}, nullptr);
  EXPECT_EQ(Take(pigment_filter_matches(nullptr, &record, &matches, &error), error).status,
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_FALSE(matches);
  EXPECT_EQ(Take(pigment_filter_matches(filter, nullptr, &matches, &error), error).status,
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(Take(pigment_filter_matches(filter, &record, nullptr, &error), error).status,
            PIGMENT_INVALID_ARGUMENT);
  record.struct_size = 3;
  EXPECT_EQ(Take(pigment_filter_matches(filter, &record, &matches, &error), error).status,
            PIGMENT_INVALID_ARGUMENT);
  record = Record("x", nullptr, {}, nullptr);
  record.document_size = 4;
  EXPECT_EQ(Take(pigment_filter_matches(filter, &record, &matches, &error), error).status,
            PIGMENT_INVALID_ARGUMENT);
  pigment_filter_free(filter);
  pigment_filter_free(nullptr);
}

TEST(HostFilter, MetadataThatIsNoneIsAnErrorWhereItIsNeeded) {
  pigment_filter* filter = nullptr;
  ASSERT_EQ(Compile(R"({"a": 1})", {}, &filter).status, PIGMENT_OK);
  const pigment_filter_record record = Record("x", R"({"a": {"nested": 1}})", {}, nullptr);
  bool matches = true;
  pigment_error* error = nullptr;
  const Said said = Take(pigment_filter_matches(filter, &record, &matches, &error), error);
  EXPECT_EQ(said.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(said.detail, PIGMENT_DETAIL_METADATA);
  EXPECT_FALSE(matches);
  pigment_filter_free(filter);
}

TEST(HostChecks, NamesFollowTheRules) {
  const auto check = [](auto function, std::string_view name) {
    pigment_error* error = nullptr;
    return Take(function(name.data(), name.size(), &error), error);
  };
  EXPECT_EQ(check(pigment_check_collection_name, "docs").status, PIGMENT_OK);
  EXPECT_EQ(check(pigment_check_database_name, "a b").status, PIGMENT_OK);
  EXPECT_EQ(check(pigment_check_tenant_name, "abc").status, PIGMENT_OK);
  for (std::string_view bad : {"a"sv, "a..b"sv, "127.0.0.1"sv, "a+b"sv, "::1"sv}) {
    const Said said = check(pigment_check_collection_name, bad);
    EXPECT_EQ(said.status, PIGMENT_INVALID_ARGUMENT) << bad;
    EXPECT_EQ(said.detail, PIGMENT_DETAIL_NAME) << bad;
    EXPECT_NE(said.message.find(bad), std::string::npos) << said.message;
  }
  EXPECT_EQ(check(pigment_check_database_name, "ab").message,
            "database name must be at least 3 characters, got \"ab\"");
  EXPECT_EQ(check(pigment_check_tenant_name, "").status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(check(pigment_check_tenant_name, {}).status, PIGMENT_INVALID_ARGUMENT);
}

TEST(HostChecks, MetadataIsCheckedByUse) {
  const auto check = [](std::string_view json, int32_t use) {
    pigment_error* error = nullptr;
    return Take(pigment_check_metadata(json.data(), json.size(), use, &error), error);
  };
  EXPECT_EQ(check(R"({"a": [1, 2]})", PIGMENT_METADATA_NEW_RECORD).status, PIGMENT_OK);
  EXPECT_EQ(check(R"({"a": [1, 2]})", PIGMENT_METADATA_COLLECTION).detail, PIGMENT_DETAIL_METADATA);
  EXPECT_EQ(check(R"({"a": null})", PIGMENT_METADATA_MERGE_RECORD).status, PIGMENT_OK);
  EXPECT_EQ(check(R"({"a": null})", PIGMENT_METADATA_NEW_RECORD).detail, PIGMENT_DETAIL_METADATA);
  EXPECT_EQ(check("null", PIGMENT_METADATA_NEW_RECORD).status, PIGMENT_OK);
  EXPECT_EQ(check("{}", PIGMENT_METADATA_NEW_RECORD).message, "metadata must not be empty, got {}");
  constexpr int32_t kChange = PIGMENT_METADATA_COLLECTION_CHANGE;
  EXPECT_EQ(check(R"({"a": null, "b": 1})", kChange).status, PIGMENT_OK);
  EXPECT_EQ(check(R"({"a": [1, 2]})", kChange).detail, PIGMENT_DETAIL_METADATA);
  EXPECT_EQ(check("{}", kChange + 1).status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(check("{}", -1).status, PIGMENT_INVALID_ARGUMENT);
}

TEST(HostChecks, AConfigurationComesBackNormalised) {
  const auto check = [](std::string_view json, std::string_view metadata, std::string_view space,
                        std::string* text) {
    pigment_buffer* buffer = nullptr;
    int32_t metric = -1;
    pigment_error* error = nullptr;
    const Said said =
        Take(pigment_check_configuration(json.data(), json.size(), metadata.data(), metadata.size(),
                                         space.data(), space.size(), &buffer, &metric, &error),
             error);
    size_t size = 0;
    const char* data = pigment_buffer_data(buffer, &size);
    *text = said.status == PIGMENT_OK ? std::string(data, size) : said.message;
    pigment_buffer_free(buffer);
    return metric;
  };
  std::string text;
  EXPECT_EQ(check({}, {}, {}, &text), PIGMENT_METRIC_L2);
  EXPECT_NE(text.find(R"({"hnsw":{"space":"l2",)"), std::string::npos) << text;
  EXPECT_EQ(check({}, {}, "cosine", &text), PIGMENT_METRIC_COSINE);
  EXPECT_EQ(check({}, R"({"hnsw:space": "ip"})", "cosine", &text), PIGMENT_METRIC_IP);
  EXPECT_EQ(check(R"({"spann": {"space": "l2"}})", R"({"hnsw:space": "ip"})", "cosine", &text),
            PIGMENT_METRIC_L2);
  EXPECT_NE(text.find(R"("hnsw":null)"), std::string::npos) << text;
  EXPECT_EQ(check(R"({"hnsw": {"space": "foo"}})", {}, {}, &text), 0);
  EXPECT_EQ(text, "unknown space \"foo\", expected one of l2, cosine, ip");
  EXPECT_EQ(check(R"({"full_vectors": "f16"})", {}, {}, &text), 0);
  EXPECT_EQ(
      text,
      "full_vectors f16 is for the library's own collections: those of a host keep vectors in "
      "a column of the host's type");
  EXPECT_EQ(check(R"({"text_index": {"k1": 2}})", {}, {}, &text), PIGMENT_METRIC_L2);
  EXPECT_NE(text.find(R"("text_index":{"analyzer":{"language":"none","stop_words":false},"k1":2)"),
            std::string::npos)
      << text;
  EXPECT_EQ(check(R"({"nested_metadata": true})", {}, {}, &text), 0);
  EXPECT_EQ(text, "nested_metadata is for the library's own collections: that of a host is flat");
  EXPECT_EQ(check({}, "{}", {}, &text), 0);
  EXPECT_EQ(text, "metadata must not be empty, got {}");

  pigment_error* error = nullptr;
  int32_t metric = 1;
  EXPECT_EQ(Take(pigment_check_configuration(nullptr, 0, nullptr, 0, nullptr, 0, nullptr, &metric,
                                             &error),
                 error)
                .status,
            PIGMENT_INVALID_ARGUMENT);
}

TEST(HostChecks, ASchemaComesBackNormalisedWithItsConfiguration) {
  struct Checked {
    Said said;
    std::string schema;
    std::string configuration;
    int32_t metric = -1;
  };
  const auto check = [](std::string_view json, std::string_view metadata, std::string_view space) {
    Checked checked;
    pigment_buffer* schema = reinterpret_cast<pigment_buffer*>(1);
    pigment_buffer* configuration = reinterpret_cast<pigment_buffer*>(1);
    pigment_error* error = nullptr;
    const pigment_status status = pigment_check_schema(
        json.data(), json.size(), metadata.data(), metadata.size(), space.data(), space.size(),
        &schema, &configuration, &checked.metric, &error);
    checked.said = Take(status, error);
    if (status != PIGMENT_OK) {
      EXPECT_EQ(schema, nullptr);
      EXPECT_EQ(configuration, nullptr);
      return checked;
    }
    checked.schema = pigment_buffer_data(schema, nullptr);
    checked.configuration = pigment_buffer_data(configuration, nullptr);
    pigment_buffer_free(schema);
    pigment_buffer_free(configuration);
    return checked;
  };
  const Checked plain = check("{}", {}, "cosine");
  EXPECT_EQ(plain.said.status, PIGMENT_OK);
  EXPECT_EQ(plain.metric, PIGMENT_METRIC_COSINE);
  EXPECT_NE(plain.configuration.find(R"({"hnsw":{"space":"cosine",)"), std::string::npos);
  EXPECT_NE(plain.schema.find(R"("source_key":"#document")"), std::string::npos);
  const Checked again = check(plain.schema, R"({"hnsw:space": "ip"})", {});
  EXPECT_EQ(again.schema, plain.schema);
  EXPECT_EQ(again.configuration, plain.configuration);
  EXPECT_EQ(check(R"({"keys": {"#id": {}}})", {}, {}).said.message,
            "schema: keys[\"#id\"]: of special keys only \"#document\" and \"#embedding\" have "
            "indexes");
  EXPECT_EQ(check(R"({"keys":{"#embedding":{"float_list":{"vector_index":{"enabled":true,)"
                  R"("config":{"full_vectors":"f16"}}}}}})",
                  {}, {})
                .said.status,
            PIGMENT_UNIMPLEMENTED);
  EXPECT_NE(check(R"({"keys":{"#document":{"string":{"fts_index":{"enabled":true,)"
                  R"("config":{"text_index":{}}}}}}})",
                  {}, {})
                .configuration.find(R"("text_index":{"analyzer":{"language":"none")"),
            std::string::npos);
  EXPECT_EQ(check({}, {}, {}).said.status, PIGMENT_INVALID_ARGUMENT);
  pigment_error* error = nullptr;
  int32_t metric = 1;
  EXPECT_EQ(
      Take(pigment_check_schema("{}", 2, nullptr, 0, nullptr, 0, nullptr, nullptr, &metric, &error),
           error)
          .status,
      PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(metric, 0);
}

TEST(HostFilter, AFilterIsRefusedWhereTheSchemaHasNoIndex) {
  pigment_filter* filter = nullptr;
  ASSERT_EQ(Compile(R"({"$or": [{"m": 1}, {"$not": {"n": {"$gt": 1}}}]})", {}, &filter).status,
            PIGMENT_OK);
  const auto check = [](const pigment_filter* checked, std::string_view schema) {
    pigment_error* error = nullptr;
    const pigment_status status =
        pigment_filter_check_schema(checked, schema.data(), schema.size(), &error);
    return Take(status, error);
  };
  EXPECT_EQ(check(filter, "{}").status, PIGMENT_OK);
  const Said said =
      check(filter, R"({"keys":{"n":{"float":{"float_inverted_index":{"enabled":false}}}}})");
  EXPECT_EQ(said.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(said.detail, PIGMENT_DETAIL_FILTER);
  EXPECT_EQ(said.message,
            "where: $or[1].$not.\"n\": cannot filter by metadata key \"n\" with type float: its "
            "index is disabled in the schema");
  EXPECT_EQ(check(filter, "[]").status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(check(nullptr, "{}").status, PIGMENT_INVALID_ARGUMENT);
  pigment_filter_free(filter);
}

TEST(HostChecks, AConfigurationChangesOnlyWhereItMay) {
  const std::string_view current = R"({"hnsw":{"space":"ip"},"spann":null})";
  const auto update = [&](std::string_view change, std::string* text) {
    pigment_buffer* buffer = nullptr;
    pigment_error* error = nullptr;
    const Said said =
        Take(pigment_check_configuration_update(current.data(), current.size(), change.data(),
                                                change.size(), &buffer, &error),
             error);
    *text = said.status == PIGMENT_OK ? pigment_buffer_data(buffer, nullptr) : said.message;
    pigment_buffer_free(buffer);
    return said.status;
  };
  std::string text;
  EXPECT_EQ(update(R"({"hnsw": {"ef_search": 7}})", &text), PIGMENT_OK);
  EXPECT_NE(text.find(R"("space":"ip")"), std::string::npos);
  EXPECT_NE(text.find(R"("ef_search":7)"), std::string::npos);
  EXPECT_EQ(update(R"({"hnsw": {"space": "l2"}})", &text), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(text, "the space of a collection cannot be changed: it is ip, got l2");
}

// ---- Lexical embedding -------------------------------------------------------------------------

struct TextRows {
  explicit TextRows(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      bytes += text;
      offsets.push_back(static_cast<int64_t>(bytes.size()));
    }
  }
  pigment_text_column column() const { return {offsets.data(), bytes.data(), nullptr}; }
  std::vector<int64_t> offsets = {0};
  std::string bytes;
};

TEST(LexicalEmbedding, EmbedsAColumn) {
  const TextRows texts({"hello world", "", "hello \xff world"});
  const pigment_text_column column = texts.column();
  std::vector<float> values(3 * 64, 42.0f);
  ASSERT_EQ(pigment_embed_lexical(3, &column, 64, values.data(), nullptr), PIGMENT_OK);
  double squares = 0;
  for (int i = 0; i < 64; ++i) {
    squares += static_cast<double>(values[i]) * values[i];
    EXPECT_EQ(values[64 + i], 0.0f);
  }
  EXPECT_NEAR(squares, 1, 1e-6);
  EXPECT_EQ(pigment_embed_lexical(0, nullptr, 64, nullptr, nullptr), PIGMENT_OK);
}

TEST(LexicalEmbedding, BadArgumentsAreErrors) {
  const TextRows texts({"a", "b"});
  pigment_text_column column = texts.column();
  std::vector<float> values(2 * 8);
  pigment_error* error = nullptr;
  EXPECT_EQ(Take(pigment_embed_lexical(2, &column, 0, values.data(), &error), error).detail,
            PIGMENT_DETAIL_DIMENSION);
  EXPECT_EQ(Take(pigment_embed_lexical(2, &column, 65536, values.data(), &error), error).detail,
            PIGMENT_DETAIL_LIMIT);
  EXPECT_EQ(Take(pigment_embed_lexical(2, nullptr, 8, values.data(), &error), error).status,
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(Take(pigment_embed_lexical(2, &column, 8, nullptr, &error), error).status,
            PIGMENT_INVALID_ARGUMENT);
  const uint8_t validity = 1;
  column.validity = &validity;
  ASSERT_EQ(pigment_embed_lexical(2, &column, 8, values.data(), &error), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_error_row(error), 1);
  pigment_error_free(error);
}

TEST(LexicalEmbedding, IsAnEmbeddingFunction) {
  pigment_embedding_function function;
  std::memset(&function, 0xa5, sizeof function);  // it is filled whole
  ASSERT_EQ(pigment_embedding_function_lexical(0, &function, nullptr), PIGMENT_OK);
  EXPECT_EQ(function.struct_size, sizeof function);
  EXPECT_EQ(std::string_view(function.name, function.name_size), "pigment_lexical_v1");
  EXPECT_EQ(std::string_view(function.space, function.space_size), "cosine");
  EXPECT_NE(function.embed, nullptr);
  EXPECT_EQ(function.release, nullptr);
  pigment_error* error = nullptr;
  EXPECT_EQ(Take(pigment_embedding_function_lexical(65536, &function, &error), error).detail,
            PIGMENT_DETAIL_LIMIT);
  EXPECT_EQ(Take(pigment_embedding_function_lexical(8, nullptr, &error), error).status,
            PIGMENT_INVALID_ARGUMENT);
}

}  // namespace
