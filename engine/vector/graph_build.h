// SPDX-License-Identifier: Apache-2.0
//
// BuildGraph: from vectors to a graph that walks find their way in. Lists of neighbours
// (neighbors.h) are thinned by the rule of relative neighbourhood graphs, with the slack of Vamana
// (Subramanya et al., NeurIPS 2019), links are made mutual and thinned again, and what no walk
// would reach is linked to what is near it. One thread; equal arguments give equal graphs on every
// machine.

#pragma once

#include <cstdint>

#include "engine/base/memory_budget.h"
#include "engine/vector/graph.h"
#include "engine/vector/neighbors.h"
#include "engine/vector/vector_table.h"

namespace pigment {

struct GraphOptions {
  uint32_t degree_max = 32;  // 4 or more
  // Where fewer links are left than this, the nearest of those that were spared come back: vectors
  // of different lengths have few directions to choose from.
  uint32_t degree_min = 16;
  // A link of x to y is spared where one that is nearer leads to some z with slack * |z - y|^2 not
  // above |y - x|^2: 1 spares most, more leaves more links.
  float slack = 1.05f;
  uint32_t vectors_per_cluster = 125;  // of each the middle is an entry
  uint32_t clusters_searched = 20;     // around each vector, for its neighbours
  uint64_t seed = 1;
  NeighborOptions neighbors;  // with the budget and the pause of the whole
};

// REQUIRES: vectors.count() > 0.
Result<Graph> BuildGraph(const VectorTable& vectors, const GraphOptions& options);

}  // namespace pigment
