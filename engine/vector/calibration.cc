// SPDX-License-Identifier: Apache-2.0
//
// Samples and what is nearest to them: see the header.

#include "engine/vector/calibration.h"

#include <algorithm>
#include <numeric>

#include "engine/vector/seeded_random.h"
#include "engine/vector/top_k.h"

namespace pigment {
namespace {

Status FindNearest(const VectorTable& points, const BuildPause& pause, CalibrationSample& sample) {
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

Result<CalibrationSample> SamplePoints(const VectorTable& points, uint32_t count, bool /*crosses*/,
                                       SeededRandom& random) {
  CalibrationSample sample{
      .points = VectorTable(points.dimension(), nullptr), .absent = {}, .nearest = {}};
  PIGMENT_RETURN_IF_ERROR(sample.points.Reserve(count));
  for (uint32_t i = 0; i < count; ++i) {
    sample.absent.push_back(random.Below(points.count()));
    sample.points.Add(points.vector(sample.absent.back()));
  }
  return sample;
}

Result<CalibrationSample> SampleBetween(const VectorTable& points, uint32_t count, bool crosses,
                                        SeededRandom& random) {
  constexpr uint32_t kParts = 1000;
  CalibrationSample sample{
      .points = VectorTable(points.dimension(), nullptr), .absent = {}, .nearest = {}};
  PIGMENT_RETURN_IF_ERROR(sample.points.Reserve(count));
  std::vector<float> between(points.dimension());
  for (uint32_t i = 0; i < count; ++i) {
    const float* const near = points.row(random.Below(points.count()));
    const float* const far = points.row(random.Below(points.count()));
    const float share = 0.5f + 0.4f * static_cast<float>(random.Below(kParts)) / kParts;
    for (size_t d = 0; d < between.size(); ++d) {
      const float part = !crosses ? share : random.Below(kParts) < share * kParts ? 1 : 0;
      between[d] = part * near[d] + (1 - part) * far[d];
    }
    sample.absent.push_back(SearchStep::kNoVector);
    sample.points.Add(between);
  }
  return sample;
}

}  // namespace

void CalibrationSums::Add(const CalibrationSample& sample, uint32_t query,
                          std::span<const SearchStep> steps, size_t rows) {
  for (size_t row = 0; row < rows; ++row) {
    const size_t k = std::min<size_t>(ReachTable::kNeighbors[row], sample.nearest[query].size());
    if (k > 0) sums_[row].Add(steps, std::span(sample.nearest[query]).first(k));
  }
}

bool CalibrationSums::FindsAll() const { return std::ranges::all_of(sums_, &ReachSums::FindsAll); }

void CalibrationSums::Raise(ReachTable& table) const {
  for (size_t row = 0; row < sums_.size(); ++row) {
    for (size_t i = 0; i < ReachTable::kRecalls.size(); ++i) {
      const Reach least = sums_[row].Least(ReachTable::kRecalls[i], least_);
      if (least.reach > table.values[row][i].reach) table.values[row][i] = least;
    }
  }
}

Result<ReachTable> Calibrate(
    const VectorTable& points, const CalibrationOptions& options,
    const std::function<Result<CalibrationSums>(const CalibrationSample&)>& search_all) {
  SeededRandom random(options.seed);
  const uint32_t count = std::min(options.queries, points.count());
  ReachTable table;
  for (const auto& draw : {SamplePoints, SampleBetween}) {
    PIGMENT_ASSIGN_OR_RETURN(CalibrationSample sample,
                             draw(points, count, options.crosses, random));
    PIGMENT_RETURN_IF_ERROR(FindNearest(points, options.pause, sample));
    PIGMENT_ASSIGN_OR_RETURN(const CalibrationSums sums, search_all(sample));
    sums.Raise(table);
  }
  // Below 1 the nearest one alone tells too little: where several segments are searched, what
  // others found shortens searches once more.
  for (size_t i = 0; i < ReachTable::kRecalls.size(); ++i) {
    Reach& of_one = table.values[0][i];
    const Reach& of_ten = table.values[1][i];
    if (of_one.reach < std::min(of_ten.reach, 1.0f))
      of_one = {.reach = std::min(of_ten.reach, 1.0f),
                .visits = std::max(of_one.visits, of_ten.visits)};
  }
  return table;
}

}  // namespace pigment
