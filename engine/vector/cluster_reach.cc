// SPDX-License-Identifier: Apache-2.0
//
// Long probes for the samples: see the header.

#include "engine/vector/cluster_reach.h"

#include <vector>

#include "engine/vector/cluster_probe.h"
#include "engine/vector/cluster_table.h"

namespace pigment {
namespace {

// How far probes go that tell of all shorter ones.
constexpr float kLongReach = 2.9f;
// Centroids are nearer than what lies around them.
constexpr float kLeastReach = 0.5f;
constexpr size_t kClustersMax = 2048;

}  // namespace

Result<ReachTable> CalibrateReach(const VectorTable& points, const ClusterLists& clusters,
                                  const CalibrationOptions& options) {
  ClusterProbe probe;
  std::vector<SearchStep> steps;
  return Calibrate(
      points, options, [&](const CalibrationSample& sample) -> Result<CalibrationSums> {
        CalibrationSums sums(ReachSums::Kind::kProbes, kLeastReach);
        for (uint32_t i = 0; i < sample.points.count(); ++i) {
          if (options.pause) PIGMENT_RETURN_IF_ERROR(options.pause());
          ClusterTableSource source(points, clusters, sample.points.vector(i));
          steps.clear();
          PIGMENT_RETURN_IF_ERROR(
              probe
                  .Search(source, SignCodeQuery(sample.points.vector(i), clusters.bits()),
                          points.count(),
                          {.k = ReachTable::kNeighbors.back(),
                           .reach = kLongReach,
                           .clusters_max = kClustersMax,
                           .absent = sample.absent[i],
                           .steps = &steps})
                  .status());
          sums.Add(sample, i, steps);
        }
        return sums;
      });
}

}  // namespace pigment
