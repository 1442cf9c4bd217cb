// SPDX-License-Identifier: Apache-2.0
//
// A directory of Chroma's persistent client: its collections, their records in the order in which
// they were added, and what the log holds beyond them. Reads alone; see README.md. One thread.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/batch.h"
#include "tools/chroma/database.h"
#include "tools/chroma/hnsw_vectors.h"
#include "tools/json.h"

namespace pigment_tool {

struct ChromaCollection {
  std::string id;
  std::string name;
  std::string tenant;
  std::string database;
  nlohmann::json metadata;            // null: none
  nlohmann::json schema;              // Pigment's; null: none
  nlohmann::json configuration;       // null where there is a schema
  nlohmann::json embedding_function;  // {"name","config"}, or null
  std::string space;
  std::string metadata_segment;
  std::string vector_segment;
};

// An entry of the log.
enum class ChromaOperation { kAdd = 0, kUpdate = 1, kUpsert = 2, kDelete = 3 };

class ChromaDirectory {
 public:
  explicit ChromaDirectory(const std::string& path);  // NOT_FOUND when it is none

  std::vector<ChromaCollection> Collections() const;

  // Of the records behind `after` (0: all), with a number that rises. A record without a vector is
  // one whose vector Chroma has lost.
  using Visit = std::function<bool(int64_t number, const Record& record)>;  // false ends it
  void ForEachRecord(const ChromaCollection& collection, int64_t after, const Visit& visit) const;
  uint64_t CountRecords(const ChromaCollection& collection) const;

  // What was written behind what the tables hold, in order.
  using VisitLog = std::function<void(ChromaOperation operation, const Record& record)>;
  void ForEachLogEntry(const ChromaCollection& collection, const VisitLog& visit) const;

  void CheckUnchanged() const { database_.CheckUnchanged(); }

 private:
  int64_t LogPositionOf(const std::string& segment) const;
  std::unordered_map<std::string, std::vector<float>> LateVectors(
      const ChromaCollection& collection, int64_t after, int64_t to) const;
  nlohmann::json MetadataOf(const std::string& collection) const;

  std::string path_;
  Database database_;
  bool has_arrays_;
};

}  // namespace pigment_tool
