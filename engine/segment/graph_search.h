// SPDX-License-Identifier: Apache-2.0
//
// Search of one segment by its graph: approximate in which rows it finds, exact in their distances.
// Any thread; segment, reader and query are borrowed for the call.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/segment/flat_scan.h"
#include "engine/segment/graph_reader.h"
#include "engine/vector/graph_walk.h"

namespace pigment {

struct GraphSearch {
  Metric metric = Metric::kL2;        // the segment's
  std::span<const float> vector;      // the query, of the segment's dimension
  const GraphQuery* query = nullptr;  // the same as a point; is_finite()
  size_t k = 0;
  // As in FlatScan; walks go through other rows too.
  RowMask allowed_rows = {};
  float reach = 1.1f;                    // GraphWalkOptions
  size_t visits_max = 0;                 // 0: no limit
  const CallControl* control = nullptr;  // asked every few visits; may be null
};

struct GraphSearchResult {
  std::vector<RowHit> hits;  // at most k, ascending by (distance, row)
  uint64_t nodes_visited = 0;
  uint64_t links_estimated = 0;
};

// REQUIRES: rows and vectors of the segment are numbered alike.
Result<GraphSearchResult> SearchGraph(const SegmentInfo& info, GraphReader& reader,
                                      const GraphSearch& search, GraphWalk& walk);

}  // namespace pigment
