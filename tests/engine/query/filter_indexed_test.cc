// SPDX-License-Identifier: Apache-2.0
//
// CONTRACT 30: what a schema leaves out of the index cannot be filtered by, be it in segments or in
// the tail; everything else is answered as without a schema.

#include "engine/query/filter_indexed.h"

#include <gtest/gtest.h>

#include "engine/base/memory_files.h"
#include "engine/query/search.h"
#include "engine/record/schema.h"
#include "engine/segment/inverted_reader.h"
#include "tests/support/filter_model.h"
#include "tests/support/json.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

using nlohmann::json;

bool IsEnabled(const json& schema, const std::string& key, const std::string& type) {
  const json::json_pointer index("/" + type + "/" + type + "_inverted_index/enabled");
  if (schema.contains("keys") && schema["keys"].contains(key) &&
      schema["keys"][key].contains(index))
    return schema["keys"][key][index].get<bool>();
  if (schema.contains("defaults") && schema["defaults"].contains(index))
    return schema["defaults"][index].get<bool>();
  return true;
}

bool AllowsValue(const json& schema, const std::string& key, const json& value, bool is_element) {
  if (value.is_string()) return IsEnabled(schema, key, "string");
  if (value.is_boolean()) return IsEnabled(schema, key, "bool");
  const bool with_int = IsEnabled(schema, key, "int"), with_float = IsEnabled(schema, key, "float");
  if (is_element) return value.is_number_float() ? with_float : with_int;
  return with_int && with_float;
}

bool AllowsDocument(const json& schema, const std::string& op) {
  const json::json_pointer index("/keys/#document/string/fts_index/enabled");
  return op == "$exists" || !schema.contains(index) || schema[index].get<bool>();
}

bool AllowsClause(const json& schema, const std::string& key, const json& rest) {
  if (key == "#id") return true;
  if (key == "#document") return AllowsDocument(schema, rest.begin().key());
  if (!rest.is_object()) return AllowsValue(schema, key, rest, false);
  const std::string op = rest.begin().key();
  const json& operand = rest.begin().value();
  if (op == "$exists") {
    return IsEnabled(schema, key, "string") &&
           (key == "chroma:uri" ||
            (IsEnabled(schema, key, "int") && IsEnabled(schema, key, "float") &&
             IsEnabled(schema, key, "bool")));
  }
  if (operand.is_array()) return AllowsValue(schema, key, operand[0], false);
  return AllowsValue(schema, key, operand, op == "$contains" || op == "$not_contains");
}

// The path of the first clause that the schema does not allow.
std::optional<std::string> RefusedPlace(const json& schema, const json& filter, bool is_where,
                                        const std::string& path) {
  if (filter.is_null()) return std::nullopt;
  const std::string key = filter.begin().key();
  const json& rest = filter.begin().value();
  const std::string joint = path.ends_with(' ') ? "" : ".";
  if (key == "$not") return RefusedPlace(schema, rest, is_where, path + joint + "$not");
  if (key == "$and" || key == "$or") {
    for (size_t i = 0; i < rest.size(); ++i) {
      const auto place = RefusedPlace(schema, rest[i], is_where,
                                      path + joint + key + "[" + std::to_string(i) + "]");
      if (place) return place;
    }
    return std::nullopt;
  }
  if (is_where ? AllowsClause(schema, key, rest) : AllowsDocument(schema, key)) return std::nullopt;
  if (is_where) return path + joint + "\"" + key + "\": cannot filter by ";
  return path + (joint.empty() ? "" : ": ") + "cannot filter by ";
}

std::optional<std::string> RefusedPlace(const json& schema, const json& where,
                                        const json& document) {
  const auto place = RefusedPlace(schema, where, true, "where: ");
  return place ? place : RefusedPlace(schema, document, false, "where_document: ");
}

const char* const kSchemas[] = {
    R"({"keys": {"k": {"string": {"string_inverted_index": {"enabled": false, "config": {}}}}}})",
    R"({"keys": {"l": {"int": {"int_inverted_index": {"enabled": false}}},
                 "m": {"float": {"float_inverted_index": {"enabled": false}}, "bool": {"bool_inverted_index": {"enabled": false}}}}})",
    R"({"defaults": {"string": {"string_inverted_index": {"enabled": false}}, "int": {"int_inverted_index": {"enabled": false}}},
        "keys": {"k": {"string": {"string_inverted_index": {"enabled": true}}},
                 "#document": {"string": {"fts_index": {"enabled": false}}}}})",
    R"({"defaults": {"bool": {"bool_inverted_index": {"enabled": false}}, "float": {"float_inverted_index": {"enabled": false}}},
        "keys": {"chroma:uri": {"string": {"string_inverted_index": {"enabled": false}}}}})",
};

