// SPDX-License-Identifier: Apache-2.0
//
// How far walks of one graph must reach for a wanted recall (GraphWalkOptions::reach), found by
// long walks to samples (calibration.h).

#pragma once

#include "engine/vector/calibration.h"
#include "engine/vector/graph_encode.h"
#include "engine/vector/reach_table.h"

namespace pigment {

// REQUIRES: a graph of one vector or more. One thread; equal graphs give equal tables on every
// machine.
Result<ReachTable> CalibrateReach(GraphNodes& nodes, const CalibrationOptions& options);

}  // namespace pigment
