// SPDX-License-Identifier: Apache-2.0
//
// Chroma's tables.

#include "tools/chroma/directory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "tools/chroma/settings.h"
#include "tools/json_text.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

std::string DatabaseFile(const std::string& path) {
  const std::string file = path + "/chroma.sqlite3";
  if (!std::filesystem::exists(file)) {
    throw Failure(PIGMENT_NOT_FOUND, "no Chroma directory: \"" + file + "\" does not exist");
  }
  return file;
}

// A value from the columns string, int, float, bool, beginning at `first`.
nlohmann::json ValueAt(const Statement& row, int first) {
  if (!row.IsNull(first + 3)) return row.Integer(first + 3) != 0;
  if (!row.IsNull(first)) return row.Text(first);
  if (!row.IsNull(first + 1)) return row.Integer(first + 1);
  if (!row.IsNull(first + 2)) return row.Float(first + 2);
  return nullptr;
}

// Moves what Chroma keeps under names of its own to where it belongs. A number that is not finite
// is no metadata here, and JSON has none.
void PutMetadata(Record& record, nlohmann::json metadata) {
  const auto take = [&](const char* key, std::optional<std::string>& to) {
    const auto found = metadata.find(key);
    if (found == metadata.end()) return;
    if (found->is_string()) to = found->get<std::string>();
    metadata.erase(key);
  };
  take("chroma:document", record.document);
  take("chroma:uri", record.uri);
  for (const auto& [key, value] : metadata.items()) {
    if (value.is_number_float() && !std::isfinite(value.get<double>())) {
      throw Failure(PIGMENT_INVALID_ARGUMENT,
                    "record \"" + record.id + "\": metadata \"" + key + "\" is not finite");
    }
  }
  if (!metadata.empty()) record.metadata = metadata.dump();
}

std::vector<float> VectorOf(const std::string& bytes, const std::string& encoding) {
  if (bytes.size() % 4 != 0 || (encoding != "FLOAT32" && encoding != "INT32")) {
    throw Failure(PIGMENT_DATA_LOSS, "the log holds a vector with encoding \"" + encoding +
                                         "\" of " + std::to_string(bytes.size()) + " bytes");
  }
  std::vector<float> vector(bytes.size() / 4);
  if (encoding == "FLOAT32") {
    std::memcpy(vector.data(), bytes.data(), bytes.size());
    return vector;
  }
  for (size_t i = 0; i < vector.size(); ++i) {
    int32_t value;
    std::memcpy(&value, bytes.data() + 4 * i, sizeof value);
    vector[i] = static_cast<float>(value);
  }
  return vector;
}

// Log entries of a collection; its topic ends with its id.
constexpr const char* kLog =
    "SELECT operation, id, vector, encoding, metadata FROM embeddings_queue "
    "WHERE substr(topic, -length(?1)) = ?1 AND seq_id > ?2 AND seq_id <= ?3 ORDER BY seq_id";

Record EntryAt(const Statement& row) {
  Record record;
  record.id = row.Text(1);
  if (!row.IsNull(2)) record.embedding = VectorOf(row.Bytes(2), row.Text(3));
  if (row.IsNull(4)) return record;
  nlohmann::json metadata = ParseJson(row.Text(4));
  if (metadata.is_null()) return record;
  if (!metadata.is_object()) {
    throw Failure(PIGMENT_DATA_LOSS, "the log's metadata of \"" + record.id + "\" is no object");
  }
  PutMetadata(record, std::move(metadata));
  return record;
}

}  // namespace

ChromaDirectory::ChromaDirectory(const std::string& path)
    : path_(path),
      database_(DatabaseFile(path)),
      has_arrays_(database_.HasTable("embedding_metadata_array")) {}

nlohmann::json ChromaDirectory::MetadataOf(const std::string& collection) const {
  const bool has_bool = database_.HasColumn("collection_metadata", "bool_value");
  Statement rows(database_, std::string("SELECT key, str_value, int_value, float_value, ") +
                                (has_bool ? "bool_value" : "NULL") +
                                " FROM collection_metadata WHERE collection_id = ? ORDER BY key");
  rows.Bind(1, collection);
  nlohmann::json metadata;
  while (rows.Next()) metadata[rows.Text(0)] = ValueAt(rows, 1);
  return metadata;
}

std::vector<ChromaCollection> ChromaDirectory::Collections() const {
  const bool has_databases = database_.HasTable("databases");
  const auto column = [&](const char* name) {
    return database_.HasColumn("collections", name) ? "c." + std::string(name) : "NULL";
  };
  Statement rows(
      database_,
      "SELECT c.id, c.name, " +
          std::string(has_databases ? "d.name, d.tenant_id, " : "NULL, NULL, ") +
          column("config_json_str") + ", " + column("schema_str") + " FROM collections c " +
          (has_databases ? "JOIN databases d ON d.id = c.database_id " : "") + "ORDER BY 4, 3, 2");
  Statement segments(database_, "SELECT id, scope FROM segments WHERE collection = ?");
  std::vector<ChromaCollection> all;
  while (rows.Next()) {
    ChromaCollection collection;
    collection.id = rows.Text(0);
    collection.name = rows.Text(1);
    collection.database = rows.IsNull(2) ? "default_database" : rows.Text(2);
    collection.tenant = rows.IsNull(3) ? "default_tenant" : rows.Text(3);
    collection.metadata = MetadataOf(collection.id);
    try {
      TranslateSettings(rows.Text(4), rows.Text(5), collection);
    } catch (const nlohmann::json::exception& error) {
      throw Failure(PIGMENT_DATA_LOSS,
                    "collection \"" + collection.name + "\": its settings: " + error.what());
    }
    segments.Restart();
    segments.Bind(1, collection.id);
    while (segments.Next()) {
      const std::string scope = segments.Text(1);
      if (scope == "METADATA") collection.metadata_segment = segments.Text(0);
      if (scope == "VECTOR") collection.vector_segment = segments.Text(0);
    }
    all.push_back(std::move(collection));
  }
  return all;
}

