// SPDX-License-Identifier: Apache-2.0
//
// The plain model of a collection that store tests compare with: records in a map, one obvious line
// per rule of notes/chroma.md 1.5, distances by Distance() one at a time. And random batches to
// feed both. Header only; one thread.

#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/collection/store.h"
#include "engine/query/search.h"
#include "engine/vector/distance.h"
#include "engine/vector/half.h"
#include "engine/vector/top_k.h"

namespace pigment {

// What orders a get, as the model understands it: keys, and whether they descend.
using PlainOrder = std::vector<std::pair<std::string, bool>>;

inline std::string OrderJson(const PlainOrder& order) {
  std::string json = "[";
  for (const auto& [key, descends] : order) {
    if (json.size() > 1) json += ",";
    json += R"({"key":")" + key + R"(","descending":)" + (descends ? "true}" : "false}");
  }
  return json + "]";
}

// The value of a key as it is ordered by: kinds one after the other, then what the kind has.
struct PlainValue {
  enum Kind { kBool, kNumber, kText, kNone } kind = kNone;
  long double number = 0;  // holds integers and doubles alike; of bools 0 and 1
  std::string text;

  auto operator<=>(const PlainValue&) const = default;
};
static_assert(std::numeric_limits<long double>::digits >= 64);

inline PlainValue ValueOf(const Record& record, const std::string& key) {
  if (key == "#id") return {PlainValue::kText, 0, record.id};
  if (key == "chroma:uri")
    return record.uri ? PlainValue{PlainValue::kText, 0, *record.uri} : PlainValue();
  if (!record.metadata || !record.metadata->contains(key)) return {};
  const MetadataValue& value = record.metadata->at(key);
  if (const auto* text = std::get_if<std::string>(&value)) return {PlainValue::kText, 0, *text};
  if (const auto* integer = std::get_if<int64_t>(&value))
    return {PlainValue::kNumber, static_cast<long double>(*integer), ""};
  if (const auto* real = std::get_if<double>(&value)) return {PlainValue::kNumber, *real, ""};
  if (const auto* truth = std::get_if<bool>(&value))
    return {PlainValue::kBool, static_cast<long double>(*truth), ""};
  return {};
}

inline bool ComesFirst(const Record& a, const Record& b, const PlainOrder& order) {
  for (const auto& [key, descends] : order) {
    const PlainValue of_a = ValueOf(a, key), of_b = ValueOf(b, key);
    if (of_a == of_b) continue;
    if (of_a.kind == PlainValue::kNone || of_b.kind == PlainValue::kNone)
      return of_b.kind == PlainValue::kNone;
    return descends ? of_a > of_b : of_a < of_b;
  }
  return a.ordinal < b.ordinal;
}

class CollectionModel {
 public:
  CollectionModel() = default;
  explicit CollectionModel(VectorElement element) : element_(element) {}

  WriteCounts Apply(const WriteBatch& batch) {
    WriteCounts counts;
    for (size_t row = 0; row < batch.ids.size(); ++row) {
      const auto found = records_.find(batch.ids[row]);
      const bool exists = found != records_.end();
      if (batch.kind == WriteKind::kDelete) {
        ++(exists ? counts.deleted : counts.skipped);
        if (exists) records_.erase(found);
      } else if (exists ? batch.kind == WriteKind::kAdd : batch.kind == WriteKind::kUpdate) {
        ++counts.skipped;
      } else {
        ++(exists ? counts.updated : counts.inserted);
        Record& record = records_[batch.ids[row]];
        if (!exists) record.ordinal = next_ordinal_++;
        record.id = batch.ids[row];
        Merge(batch, row, record);
      }
    }
    return counts;
  }

