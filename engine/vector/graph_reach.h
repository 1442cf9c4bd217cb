// SPDX-License-Identifier: Apache-2.0
//
// How far walks of one graph must reach for a wanted recall (GraphWalkOptions::reach), found by
// walking to points of the graph as if they were not in it, and to what lies between points: for
// queries that are like what was indexed, and for others.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/vector/graph.h"
#include "engine/vector/products.h"
#include "engine/vector/vector_table.h"

namespace pigment {

struct GraphReach {
  float reach = 0;   // infinite where no walk gets there: what is wanted takes a scan
  float visits = 0;  // of such a walk, on average
};

class GraphReachTable {
 public:
  // What is calibrated; between these it is interpolated, beyond them the last one counts.
  static constexpr std::array<uint32_t, 3> kNeighbors = {1, 10, 100};
  static constexpr std::array<float, 6> kRecalls = {0.80f, 0.90f, 0.95f, 0.98f, 0.99f, 0.999f};

  // Walks for fewer neighbours are walks for so many: how far the nearest one is says little about
  // where the others are, and whether it is the nearest.
  static constexpr size_t kNeighborsMin = 10;

  // Of a walk for `k` neighbours, of which `recall` (0 to 1) are to be found. Visits grow with k
  // beyond what is calibrated as they did before.
  GraphReach For(size_t k, double recall) const;

  // As stored: kNeighbors x kRecalls.
  std::array<std::array<GraphReach, kRecalls.size()>, kNeighbors.size()> values{};
};

struct ReachOptions {
  uint32_t queries = 200;  // of each kind
  uint64_t seed = 1;
  BuildPause pause;  // may be empty
};

// REQUIRES: graph.count() == points.count() > 0. One thread; equal arguments give equal tables on
// every machine.
Result<GraphReachTable> CalibrateReach(const VectorTable& points, const Graph& graph,
                                       const ReachOptions& options);

}  // namespace pigment
