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
#include "engine/base/trace.h"
#include "engine/catalog/catalog.h"
#include "engine/collection/version.h"
#include "engine/query/cursor.h"
#include "engine/query/filter.h"
#include "engine/query/order_by.h"

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
  std::vector<float> scores;  // of a text search
  bool has_scores = false;
  TextColumn highlights;          // JSON arrays of [begin, end), bytes of the document
  std::vector<float> embeddings;  // rows x dimension
  uint32_t dimension = 0;
  Include included;
  uint64_t position = 0;     // log position that the answer saw
  std::string explain_json;  // empty unless asked for
  // Of a get that its limit ended: the last row's place, behind which there may be more.
  std::optional<RowPosition> last;
  std::string cursor;  // the same as a text; empty: none

  uint64_t rows() const { return query_offsets.back(); }  // of all queries
};

struct ReadOptions {
  std::optional<std::vector<std::string>> ids;  // allow-list; unknown ids are no hit
  std::shared_ptr<const Filter> filter;         // null: everything
  Include include;
  CallControl control;
  bool explain = false;
  ReadTrace trace = {};
};

struct GetRequest {
  ReadOptions read;
  std::optional<uint64_t> limit = std::nullopt;
  uint64_t offset = 0;
  OrderBy order_by = {};
  std::optional<RowPosition> after = std::nullopt;  // only rows behind this place of the order
};

// Rows in the order that is asked for, ties and without one all in insertion order (ordinals
// ascending).
Result<ResultSet> Get(const Version& version, const GetRequest& request);
// The ids alone, in the same order: for delete with filters.
Result<std::vector<std::string>> SelectIds(const Version& version, const GetRequest& request);
// How many rows there are for a get without limit. No record is read of which an index is certain.
Result<uint64_t> CountRows(const Version& version, const ReadOptions& read);

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
  // What is farther is no hit, nor what is so far as is no number.
  std::optional<double> max_distance = std::nullopt;
  uint32_t threads = 0;  // that may share the queries; 0: as many as there are cores
};

// The k nearest of each query, ascending by distance, ties by insertion order; distances are exact
// whatever the recall, and threads change nothing. Fewer rows than k: all of them.
Result<ResultSet> Query(const Version& version, const QueryRequest& request);

}  // namespace pigment