  std::vector<const Record*> InOrder(const ReadOptions& read) const {
    std::vector<const Record*> rows;
    for (const auto& [id, record] : records_) {
      if (read.ids && std::find(read.ids->begin(), read.ids->end(), id) == read.ids->end())
        continue;
      if (read.filter &&
          !read.filter->Matches({.id = record.id,
                                 .metadata = record.metadata ? &*record.metadata : nullptr,
                                 .document = record.document,
                                 .uri = record.uri})) {
        continue;
      }
      rows.push_back(&record);
    }
    std::sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->ordinal < b->ordinal; });
    return rows;
  }

  std::vector<std::pair<float, const Record*>> Nearest(const QueryRequest& request,
                                                       size_t query) const {
    std::vector<std::pair<float, const Record*>> rows;
    const float* const vector = request.embeddings.data() + query * request.dimension;
    for (const Record* record : InOrder(request.read)) {
      const float distance =
          Distance(request.metric, vector, record->embedding.data(), request.dimension);
      if (request.max_distance && !(distance <= *request.max_distance)) continue;
      rows.emplace_back(distance, record);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return DistanceKey(a.first) < DistanceKey(b.first);
    });
    if (rows.size() > request.k) rows.resize(request.k);
    return rows;
  }

  const std::map<std::string, Record>& records() const { return records_; }
  uint32_t dimension() const { return dimension_; }

 private:
  void Merge(const WriteBatch& batch, size_t row, Record& record) {
    if (!batch.embeddings.empty()) {
      dimension_ = batch.dimension;
      const auto begin = batch.embeddings.begin() + static_cast<ptrdiff_t>(row * batch.dimension);
      record.embedding.assign(begin, begin + batch.dimension);
      if (element_ == VectorElement::kF16)
        for (float& number : record.embedding) number = FloatOfHalf(HalfOf(number));
    }
    if (!batch.documents.empty() && batch.documents[row]) record.document = batch.documents[row];
    if (!batch.uris.empty() && batch.uris[row]) record.uri = batch.uris[row];
    if (batch.metadatas.empty() || !batch.metadatas[row]) return;
    Metadata merged = record.metadata.value_or(Metadata());
    for (const auto& [key, value] : *batch.metadatas[row]) {
      merged.erase(key);
      if (!std::holds_alternative<Erased>(value)) merged[key] = value;
    }
    record.metadata = merged.empty() ? std::optional<Metadata>() : std::optional(merged);
  }

  VectorElement element_ = VectorElement::kF32;
  std::map<std::string, Record> records_;
  uint64_t next_ordinal_ = 1;
  uint32_t dimension_ = 0;
};

// Random batches over a small set of ids, so that they meet each other often.
class BatchMaker {
 public:
  BatchMaker(uint64_t seed, uint32_t dimension, uint32_t ids)
      : random_(seed), dimension_(dimension), ids_(ids) {}

  size_t Below(size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random_);
  }
  bool Chance(int percent) { return Below(100) < static_cast<size_t>(percent); }
  std::string Id() { return "id" + std::to_string(Below(ids_)); }
  // Few values, so that distances tie.
  float Number() { return static_cast<float>(static_cast<int>(Below(7)) - 3) / 2; }
  std::vector<float> Vector() {
    std::vector<float> vector(dimension_);
    for (float& number : vector)
      number = Chance(80) ? Number() : std::normal_distribution<float>()(random_);
    return vector;
  }

  WriteBatch Batch(size_t rows_max) {
    static constexpr WriteKind kKinds[] = {WriteKind::kAdd, WriteKind::kUpsert, WriteKind::kUpdate,
                                           WriteKind::kDelete};
    WriteBatch batch;
    batch.kind = kKinds[Below(4)];
    std::map<std::string, bool> chosen;
    for (size_t row = Below(rows_max) + 1; row > 0; --row) {
      const std::string id = Id();
      if (chosen.emplace(id, true).second) batch.ids.push_back(id);
    }
    if (batch.kind == WriteKind::kDelete) return batch;
    if (batch.kind != WriteKind::kUpdate || Chance(50)) {
      batch.dimension = dimension_;
      for (size_t row = 0; row < batch.ids.size(); ++row) {
        for (const float number : Vector()) batch.embeddings.push_back(number);
      }
    }
    const bool documents = Chance(60), metadatas = Chance(60), uris = Chance(20);
    for (size_t row = 0; row < batch.ids.size(); ++row) {
      if (documents) batch.documents.push_back(Text());
      if (metadatas) batch.metadatas.push_back(SomeMetadata(batch.kind != WriteKind::kAdd));
      if (uris) batch.uris.push_back(Text());
    }
    return batch;
  }

  std::optional<std::string> Text() {
    static const char* const kWords[] = {"red", "green", "blue", "x", "", "\xC3\xA4hre"};
    if (Chance(20)) return std::nullopt;
    std::string text;
    for (size_t words = Below(4); words > 0; --words) text += std::string(kWords[Below(6)]) + " ";
    if (Chance(5)) text.push_back('\0');
    return text;
  }

  std::optional<Metadata> SomeMetadata(bool may_erase) {
    if (Chance(20)) return std::nullopt;
    Metadata metadata;
    for (size_t entries = Below(3) + 1; entries > 0; --entries) {
      const std::string key(1, static_cast<char>('a' + Below(4)));
      switch (Below(may_erase ? 7 : 6)) {
        case 0:
          metadata[key] = static_cast<int64_t>(Below(5));
          break;
        case 1:
          metadata[key] = static_cast<double>(Below(5)) / 2;
          break;
        case 2:
          metadata[key] = Chance(50);
          break;
        case 3:
          metadata[key] = std::string(Chance(50) ? "u" : "v");
          break;
        case 4:
          metadata[key] = std::vector<std::string>{"u", "w"};
          break;
        case 5:
          metadata[key] = std::vector<int64_t>{1, static_cast<int64_t>(Below(5))};
          break;
        default:
          metadata[key] = Erased();
          break;
      }
    }
    return metadata;
  }

  PlainOrder Order() {
    static const char* const kKeys[] = {"a", "b", "c", "d", "#id", "chroma:uri", "nothing"};
    PlainOrder order;
    for (size_t keys = Below(3) + 1; keys > 0; --keys) {
      const std::string key = kKeys[Below(std::size(kKeys))];
      if (std::none_of(order.begin(), order.end(), [&](auto& term) { return term.first == key; }))
        order.emplace_back(key, Chance(50));
    }
    return order;
  }

  ReadOptions Read() {
    static const char* const kWheres[] = {
        R"({"a":{"$gte":1.5}})",
        R"({"b":{"$ne":"u"}})",
        R"({"c":{"$contains":1}})",
        R"({"a":{"$in":[1,2,3]}})",
        R"({"$or":[{"a":true},{"$and":[{"b":{"$lt":2}},{"d":{"$nin":["v"]}}]}]})",
        R"({"d":{"$eq":"nothing"}})"};
    static const char* const kDocuments[] = {
        R"({"$contains":"red"})", R"({"$not_contains":"blue"})", R"({"$regex":"gr.+n"})"};
    ReadOptions read;
    if (Chance(25)) {
      read.ids.emplace();
      for (size_t ids = Below(12); ids > 0; --ids)
        read.ids->push_back(Chance(90) ? Id() : "nobody");
    }
    if (Chance(50)) {
      std::optional<std::string_view> where, document;
      if (Chance(70)) where = kWheres[Below(std::size(kWheres))];
      if (Chance(40)) document = kDocuments[Below(std::size(kDocuments))];
      read.filter = Filter::Parse(where, document).value();
    }
    read.include = {Chance(70), Chance(70), Chance(70), Chance(50), Chance(90)};
    read.explain = Chance(10);
    return read;
  }

 private:
  std::mt19937_64 random_;
  const uint32_t dimension_;
  const uint32_t ids_;
};

