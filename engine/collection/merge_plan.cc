// SPDX-License-Identifier: Apache-2.0
//
// PlanMerge: see the header.

#include "engine/collection/merge_plan.h"

#include <algorithm>
#include <cmath>

namespace pigment {

namespace {

// Below 1/64 of a flush the cost of a file outweighs that of its rows.
constexpr int kLowestTier = -3;
constexpr size_t kSegmentsAlways = 8;

uint64_t LiveRows(const SegmentShape& segment) { return segment.rows - segment.dead_rows; }

int TierOf(uint64_t live_rows, uint32_t flush_rows_max) {
  if (live_rows == 0) return kLowestTier;
  const double flushes = static_cast<double>(live_rows) / std::max<uint32_t>(flush_rows_max, 1);
  const double tier = std::floor(std::log2(flushes) / 2 + 0.5);
  return std::max(kLowestTier, static_cast<int>(tier));
}

struct Weight {
  uint64_t sum = 0;
  uint64_t largest = 0;
  uint64_t rows = 0;  // dead ones included

  void Add(const SegmentShape& segment) {
    rows += segment.rows;
    sum += LiveRows(segment);
    largest = std::max(largest, LiveRows(segment));
  }
};

// The first run, at most kMergeInputsMax long, among neighbours of `tier` or below.
std::optional<MergeRun> RunOfTier(std::span<const SegmentShape> segments, int tier,
                                  uint32_t flush_rows_max, uint64_t rows_max) {
  const auto belongs = [&](const SegmentShape& segment) {
    return !segment.is_busy && TierOf(LiveRows(segment), flush_rows_max) <= tier;
  };
  for (size_t first = 0; first < segments.size();) {
    size_t end = first;
    Weight weight;
    while (end < segments.size() && end - first < kMergeInputsMax && belongs(segments[end]) &&
           weight.rows + segments[end].rows <= rows_max)
      weight.Add(segments[end++]);
    if (end - first >= kMergeFanIn && 2 * weight.sum >= 7 * weight.largest)
      return MergeRun{first, end - first};
    // What a large first segment forbids, those behind it may still be worth.
    ++first;
  }
  return std::nullopt;
}

std::optional<MergeRun> MostlyDead(std::span<const SegmentShape> segments, uint64_t rows_max) {
  std::optional<MergeRun> cheapest;
  for (size_t index = 0; index < segments.size(); ++index) {
    const SegmentShape& segment = segments[index];
    if (segment.is_busy || segment.rows > rows_max) continue;
    if (uint64_t{segment.dead_rows} * 3 <= segment.rows) continue;
    if (!cheapest || LiveRows(segment) < LiveRows(segments[cheapest->first]))
      cheapest = MergeRun{index, 1};
  }
  return cheapest;
}

std::optional<MergeRun> CheapestNeighbours(std::span<const SegmentShape> segments,
                                           uint64_t rows_max) {
  std::optional<MergeRun> cheapest;
  uint64_t lowest = 0;
  for (size_t first = 0; first + kMergeFanIn <= segments.size(); ++first) {
    const auto window = segments.subspan(first, kMergeFanIn);
    if (std::any_of(window.begin(), window.end(), [](const auto& one) { return one.is_busy; }))
      continue;
    Weight weight;
    for (const SegmentShape& segment : window) weight.Add(segment);
    if (weight.rows > rows_max || (cheapest && weight.sum >= lowest)) continue;
    cheapest = MergeRun{first, kMergeFanIn};
    lowest = weight.sum;
  }
  return cheapest;
}

// Of the segments from `first` to before `end`: all, or those on one side of the largest.
std::optional<MergeRun> QuietRun(std::span<const SegmentShape> segments, size_t first, size_t end,
                                 uint64_t rows_min) {
  constexpr uint64_t kLargestBy = 8;
  if (first >= end) return std::nullopt;
  Weight weight;
  for (size_t i = first; i < end; ++i) weight.Add(segments[i]);
  if (weight.sum < rows_min) return std::nullopt;
  const bool lacks_index = std::all_of(segments.begin() + static_cast<ptrdiff_t>(first),
                                       segments.begin() + static_cast<ptrdiff_t>(end),
                                       [](const auto& one) { return one.lacks_index; });
  if (lacks_index || kLargestBy * (weight.rows - weight.largest) >= weight.largest)
    return MergeRun{first, end - first};
  size_t largest = first;
  while (LiveRows(segments[largest]) != weight.largest) ++largest;
  if (const auto before = QuietRun(segments, first, largest, rows_min)) return before;
  return QuietRun(segments, largest + 1, end, rows_min);
}

}  // namespace

std::optional<MergeRun> PlanMerge(std::span<const SegmentShape> segments, uint32_t flush_rows_max,
                                  uint64_t rows_max) {
  int highest = kLowestTier;
  for (const SegmentShape& segment : segments)
    highest = std::max(highest, TierOf(LiveRows(segment), flush_rows_max));
  for (int tier = kLowestTier; segments.size() >= kMergeFanIn && tier <= highest; ++tier) {
    if (const auto run = RunOfTier(segments, tier, flush_rows_max, rows_max)) return run;
  }
  if (const auto run = MostlyDead(segments, rows_max)) return run;
  if (segments.size() > SegmentsExpected(segments, flush_rows_max))
    return CheapestNeighbours(segments, rows_max);
  return std::nullopt;
}

std::optional<MergeRun> PlanQuietMerge(std::span<const SegmentShape> segments, uint64_t rows_min,
                                       uint64_t rows_max) {
  for (size_t first = 0; first < segments.size();) {
    uint64_t rows = 0;
    size_t end = first;
    for (; end < segments.size() && end - first < kMergeInputsMax; ++end) {
      if (segments[end].is_busy || rows + segments[end].rows > rows_max) break;
      rows += segments[end].rows;
    }
    if (const auto run = QuietRun(segments, first, end, rows_min)) return run;
    first = std::max(end, first + 1);
  }
  return std::nullopt;
}

size_t SegmentsExpected(std::span<const SegmentShape> segments, uint32_t flush_rows_max) {
  uint64_t live_rows = 0;
  int lowest = 0;
  for (const SegmentShape& segment : segments) {
    live_rows += LiveRows(segment);
    lowest = std::min(lowest, TierOf(LiveRows(segment), flush_rows_max));
  }
  const int tiers = std::max(TierOf(live_rows, flush_rows_max), 0) - lowest + 1;
  return std::max(kSegmentsAlways, static_cast<size_t>(tiers) * (kMergeFanIn - 1));
}

}  // namespace pigment
