// SPDX-License-Identifier: Apache-2.0
//
// BuildGraph: from vectors to a graph that walks find their way in, or from a graph of some of them
// to one of all (NeighborOptions::known has its links). Lists of neighbours (neighbors.h) are
// thinned by the rule of relative neighbourhood graphs, with the slack of Vamana (Subramanya et
// al., NeurIPS 2019), links are made mutual and thinned again, and what no walk would reach is
// linked to what is near it. Vectors that are known keep their links, but for those that new ones
// take the place of. Equal arguments give equal graphs on every machine, however many threads share
// the work.

#pragma once

#include <cstdint>

#include "engine/base/memory_budget.h"
#include "engine/base/scratch.h"
#include "engine/vector/graph.h"
#include "engine/vector/neighbors.h"
#include "engine/vector/vector_table.h"

namespace pigment {

struct GraphOptions {
  // 4 or more. Where fewer links are left, the nearest of those that were spared come back: nodes
  // have one size, and vectors of different lengths have few directions to choose from.
  uint32_t degree_max = 24;
  // A link of x to y is spared where one that is nearer leads to some z with slack * |z - y|^2 not
  // above |y - x|^2: 1 spares most, more leaves more links.
  float slack = 1.05f;
  uint32_t vectors_per_cluster = 125;  // of each the middle may be an entry
  uint32_t entries_max = 256;          // and of what can be reached from none one more
  uint32_t clusters_searched = 16;     // around each vector, for its neighbours
  uint64_t seed = 1;
  // Of more vectors than this (8 or more) graphs of so many at most are built, of parts that
  // overlap (graph_parts.h), one after the other, and put together; 0: one of all, however many.
  // What they link to waits in `scratch`, which must not be empty then.
  uint32_t part_vectors_max = 0;
  ScratchSource scratch;
  NeighborOptions neighbors;  // with threads, budget and pause of the whole
};

// What is worth its bytes: 24 links, 16 where these would take nearly as much as the vector in f32.
uint32_t GraphDegree(uint32_t dimension);

// Memory that BuildGraph takes for `count` vectors at most, beside them and scratch.
uint64_t GraphBuildBytes(uint32_t dimension, uint32_t count, const GraphOptions& options);

// REQUIRES: vectors.count() > 0.
Result<Graph> BuildGraph(const VectorTable& vectors, const GraphOptions& options);

}  // namespace pigment