// Old versions keep a big-endian blob.
int64_t ChromaDirectory::LogPositionOf(const std::string& segment) const {
  Statement row(database_, "SELECT seq_id FROM max_seq_id WHERE segment_id = ?");
  if (!row.Bind(1, segment).Next()) return 0;
  if (!row.IsBlob(0)) return row.Integer(0);
  int64_t position = 0;
  for (const char byte : row.Bytes(0)) position = position << 8 | static_cast<unsigned char>(byte);
  return position;
}

std::unordered_map<std::string, std::vector<float>> ChromaDirectory::LateVectors(
    const ChromaCollection& collection, int64_t after, int64_t to) const {
  std::unordered_map<std::string, std::vector<float>> vectors;
  Statement log(database_, kLog);
  log.Bind(1, collection.id).Bind(2, after).Bind(3, to);
  while (log.Next()) {
    Record entry = EntryAt(log);
    const auto operation = static_cast<ChromaOperation>(log.Integer(0));
    if (operation == ChromaOperation::kDelete) {
      vectors.erase(entry.id);
    } else if (entry.embedding) {
      // An add of an id that is there changes nothing; one behind a delete does.
      if (operation == ChromaOperation::kAdd) {
        vectors.try_emplace(entry.id, std::move(*entry.embedding));
      } else {
        vectors[entry.id] = std::move(*entry.embedding);
      }
    }
  }
  return vectors;
}

uint64_t ChromaDirectory::CountRecords(const ChromaCollection& collection) const {
  Statement row(database_, "SELECT count(*) FROM embeddings WHERE segment_id = ?");
  row.Bind(1, collection.metadata_segment).Next();
  return static_cast<uint64_t>(row.Integer(0));
}

void ChromaDirectory::ForEachRecord(const ChromaCollection& collection, int64_t after,
                                    const Visit& visit) const {
  const HnswVectors files(path_ + "/" + collection.vector_segment, collection.space == "cosine");
  const int64_t in_files = std::max(LogPositionOf(collection.vector_segment), files.log_position());
  const int64_t in_tables = LogPositionOf(collection.metadata_segment);
  const auto late = LateVectors(collection, files.size() == 0 ? 0 : in_files, in_tables);

  Statement rows(
      database_,
      "SELECT id, embedding_id FROM embeddings WHERE segment_id = ? AND id > ? ORDER BY id");
  Statement values(
      database_,
      "SELECT key, string_value, int_value, float_value, " +
          std::string(database_.HasColumn("embedding_metadata", "bool_value") ? "bool_value"
                                                                              : "NULL") +
          " FROM embedding_metadata WHERE id = ?");
  Statement arrays(database_, has_arrays_
                                  ? "SELECT key, string_value, int_value, float_value, bool_value "
                                    "FROM embedding_metadata_array WHERE id = ? ORDER BY rowid"
                                  : "SELECT 1 WHERE ? IS NULL");
  rows.Bind(1, collection.metadata_segment).Bind(2, after);
  while (rows.Next()) {
    Record record;
    record.id = rows.Text(1);
    nlohmann::json metadata = nlohmann::json::object();
    values.Restart();
    values.Bind(1, rows.Integer(0));
    while (values.Next()) {
      nlohmann::json value = ValueAt(values, 1);
      if (!value.is_null()) metadata[values.Text(0)] = std::move(value);
    }
    arrays.Restart();
    arrays.Bind(1, rows.Integer(0));
    while (arrays.Next()) metadata[arrays.Text(0)].push_back(ValueAt(arrays, 1));
    PutMetadata(record, std::move(metadata));
    if (const auto found = late.find(record.id); found != late.end()) {
      record.embedding = found->second;
    } else if (std::vector<float> vector; files.Find(record.id, vector)) {
      record.embedding = std::move(vector);
    }
    if (!visit(rows.Integer(0), record)) return;
  }
}

void ChromaDirectory::ForEachLogEntry(const ChromaCollection& collection,
                                      const VisitLog& visit) const {
  Statement log(database_, kLog);
  log.Bind(1, collection.id).Bind(2, LogPositionOf(collection.metadata_segment)).Bind(3, kEnd);
  while (log.Next()) {
    const int64_t operation = log.Integer(0);
    if (operation < 0 || operation > 3) {
      throw Failure(PIGMENT_DATA_LOSS, "the log has an operation " + std::to_string(operation));
    }
    visit(static_cast<ChromaOperation>(operation), EntryAt(log));
  }
}

}  // namespace pigment_tool
