// SPDX-License-Identifier: Apache-2.0
//
// The read pipeline over one pinned Version: plan the filter, search segments and tail, merge by
// distance, fetch what is included, shape into columns. Pure with respect to the version;
// any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/catalog/catalog.h"
#include "engine/collection/version.h"
#include "engine/query/filter.h"

namespace pigment {

struct Include {
  bool documents = false;
  bool metadatas = false;
  bool embeddings = false;
  bool uris = false;
  bool distances = false;
};

// A text column in Arrow's LargeUtf8 layout. Empty offsets: the column was not asked for.
struct TextColumn {
  std::vector<int64_t> offsets;
  std::string bytes;
  std::vector<uint8_t> validity;  // bit i of byte i/8: row i is present; empty: all are
};

struct ResultSet {
  std::vector<uint64_t> query_offsets;  // queries + 1; {0, rows} for get
  TextColumn ids;
  TextColumn documents;
  TextColumn metadatas;  // JSON objects
  TextColumn uris;
  std::vector<float> distances;
  std::vector<float> embeddings;  // rows x dimension
  uint32_t dimension = 0;
  Include included;
  uint64_t position = 0;     // log position that the answer saw
  std::string explain_json;  // empty unless asked for
};

struct ReadOptions {
  std::optional<std::vector<std::string>> ids;  // allow-list; unknown ids are no hit
  std::shared_ptr<const Filter> filter;         // null: everything
  Include include;
  CallControl control;
  bool explain = false;
};

struct GetRequest {
  ReadOptions read;
  std::optional<uint64_t> limit;
  uint64_t offset = 0;
};

// Rows in insertion order (ordinals ascending).
Result<ResultSet> Get(const Version& version, const GetRequest& request);
// The ids alone, in insertion order: for delete with filters.
Result<std::vector<std::string>> SelectIds(const Version& version, const GetRequest& request);

// What is wanted by callers that say nothing.
inline constexpr double kDefaultRecall = 0.98;

struct QueryRequest {
  ReadOptions read;
  Metric metric = Metric::kL2;
  std::span<const float> embeddings;  // queries x dimension
  size_t queries = 0;
  uint32_t dimension = 0;
  uint64_t k = 10;
  // Of the k nearest the part that is wanted on average, and the nodes that a walk through a graph
  // visits in its place (0: as the recall takes): see SegmentSearch. A recall of 1 is exact.
  double recall = 1;
  uint64_t width = 0;
};

// The k nearest of each query, ascending by distance, ties by insertion order; distances are exact
// whatever the recall. Fewer rows than k: all of them.
Result<ResultSet> Query(const Version& version, const QueryRequest& request);

}  // namespace pigment
