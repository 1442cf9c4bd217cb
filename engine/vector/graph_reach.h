// SPDX-License-Identifier: Apache-2.0
//
// How far walks of one graph must reach for a wanted recall (GraphWalkOptions::reach), found by
// long walks to samples (calibration.h).

#pragma once

#include "engine/vector/calibration.h"
#include "engine/vector/graph.h"
#include "engine/vector/reach_table.h"
#include "engine/vector/vector_table.h"

namespace pigment {

// REQUIRES: graph.count() == points.count() > 0. One thread; equal arguments give equal tables on
// every machine.
Result<ReachTable> CalibrateReach(const VectorTable& points, const Graph& graph,
                                  const CalibrationOptions& options);

}  // namespace pigment
