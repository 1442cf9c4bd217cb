// SPDX-License-Identifier: Apache-2.0
//
// Samples and what is nearest to them: see the header.

#include "engine/vector/calibration.h"

#include <algorithm>
#include <numeric>

#include "engine/vector/distance.h"
#include "engine/vector/member_codes.h"
#include "engine/vector/seeded_random.h"
#include "engine/vector/top_k.h"

namespace pigment {
namespace {

Status FindNearest(const VectorTable& points, const BuildPause& pause, CalibrationSample& sample) {
  constexpr uint32_t kPass = MemberCodes::kRowsPerPass;
  const uint32_t count = sample.points.count();
  std::vector<uint32_t> rows(std::max(count, kPass));
  std::iota(rows.begin(), rows.end(), 0u);
  MemberCodes codes(points.dimension(), nullptr);
  PIGMENT_RETURN_IF_ERROR(codes.Pack(sample.points, std::span(rows).first(count)));
  // As walks compute distances, because theirs are compared with these.
  std::vector<DistanceFunction> distances;
  for (uint32_t query = 0; query < count; ++query)
    distances.emplace_back(Metric::kL2, sample.points.vector(query));
  std::vector<TopK> nearest(count, TopK(ReachTable::kNeighbors.back()));
  for (uint32_t first = 0; first < points.count(); first += kPass) {
    if (pause) PIGMENT_RETURN_IF_ERROR(pause());
    const auto pass = std::span(rows).first(std::min(kPass, points.count() - first));
    std::iota(pass.begin(), pass.end(), first);
    codes.Estimate(points, pass);
    for (size_t i = 0; i < pass.size(); ++i) {
      const std::span<const float> estimates = codes.distances(i);
      const float error = codes.ErrorOf(i);
      for (uint32_t query = 0; query < count; ++query) {
        if (!nearest[query].MayEnter(estimates[query] - error) || sample.absent[query] == pass[i])
          continue;
        nearest[query].Offer(distances[query](points.row(pass[i])), pass[i]);
      }
    }
  }
  for (TopK& found : nearest) {
    std::vector<float>& of_query = sample.nearest.emplace_back();
    for (const Scored& scored : found.TakeSorted()) of_query.push_back(scored.distance);
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
