// SPDX-License-Identifier: Apache-2.0
//
// Samples and what is nearest to them: see the header.

#include "engine/vector/reach_sample.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "engine/vector/reach_table.h"
#include "engine/vector/top_k.h"

namespace pigment {
namespace {

Status FindNearest(const VectorTable& points, const BuildPause& pause, ReachSample& sample) {
  const uint32_t count = sample.points.count();
  VectorPanels panels(points.dimension(), nullptr);
  std::vector<const float*> rows;
  for (uint32_t i = 0; i < count; ++i) rows.push_back(sample.points.row(i));
  PIGMENT_RETURN_IF_ERROR(panels.Pack(rows));
  std::vector<TopK> nearest(count, TopK(ReachTable::kNeighbors.back()));
  std::vector<uint32_t> all(points.count());
  std::iota(all.begin(), all.end(), 0u);
  PIGMENT_RETURN_IF_ERROR(
      MultiplyRows(panels, points, all, pause, [&](size_t i, const float* products) {
        for (uint32_t query = 0; query < count; ++query) {
          if (sample.absent[query] == i) continue;
          const float distance =
              points.square(all[i]) + (sample.points.square(query) - 2 * products[query]);
          if (nearest[query].MayEnter(distance)) nearest[query].Offer(distance, i);
        }
      }));
  for (uint32_t query = 0; query < count; ++query) {
    // Compared with those of walks, so computed as they are.
    const DistanceFunction distance(Metric::kL2, sample.points.vector(query));
    std::vector<float>& distances = sample.nearest.emplace_back();
    for (const Scored& scored : nearest[query].TakeSorted())
      distances.push_back(distance(points.row(static_cast<uint32_t>(scored.tie))));
    std::sort(distances.begin(), distances.end());
  }
  return Status::Ok();
}

}  // namespace

Result<ReachSample> SamplePoints(const VectorTable& points, uint32_t count, const BuildPause& pause,
                                 SeededRandom& random) {
  ReachSample sample{
      .points = VectorTable(points.dimension(), nullptr), .absent = {}, .nearest = {}};
  PIGMENT_RETURN_IF_ERROR(sample.points.Reserve(count));
  for (uint32_t i = 0; i < count; ++i) {
    sample.absent.push_back(random.Below(points.count()));
    sample.points.Add(points.vector(sample.absent.back()));
  }
  PIGMENT_RETURN_IF_ERROR(FindNearest(points, pause, sample));
  return sample;
}

Result<ReachSample> SampleBetween(const VectorTable& points, uint32_t count,
                                  const BuildPause& pause, SeededRandom& random) {
  ReachSample sample{
      .points = VectorTable(points.dimension(), nullptr), .absent = {}, .nearest = {}};
  PIGMENT_RETURN_IF_ERROR(sample.points.Reserve(count));
  std::vector<float> between(points.dimension());
  for (uint32_t i = 0; i < count; ++i) {
    const float* const near = points.row(random.Below(points.count()));
    const float* const far = points.row(random.Below(points.count()));
    const float share = 0.5f + 0.4f * static_cast<float>(random.Below(1000)) / 1000;
    for (size_t d = 0; d < between.size(); ++d) between[d] = share * near[d] + (1 - share) * far[d];
    sample.absent.push_back(ReachSample::kNobody);
    sample.points.Add(between);
  }
  PIGMENT_RETURN_IF_ERROR(FindNearest(points, pause, sample));
  return sample;
}

}  // namespace pigment
