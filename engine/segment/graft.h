// SPDX-License-Identifier: Apache-2.0
//
// Graft: the rows of a small segment hung on the graph of a large one, so that a walk of that graph
// finds them without a search of their own: each row is noted with the nodes that are nearest to
// it, and a search compares the rows of the nodes that a walk visited. As links of an HNSW graph
// from old to new vectors are (Malkov and Yashunin, 2016), in memory and apart from both segments.
// Immutable; any thread. Segments are named by their numbers and may go before it.

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/base/memory_budget.h"
#include "engine/segment/flat_scan.h"
#include "engine/segment/segment.h"
#include "engine/vector/build_pause.h"
#include "engine/vector/graph_space.h"
#include "engine/vector/reach_table.h"

namespace pigment {

struct GraftOptions {
  std::shared_ptr<MemoryBudget> budget;  // may be null; the graft keeps it
  BuildPause pause = {};                 // may be empty
};

struct GraftSearch {
  std::span<const float> query;
  size_t k = 0;
  double recall = 0.98;  // of what hangs on the nodes, by codes
  // Nothing beyond this distance is wanted, which is that of the k-th nearest of the graph or less.
  float limit = std::numeric_limits<float>::infinity();
  std::span<const uint32_t> nodes;       // what NodesNear gave of a walk for this query
  RowMask allowed_rows = {};             // as in FlatScan
  const CallControl* control = nullptr;  // asked every few rows; may be null
};

struct GraftSearchResult {
  std::vector<RowHit> hits;   // at most k, ascending by (distance, row)
  uint64_t rows_scored = 0;   // by their codes
  uint64_t bytes_scored = 0;  // of codes, and of the vectors that were compared
};

class Graft {
 public:
  // Walks find as much of what hangs on a graph as of the graph up to this recall. Whoever wants
  // more searches the rows themselves.
  static constexpr float kRecallMax = 0.99f;

  // Of the visits of a walk, the nodes that rows nearer than the nearest of the graph hang on:
  // those that are not much farther than all that it found.
  static std::vector<uint32_t> NodesNear(const GraphQuery& query,
                                         std::span<const SearchStep> visits,
                                         std::span<const RowHit> found);

  // Whether rows of such a segment may hang on that one, and are so much fewer that it is worth it.
  static bool Fits(const SegmentInfo& graph, const SegmentInfo& rows);
  // Null: by samples, searches would miss too many or compare too many, because the rows are of
  // another kind than what the graph has. kResourceExhausted: there is no room for it. REQUIRES:
  // Fits.
  static Result<std::shared_ptr<const Graft>> Make(const Segment& graph, const Segment& rows,
                                                   const GraftOptions& options);
  // What Make takes at most, and its result has two thirds of.
  static uint64_t MakeBytes(const SegmentInfo& graph, const SegmentInfo& rows);

  uint32_t graph_segment() const { return graph_segment_; }
  // The segments are those that were given to Make.
  Result<GraftSearchResult> Search(const Segment& graph, const Segment& rows,
                                   const GraftSearch& search) const;

 private:
  Graft(const SegmentInfo& graph, std::shared_ptr<MemoryBudget> budget)
      : graph_segment_(graph.segment), budget_(std::move(budget)), reservation_(budget_.get()) {}
  std::span<const uint32_t> RowsOf(uint32_t node) const {
    return std::span(rows_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }
  Status EncodeRows(const Segment& graph, const Segment& rows, const BuildPause& pause);
  // Those that hang on some nodes and are allowed, each once; their codes are asked for ahead.
  std::vector<uint32_t> RowsMet(std::span<const uint32_t> nodes, RowMask allowed) const;
  // Whether samples find what they want of the rows, and look at few.
  Result<bool> IsOfUse(const Segment& graph, const Segment& rows, const BuildPause& pause) const;

  const uint32_t graph_segment_;
  const std::shared_ptr<MemoryBudget> budget_;
  Reservation reservation_;
  std::vector<uint32_t> begins_;  // of each node in rows_; then the end
  std::vector<uint32_t> rows_;
  // Of each row, in the space of the graph (engine/vector/row_code.h).
  std::vector<std::byte> codes_;
  size_t code_bytes_ = 0;
  float radius_ = 0;
};

}  // namespace pigment