class FilterIndexedTest : public ::testing::Test {
 protected:
  void Open() {
    collection_.reset();
    store_.reset();
    store_ = Store::Open(path_, {.background_threads = 0}, &files_).value();
  }
  void Make(const std::string& schema_json) {
    path_ = "db" + std::to_string(made_++);
    Open();
    CollectionEntry entry = EntryNamed("docs");
    const auto schema = ParseSchema(schema_json, nullptr, std::nullopt);
    ASSERT_OK(schema);
    entry.schema_json = schema->rules.json;
    entry.configuration_json = schema->configuration.json;
    collection_ = store_->CreateCollection(entry).value();
  }
  void Reopen() {
    Open();
    collection_ = store_->GetCollection({}, "docs").value();
  }
  void Add(size_t rows) {
    WriteBatch batch;
    batch.kind = WriteKind::kAdd;
    batch.dimension = 1;
    for (size_t i = 0; i < rows; ++i) {
      ModelRecord record = RandomModelRecord(random_);
      record.id = "r" + std::to_string(records_.size());
      batch.ids.push_back(record.id);
      batch.embeddings.push_back(1);
      batch.documents.push_back(record.document);
      batch.uris.push_back(record.uri);
      bool present = false;
      batch.metadatas.push_back(std::nullopt);
      if (!record.metadata.is_null())
        batch.metadatas.back() =
            ParseMetadataJson(record.metadata.dump(), MetadataUse::kNewRecord, &present).value();
      records_.push_back(std::move(record));
    }
    ASSERT_OK(collection_->Write(std::move(batch)));
  }

  struct Counts {
    int allowed = 0;
    int refused = 0;
  };
  // Gets, queries and selections of random filters: refused as `schema` says, else the model's
  // answer.
  void ExpectAnswers(const Version& version, const json& schema, int filters, Counts& counts) {
    for (int i = 0; i < filters; ++i) {
      const json where = RandomModelWhere(random_, static_cast<int>(random_() % 3));
      const json document = random_() % 4 != 0 ? json() : RandomModelWhereDocument(random_, 1);
      SCOPED_TRACE(where.dump() + " " + document.dump());
      GetRequest get;
      get.read.filter = Filter::Parse(where.dump(), document.dump()).value();
      QueryRequest query;
      const std::vector<float> embedding = {1};
      query.read.filter = get.read.filter;
      query.embeddings = embedding;
      query.queries = 1;
      query.dimension = 1;
      query.k = records_.size();
      const auto selected = SelectIds(version, get);
      const auto got = Get(version, get);
      const auto queried = Query(version, query);
      if (const auto place = RefusedPlace(schema, where, document)) {
        for (const Status& status : {selected.status(), got.status(), queried.status()}) {
          ASSERT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
          ASSERT_EQ(status.detail(), Detail::kFilter);
          ASSERT_TRUE(status.message().starts_with(*place)) << status.message() << *place;
          ASSERT_TRUE(status.message().ends_with(" is disabled in the schema"));
        }
        ++counts.refused;
        continue;
      }
      ASSERT_OK(selected);
      ASSERT_OK(got);
      ASSERT_OK(queried);
      std::vector<std::string> expected;
      for (const ModelRecord& record : records_)
        if (ModelMatches(where, document, record)) expected.push_back(record.id);
      ASSERT_EQ(*selected, expected);
      ASSERT_EQ(got->ids.offsets.size(), expected.size() + 1);
      ASSERT_EQ(queried->ids.offsets.size(), expected.size() + 1);
      ++counts.allowed;
    }
  }

  MemoryFileSystem files_;
  std::string path_ = "db";
  int made_ = 0;
  std::shared_ptr<Store> store_;
  std::shared_ptr<Collection> collection_;
  std::vector<ModelRecord> records_;
  std::mt19937_64 random_{7};
};

TEST_F(FilterIndexedTest, RefusalsAndAnswersAreThoseOfTheSchemaInTailAndSegmentsAlike) {
  for (const char* schema_json : kSchemas) {
    SCOPED_TRACE(schema_json);
    const json schema = json::parse(schema_json);
    records_.clear();
    ASSERT_NO_FATAL_FAILURE(Make(schema_json));
    Counts counts;
    Add(200);
    ASSERT_NO_FATAL_FAILURE(ExpectAnswers(**collection_->Pin(), schema, 250, counts));
    ASSERT_OK(collection_->Flush());
    Add(200);
    ASSERT_OK(collection_->Compact());
    Add(30);
    ASSERT_NO_FATAL_FAILURE(ExpectAnswers(**collection_->Pin(), schema, 250, counts));
    Reopen();
    const auto version = collection_->Pin().value();
    ASSERT_NO_FATAL_FAILURE(ExpectAnswers(*version, schema, 250, counts));
    for (const SegmentView& view : version->segments) EXPECT_OK(view.segment->Verify());
    EXPECT_GT(counts.allowed, 100);
    EXPECT_GT(counts.refused, 50);

    // What a segment lacks is found in its records, should nobody know the schema any more.
    Version unknown = *version;
    unknown.rules = nullptr;
    ASSERT_NO_FATAL_FAILURE(ExpectAnswers(unknown, json::object(), 200, counts));
  }
}

