// SPDX-License-Identifier: Apache-2.0
//
// How far walks of one graph must reach for a wanted recall (GraphWalkOptions::reach), found by
// long walks to samples (reach_sample.h).

#pragma once

#include <cstdint>

#include "engine/vector/graph.h"
#include "engine/vector/products.h"
#include "engine/vector/reach_table.h"
#include "engine/vector/vector_table.h"

namespace pigment {

struct ReachOptions {
  uint32_t queries = 200;  // of each kind
  uint64_t seed = 1;
  BuildPause pause;  // may be empty
};

// REQUIRES: graph.count() == points.count() > 0. One thread; equal arguments give equal tables on
// every machine.
Result<ReachTable> CalibrateReach(const VectorTable& points, const Graph& graph,
                                  const ReachOptions& options);

}  // namespace pigment
