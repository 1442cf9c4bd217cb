// SPDX-License-Identifier: Apache-2.0
//
// Which segments to merge next: a pure function of their sizes. Only neighbours are merged, so that
// ordinals stay as sorted as flushes left them. Any thread.
//
// A segment's tier is the logarithm, base 4, of its live rows in units of a full flush, rounded, so
// that a flush with half its rows dead is still one; what is far smaller than a flush counts as one
// tier. A run of at least four neighbours of a tier or below becomes one segment when that makes
// three and a half times the largest of them: a large segment is not rewritten for the sake of a
// few small ones. (Measured on ten million rows by merge_plan_test: at twice, rows are written 5.2
// times more, at three times 4.2, at three and a half 3.4, with 4.8, 5.7 and 6.2 segments on
// average.) A segment with more than a third of its rows dead is rewritten alone. Sizes that meet
// no rule (what deletions leave) still cannot pile up: beyond a number of segments the cheapest
// four neighbours go. No merge has more rows than there is memory for: what is that large stays as
// it is.
//
// Where no rule asks for anything and nobody writes, neighbours become one segment when all but the
// largest, and what is dead, are an eighth of it: its graph is what the merge starts from, so that
// a row that stays costs a third of a new one, and each segment costs every query. What has no
// index and is worth one gets it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace pigment {

struct SegmentShape {
  uint32_t rows = 0;         // dead ones included
  uint32_t dead_rows = 0;    // in the stored deletions: those that a merge drops
  bool is_busy = false;      // a merge reads it already
  bool lacks_index = false;  // has none, and may get one
};

struct MergeRun {
  size_t first = 0;  // index of the first segment
  size_t count = 0;
};

inline constexpr size_t kMergeFanIn = 4;
inline constexpr size_t kMergeInputsMax = 16;  // bounds memory and files of one merge

inline constexpr uint64_t kMergeRowsAny = std::numeric_limits<uint64_t>::max();

// The merge that is due and costs least, of at most `rows_max` rows, dead ones included; nullopt:
// none.
std::optional<MergeRun> PlanMerge(std::span<const SegmentShape> segments, uint32_t flush_rows_max,
                                  uint64_t rows_max = kMergeRowsAny);

// The first neighbours that are worth a merge when nobody writes, of at least `rows_min` live rows
// together, which are worth an index, and at most `rows_max`; nullopt: none.
std::optional<MergeRun> PlanQuietMerge(std::span<const SegmentShape> segments, uint64_t rows_min,
                                       uint64_t rows_max = kMergeRowsAny);

// How many segments of these sizes there may be when merges keep up: three of each tier, at least
// eight.
size_t SegmentsExpected(std::span<const SegmentShape> segments, uint32_t flush_rows_max);

}  // namespace pigment