TEST_F(FilterIndexedTest, NothingOfWhatIsDisabledIsInTheIndex) {
  Make(kSchemas[1]);
  Add(400);
  ASSERT_OK(collection_->Flush());
  const auto version = collection_->Pin().value();
  const std::unique_ptr<InvertedReader> reader =
      version->segments.at(0).segment->NewInvertedReader();
  ASSERT_NE(reader, nullptr);
  const auto rows = [&](const char* key, FieldType type) {
    RowSet set = RowSet::Nothing(400);
    EXPECT_OK(reader->AddField(key, type, set));
    return set.count();
  };
  for (const auto& [key, type] : {std::pair("l", FieldType::kNumber),
                                  {"l", FieldType::kIntegerElement},
                                  {"m", FieldType::kNumber},
                                  {"m", FieldType::kRealElement},
                                  {"m", FieldType::kBool},
                                  {"m", FieldType::kBoolElement}})
    EXPECT_EQ(rows(key, type), 0u) << key << " " << static_cast<int>(type);
  for (const auto& [key, type] : {std::pair("l", FieldType::kRealElement),
                                  {"l", FieldType::kText},
                                  {"l", FieldType::kBool},
                                  {"m", FieldType::kIntegerElement},
                                  {"m", FieldType::kText},
                                  {"k", FieldType::kNumber}})
    EXPECT_GT(rows(key, type), 0u) << key << " " << static_cast<int>(type);
}

TEST_F(FilterIndexedTest, AForkHasTheSchemaOfItsSource) {
  Make(kSchemas[0]);
  Add(100);
  const auto fork = store_->ForkCollection(collection_->entry().id, "fork").value();
  EXPECT_EQ(fork->entry().schema_json, collection_->entry().schema_json);
  Counts counts;
  ExpectAnswers(**fork->Pin(), json::parse(kSchemas[0]), 50, counts);
  EXPECT_GT(counts.refused, 0);
}

TEST_F(FilterIndexedTest, MessagesNameClauseKeyAndType) {
  Make(kSchemas[2]);
  const auto message = [&](const char* where, const char* document) {
    GetRequest get;
    get.read.filter = Filter::Parse(where, document).value();
    return Get(**collection_->Pin(), get).status().message();
  };
  EXPECT_EQ(message(R"({"$and": [{"k": "x"}, {"$not": {"l": "x"}}]})", "null"),
            "where: $and[1].$not.\"l\": cannot filter by metadata key \"l\" with type string: its "
            "index is disabled in the schema");
  EXPECT_EQ(
      message(R"({"k": {"$gt": 2.5}})", "null"),
      "where: \"k\": cannot filter by metadata key \"k\" with type int: its index is disabled "
      "in the schema");
  EXPECT_EQ(message(R"({"chroma:uri": "x"})", "null"),
            "where: \"chroma:uri\": cannot filter by metadata key \"chroma:uri\" with type string: "
            "its index is disabled in the schema");
  EXPECT_EQ(message("null", R"({"$contains": "x"})"),
            "where_document: cannot filter by what documents say: the full-text index of "
            "\"#document\" is disabled in the schema");
  EXPECT_EQ(message(R"({"$or": [{"m": true}, {"#document": {"$regex": "x"}}]})", "null"),
            "where: $or[1].\"#document\": cannot filter by what documents say: the full-text index "
            "of \"#document\" is disabled in the schema");
  // What is right in `where` has moved no place of `where_document`; ranges that are joined into
  // one stand where the first of them does.
  EXPECT_EQ(message(R"({"$or": [{"m": true}, {"$and": [{"m": false}, {"m": true}]}]})",
                    R"({"$and": [{"$exists": true}, {"$or": [{"$not": {"$icontains": "x"}}]}]})"),
            "where_document: $and[1].$or[0].$not: cannot filter by what documents say: the "
            "full-text index of \"#document\" is disabled in the schema");
  EXPECT_EQ(message(R"({"$and": [{"m": true}, {"l": {"$gt": 1}}, {"l": {"$lt": 2}}]})", "null"),
            "where: $and[1].\"l\": cannot filter by metadata key \"l\" with type int: its index is "
            "disabled in the schema");
}

TEST_F(FilterIndexedTest, AStoredSchemaThatCannotBeReadIsDamageOfItsCollection) {
  Open();
  CollectionEntry entry = EntryNamed("docs");
  entry.schema_json = R"({"keys": {"#id": {}}})";
  const auto made = store_->CreateCollection(entry);
  EXPECT_CODE(made.ok() ? (*made)->Pin().status() : made.status(), Code::kDataLoss);
}

}  // namespace
}  // namespace pigment