// Text `row` of a column; nullopt where it is absent.
inline std::optional<std::string> TextAt(const TextColumn& column, size_t row) {
  if (!column.validity.empty() && !(column.validity[row / 8] >> (row % 8) & 1)) return std::nullopt;
  return column.bytes.substr(static_cast<size_t>(column.offsets[row]),
                             static_cast<size_t>(column.offsets[row + 1] - column.offsets[row]));
}

// The first difference between row `row` of a result and a record; empty: none. Embeddings are
// compared by their bits.
inline std::string DifferenceOfRow(const ResultSet& result, size_t row, const Record& record) {
  const std::string where = "row " + std::to_string(row) + " (\"" + record.id + "\"): ";
  if (TextAt(result.ids, row) != record.id)
    return where + "got id \"" + TextAt(result.ids, row).value_or("?") + "\"";
  const auto differs = [&](bool included, const TextColumn& column,
                           const std::optional<std::string>& expected) {
    return included ? TextAt(column, row) != expected : !column.offsets.empty();
  };
  if (differs(result.included.documents, result.documents, record.document))
    return where + "document";
  if (differs(result.included.uris, result.uris, record.uri)) return where + "uri";
  if (differs(result.included.metadatas, result.metadatas,
              record.metadata ? std::optional(MetadataToJson(*record.metadata)) : std::nullopt)) {
    return where + "metadata";
  }
  if (!result.included.embeddings)
    return result.embeddings.empty() ? "" : where + "embedding not asked for";
  if (result.dimension != record.embedding.size() ||
      result.embeddings.size() < (row + 1) * result.dimension ||
      std::memcmp(result.embeddings.data() + row * result.dimension, record.embedding.data(),
                  result.dimension * sizeof(float)) != 0) {
    return where + "embedding";
  }
  return "";
}

