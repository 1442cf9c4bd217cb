// SPDX-License-Identifier: Apache-2.0
//
// How far probes of clusters must reach for a wanted recall (ClusterProbeOptions::reach), found by
// long probes for samples (calibration.h).

#pragma once

#include "engine/vector/calibration.h"
#include "engine/vector/cluster_lists.h"
#include "engine/vector/reach_table.h"
#include "engine/vector/vector_table.h"

namespace pigment {

// REQUIRES: `clusters` are those of `points`.
Result<ReachTable> CalibrateReach(const VectorTable& points, const ClusterLists& clusters,
                                  const CalibrationOptions& options);

}  // namespace pigment
