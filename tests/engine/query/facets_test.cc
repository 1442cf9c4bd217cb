// SPDX-License-Identifier: Apache-2.0
//
// Facets against counting by hand: over segments with an inverted index, without one and with
// unindexed rows, deletions and tail, with filters, ids and limits.

#include "engine/query/facets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/json.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

using Counts = std::map<PlainValue, uint64_t>;

template <typename T>
PlainValue Plain(const T& value) {
  Record record;
  record.metadata = Metadata{{"k", value}};
  return ValueOf(record, "k");
}

// The different values that a record has for a key.
std::set<PlainValue> ValuesOf(const Record& record, const std::string& key) {
  std::set<PlainValue> values;
  if (const PlainValue scalar = ValueOf(record, key); scalar.kind != PlainValue::kNone)
    values.insert(scalar);
  if (key == "chroma:uri" || !record.metadata || !record.metadata->contains(key)) return values;
  const MetadataValue& value = record.metadata->at(key);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value))
    for (const std::string& text : *texts) values.insert(Plain(text));
  if (const auto* integers = std::get_if<std::vector<int64_t>>(&value))
    for (const int64_t integer : *integers) values.insert(Plain(integer));
  if (const auto* reals = std::get_if<std::vector<double>>(&value))
    for (const double real : *reals) values.insert(Plain(real));
  if (const auto* truths = std::get_if<std::vector<bool>>(&value))
    for (const bool truth : *truths) values.insert(Plain(truth));
  return values;
}

