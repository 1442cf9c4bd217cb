// SPDX-License-Identifier: Apache-2.0
//
// Search of one segment, by whatever is expected to cost least for the recall that is wanted: a
// walk of its graph or a probe of its clusters (index_search.h), or a scan of the allowed rows
// (flat_scan.h), which finds all.
// Any thread; everything is borrowed for the call.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/segment/flat_scan.h"
#include "engine/vector/graph_space.h"

namespace pigment {

struct SegmentSearch {
  FlatScan scan;               // metric, queries, k, allowed rows, control
  uint64_t allowed_count = 0;  // how many rows are allowed that have a vector
  // Of the k nearest allowed rows the part that is wanted on average; 1: all, by a scan.
  double recall = 1;
  // So many more rows are to be given: what a walk for k meets of them anyway, which is less surely
  // the nearest, and from elsewhere as if k were larger.
  size_t spare = 0;
  // Nodes that a walk visits, or clusters that a probe does, in place of a recall; 0: as the recall
  // takes.
  size_t width = 0;
  // Allowed rows of others that hang on the index (graft.h): found by the nodes or clusters that a
  // search of it gives, and by one of their own where it is scanned.
  uint64_t hanging = 0;
  // The only query as a point of the index's space, where that is known already
  // (GraftQuery::point); may be null.
  const GraphQuery* point = nullptr;
};

struct SegmentSearchResult {
  // As of ScanFlat, with min(k, allowed_count) rows for each query whatever way was gone, and at
  // most the spare ones; a scan leaves out those beyond a query's limit.
  FlatScanResult found;
  uint64_t walks = 0;   // queries that were answered by a walk
  uint64_t probes = 0;  // by a probe
  uint64_t nodes_visited = 0;
  uint64_t clusters_probed = 0;
  uint64_t links_estimated = 0;
  // Where rows hang: of each query what Graft::NodesNear gives of its walk, or the clusters that
  // were probed; none where neither was its answer.
  std::vector<std::vector<uint32_t>> nodes;
};

// As ScanFlat for dimensions that differ. Without an index, or where the metric is not the
// segment's, it is a scan.
Result<SegmentSearchResult> SearchSegment(const Segment& segment, uint32_t dimension,
                                          const SegmentSearch& search);

}  // namespace pigment
