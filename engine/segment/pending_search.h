// SPDX-License-Identifier: Apache-2.0
//
// PendingSearch: the nearest rows of a cache of pending rows (pending_cache.h), in three steps:
// sign codes of whole chunks rule out nearly all, byte codes nearly all of the rest, and of what is
// left the vectors are compared in their pages. Of rows in no chunk the first step is left out; of
// rows that hang on an index those alone are looked at that hang where a search of it came.
// Approximate in which rows it finds, by the sign codes' standard errors alone; exact in their
// distances. One thread at a time; what it is given is borrowed for its life.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "engine/segment/graft.h"
#include "engine/segment/pending_cache.h"
#include "engine/segment/pending_reader.h"
#include "engine/vector/byte_code.h"
#include "engine/vector/distance.h"
#include "engine/vector/graph_space.h"
#include "engine/vector/top_k.h"

namespace pigment {

// Fewer rows are looked at by byte codes sooner than the query is made one of chunks.
inline constexpr size_t kRowsWorthChunks = 4 * kChunkRows;

struct PendingHit {
  float distance;
  uint32_t row;  // in the cache
};

class PendingSearch {
 public:
  struct Source {
    Metric metric;
    std::span<const float> query;
    const DistanceFunction* distance;
    const ByteCodeQuery* codes;
    const PendingCache* cache;
    PendingReader* chain;  // all of the cache's chain
    // Standard errors that a sign code must be off by for its row to be missed. By these next to
    // nothing is.
    float errors = 3.5f;
  };
  explicit PendingSearch(const Source& source) : source_(source) {}

  struct Wanted {
    size_t rows;  // the first so many are looked at
    size_t k;
    // Nothing beyond this distance; NaN: there is no limit.
    float limit = std::numeric_limits<float>::quiet_NaN();
    // Whether a row may be a hit; asked for those alone that are near enough. Empty: all may.
    std::function<Result<bool>(size_t row)> matches = {};
    // Nodes that a search of the index gave which rows hang on, with the query there; null: all
    // rows are looked at. REQUIRES: rows >= cache.hanging().end().
    const GraftQuery* graft = nullptr;
    std::span<const uint32_t> nodes = {};
  };
  // At most k, none of them at a distance that is no number, in no order. kDataLoss: a row has
  // another dimension, or its page is damaged.
  Result<std::vector<PendingHit>> Nearest(const Wanted& wanted);

  uint64_t rows_scored() const { return rows_scored_; }    // by code, of the last search
  uint64_t rows_matched() const { return rows_matched_; }  // that `matches` let through

 private:
  // The query as the chunks have it; false: there are none for it, or few rows from `first` on.
  bool PrepareChunks(size_t first);
  Status CompareHanging(const Wanted& wanted);
  // Of rows from this one on.
  Status CompareChunks(size_t first, const Wanted& wanted);
  Status GatherChunks(size_t first, const Wanted& wanted);
  // The row's bound by its byte code, whatever chunk it is in.
  float BoundOf(size_t row) const;
  // Bounds what was gathered, the most promising first, some rows at a time, and compares these.
  Status CompareGathered(const Wanted& wanted);
  // Compares the vectors of rows that byte codes have bounded, the most promising first.
  Status CompareBounded(const Wanted& wanted);
  // Rows in no chunk: by byte codes.
  Status CompareRows(size_t first, size_t count, const Wanted& wanted);
  Status CompareRow(size_t row, const Wanted& wanted);
  Status CheckDimension(size_t row) const;

  const Source source_;
  struct ChunkQuery {
    GraphQuery point;
    SignCodeQuery signs;
    DistanceFunction distance;
  };
  std::optional<ChunkQuery> chunk_query_;
  TopK nearest_{0};
  // Where squares are bounded, that of the chunks or of the graft; null: not yet.
  const GraphQuery* space_ = nullptr;
  float limit_square_ = 0;          // there, of what may enter
  std::vector<uint64_t> gathered_;  // PromiseOf bound by sign codes and row
  std::vector<uint64_t> bounded_;   // by byte codes
  std::vector<float> vector_;
  uint64_t rows_scored_ = 0;
  uint64_t rows_matched_ = 0;
};

}  // namespace pigment