std::vector<std::pair<PlainValue, uint64_t>> Expected(const CollectionModel& model,
                                                      const ReadOptions& read,
                                                      const std::string& key,
                                                      std::optional<uint64_t> limit) {
  Counts counts;
  for (const Record* record : model.InOrder(read))
    for (const PlainValue& value : ValuesOf(*record, key)) ++counts[value];
  std::vector<std::pair<PlainValue, uint64_t>> ranked(counts.begin(), counts.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (limit && ranked.size() > *limit) ranked.resize(*limit);
  return ranked;
}

void ExpectFacets(const Version& version, const CollectionModel& model,
                  const FacetsRequest& request) {
  const auto facets = CountFacets(version, request);
  ASSERT_OK(facets);
  ASSERT_EQ(facets->size(), request.keys.size());
  for (size_t key = 0; key < request.keys.size(); ++key) {
    std::vector<std::pair<PlainValue, uint64_t>> got;
    for (const FacetValue& value : (*facets)[key]) {
      Record record;
      record.metadata = Metadata{{"k", value.value}};
      got.emplace_back(ValueOf(record, "k"), value.count);
    }
    ASSERT_EQ(got.size(), Expected(model, request.read, request.keys[key], request.limit).size());
    ASSERT_TRUE(got == Expected(model, request.read, request.keys[key], request.limit))
        << request.keys[key];
  }
}

// Lists of every type, numbers that are equal as integer and float, and values that few share.
Metadata ManyTypes(BatchMaker& maker, int number) {
  Metadata metadata;
  metadata["n"] = int64_t{number};
  metadata["huge"] = int64_t{1} << 62;
  if (maker.Chance(50))
    metadata["huge"] = static_cast<int64_t>((uint64_t{1} << 62) + maker.Below(3));
  switch (maker.Below(8)) {
    case 0:
      metadata["x"] = int64_t{2};
      break;
    case 1:
      metadata["x"] = 2.0;
      break;
    case 2:
      metadata["x"] = std::vector<double>{2.0, 0.5, 2.0};
      break;
    case 3:
      metadata["x"] = std::vector<int64_t>{2, 2, -7};
      break;
    case 4:
      metadata["x"] = std::vector<std::string>{"2", "", "2"};
      break;
    case 5:
      metadata["x"] = std::vector<bool>{true, false, true};
      break;
    case 6:
      metadata["x"] = maker.Chance(50);
      break;
    default:
      metadata["x"] = std::string(maker.Chance(50) ? "2" : "");
      break;
  }
  return metadata;
}

TEST(Facets, CountWhatCountingByHandDoes) {
  static const char* const kKeys[] = {"a", "b", "c", "d", "n", "x", "huge", "chroma:uri", "none"};
  for (uint64_t seed = 1; seed <= 12 && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    BatchMaker maker(seed, 2, 700);
    StoreOptions options;
    options.background_threads = 0;
    auto store = Store::Open(std::nullopt, options).value();
    auto docs = store->CreateCollection(EntryNamed("docs")).value();
    CollectionModel model;
    for (int part = 0; part < 4; ++part) {
      for (int number = 0; number < 12; ++number) {
        WriteBatch batch = maker.Batch(part == 3 ? 5 : 60);
        if (batch.kind == WriteKind::kUpsert || batch.kind == WriteKind::kAdd) {
          batch.metadatas.clear();
          for (size_t row = 0; row < batch.ids.size(); ++row)
            batch.metadatas.push_back(ManyTypes(maker, number));
        }
        ASSERT_OK(docs->Write(batch));
        model.Apply(batch);
      }
      if (part < 3 || seed % 3 == 0) ASSERT_OK(docs->Flush());
      if (part == 1 && seed % 2 == 0) ASSERT_OK(docs->Compact().status());
    }
    const auto version = docs->Pin().value();
    for (int round = 0; round < 40 && !::testing::Test::HasFatalFailure(); ++round) {
      FacetsRequest request;
      if (round != 0) request.read = maker.Read();
      for (const char* key : kKeys)
        if (round == 0 || maker.Chance(40)) request.keys.push_back(key);
      if (maker.Chance(30)) request.limit = maker.Below(5);
      ExpectFacets(*version, model, request);
    }
  }
}

TEST(Facets, ArePrintedByFrequencyThenValue) {
  auto store = Store::Open(std::nullopt, {}).value();
  auto docs = store->CreateCollection(EntryNamed("docs")).value();
  WriteBatch batch;
  batch.dimension = 1;
  const char* const kRows[] = {R"({"k":"b"})",   R"({"k":["b","a"]})", R"({"k":2.0})",
                               R"({"k":[2,3]})", R"({"k":true})",      R"({"k":0.5})",
                               R"({"other":1})"};
  for (const char* json : kRows) {
    bool present = false;
    batch.ids.push_back("id" + std::to_string(batch.ids.size()));
    batch.embeddings.push_back(1);
    batch.metadatas.push_back(ParseMetadataJson(json, MetadataUse::kNewRecord, &present).value());
  }
  ASSERT_OK(docs->Write(batch));
  const auto version = docs->Pin().value();
  FacetsRequest request;
  request.keys = {"k", "none"};
  EXPECT_EQ(FacetsJson(request.keys, CountFacets(*version, request).value()),
            R"({"k":[{"value":2,"count":2},{"value":"b","count":2},{"value":true,"count":1},)"
            R"({"value":0.5,"count":1},{"value":3,"count":1},{"value":"a","count":1}],"none":[]})");
}

TEST(Facets, KeysThatCannotBeAreRefused) {
  auto store = Store::Open(std::nullopt, {}).value();
  const auto version = store->CreateCollection(EntryNamed("docs")).value()->Pin().value();
  FacetsRequest request;
  for (const char* key : {"", "#id", "#document", "$eq", "chroma:document"}) {
    request.keys = {"fine", key};
    const auto facets = CountFacets(*version, request);
    EXPECT_CODE(facets, Code::kInvalidArgument);
    EXPECT_NE(facets.status().message().find("\"" + std::string(key) + "\""), std::string::npos);
  }
  request.keys = {"a", "b", "a"};
  EXPECT_CODE(CountFacets(*version, request), Code::kInvalidArgument);
}

}  // namespace
}  // namespace pigment