// The first difference between what a version answers to a get and what the model does; empty:
// none. `order` is the request's.
inline std::string DifferenceOfGet(const Version& version, const CollectionModel& model,
                                   const GetRequest& request, const PlainOrder& order = {}) {
  std::vector<const Record*> expected = model.InOrder(request.read);
  std::sort(expected.begin(), expected.end(),
            [&](auto* a, auto* b) { return ComesFirst(*a, *b, order); });
  if (!request.after) {
    const Result<uint64_t> count = CountRows(version, request.read);
    if (!count.ok()) return count.status().ToString();
    if (*count != expected.size())
      return "counted " + std::to_string(*count) + " rows of " + std::to_string(expected.size());
  }
  expected.erase(expected.begin(), expected.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(
                                                          request.offset, expected.size())));
  if (request.limit && expected.size() > *request.limit) expected.resize(*request.limit);
  Result<ResultSet> result = Get(version, request);
  if (!result.ok()) return result.status().ToString();
  if (result->query_offsets != std::vector<uint64_t>{0, expected.size()}) {
    return "get gives " + std::to_string(result->query_offsets.back()) + " rows, the model " +
           std::to_string(expected.size());
  }
  for (size_t row = 0; row < expected.size(); ++row) {
    if (std::string difference = DifferenceOfRow(*result, row, *expected[row]);
        !difference.empty()) {
      return "get: " + difference;
    }
  }
  return "";
}

// The same for a query; distances are compared by their bits. With a recall below 1 rows may be
// left out for others that are farther, but what is given is right, in order, and as much as there
// is.
inline std::string DifferenceOfQuery(const Version& version, const CollectionModel& model,
                                     const QueryRequest& request) {
  Result<ResultSet> result = Query(version, request);
  if (!result.ok()) return result.status().ToString();
  size_t row = 0;
  const bool is_exact = request.recall >= 1;
  QueryRequest ranked = request;
  if (!is_exact) ranked.k = model.records().size();
  for (size_t query = 0; query < request.queries; ++query) {
    const auto expected = model.Nearest(ranked, query);
    const uint64_t first = row;
    for (const auto& [distance, record] : expected) {
      if (!is_exact &&
          (row == result->query_offsets[query + 1] || TextAt(result->ids, row) != record->id)) {
        continue;
      }
      if (row >= result->query_offsets[query + 1])
        return "query " + std::to_string(query) + " gives too few rows";
      if (std::string difference = DifferenceOfRow(*result, row, *record); !difference.empty()) {
        return "query " + std::to_string(query) + ": " + difference;
      }
      if (request.read.include.distances &&
          std::memcmp(&result->distances[row], &distance, sizeof distance) != 0) {
        return "query " + std::to_string(query) + ": distance " +
               std::to_string(result->distances[row]) + ", not " + std::to_string(distance);
      }
      ++row;
    }
    if (row != result->query_offsets[query + 1])
      return "query " + std::to_string(query) + " gives rows that should not be there, from " +
             std::to_string(row - first) + " on";
    if (row - first != std::min<uint64_t>(request.k, expected.size()))
      return "query " + std::to_string(query) + " gives too few rows";
  }
  return "";
}

// Everything of a collection against the model.
inline std::string DifferenceOfAll(const Collection& collection, const CollectionModel& model) {
  Result<std::shared_ptr<const Version>> version = collection.Pin();
  if (!version.ok()) return version.status().ToString();
  if ((*version)->live_rows != model.records().size()) {
    return std::to_string((*version)->live_rows) + " live rows, the model has " +
           std::to_string(model.records().size());
  }
  GetRequest request;
  request.read.include = {true, true, true, true, false};
  return DifferenceOfGet(**version, model, request);
}

inline CollectionEntry EntryNamed(const std::string& name, Metric metric = Metric::kL2,
                                  VectorElement element = VectorElement::kF32) {
  CollectionEntry entry;
  entry.name = name;
  entry.tenant = kDefaultTenant;
  entry.database = kDefaultDatabase;
  entry.configuration_json = "{}";
  entry.metric = metric;
  entry.vector_element = element;
  return entry;
}

// The collection "docs" of a store, made where there is none.
inline std::shared_ptr<Collection> DocsOf(Store& store) {
  auto found = store.GetCollection({}, "docs");
  return found.ok() ? *found : store.CreateCollection(EntryNamed("docs")).value();
}

inline std::vector<std::string> IdsOf(const Collection& collection) {
  return SelectIds(*collection.Pin().value(), {}).value();
}

inline std::vector<std::string> IdsOf(const TextColumn& column) {
  std::vector<std::string> ids;
  for (size_t row = 0; row + 1 < column.offsets.size(); ++row)
    ids.push_back(TextAt(column, row).value_or(""));
  return ids;
}

}  // namespace pigment
