// SPDX-License-Identifier: Apache-2.0
//
// Search of one segment by its index: approximate in which rows it finds, exact in their distances.
// Any thread; segment, reader and query are borrowed for the call.

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/segment/flat_scan.h"
#include "engine/segment/index_reader.h"
#include "engine/vector/cluster_probe.h"
#include "engine/vector/graph_walk.h"

namespace pigment {

struct IndexSearch {
  Metric metric = Metric::kL2;        // the segment's
  std::span<const float> vector;      // the query, of the segment's dimension
  const GraphQuery* query = nullptr;  // the same as a point; is_finite()
  size_t k = 0;
  // Of a metric that another stands in for (SearchedBy): k are looked for by that one, and so many
  // of all that are compared, the nearest by the metric itself, are given.
  size_t given = 0;
  size_t spare = 0;           // of a walk: GraphWalkOptions
  RowMask allowed_rows = {};  // as in FlatScan; walks go through other rows too
  bool allows_most = false;   // ClusterProbeOptions
  float reach = 1.1f;         // this and `wanted`: GraphWalkOptions, ClusterProbeOptions
  MaskedReach* masked = nullptr;
  float wanted = std::numeric_limits<float>::quiet_NaN();
  size_t visits_max = 0;                     // nodes or clusters; 0: no limit
  std::vector<SearchStep>* steps = nullptr;  // of a walk, appended; may be null
  std::vector<uint32_t>* probed = nullptr;   // clusters, likewise
  const CallControl* control = nullptr;      // asked every few visits; may be null
};

// Both give at most k hits, and a walk the spare ones, ascending by (distance, row); `walk` and
// `probe` say what it took.
Result<std::vector<RowHit>> SearchGraph(const SegmentInfo& info, IndexReader& reader,
                                        const IndexSearch& search, GraphWalk& walk);
Result<std::vector<RowHit>> SearchClusters(const SegmentInfo& info, IndexReader& reader,
                                           const IndexSearch& search, ClusterProbe& probe);

// The cluster that a vector belongs to. REQUIRES: of metric, vector and query what SearchClusters
// takes.
Result<uint32_t> NearestCluster(IndexReader& reader, const IndexSearch& search,
                                ClusterProbe& probe);

}  // namespace pigment
