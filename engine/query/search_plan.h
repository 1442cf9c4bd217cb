// SPDX-License-Identifier: Apache-2.0
//
// First stage of the read pipeline: which rows of each segment and of the tail an answer may come
// from. Live rows, of the allow-list where there is one, that pass the filter where it is applied
// before the search. Pure functions over a pinned version; any thread.

#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/query/search.h"
#include "engine/query/search_explain.h"
#include "engine/segment/row_reader.h"

namespace pigment {

// Asks a call's control once in some steps: for loops whose steps are shorter than a look at the
// clock.
class PacedCheck {
 public:
  explicit PacedCheck(const CallControl& control) : control_(control) {}
  Status Step() { return ++steps_ % kStepsPerCheck == 0 ? control_.Check() : Status::Ok(); }

 private:
  static constexpr uint32_t kStepsPerCheck = 256;
  const CallControl& control_;
  uint32_t steps_ = 0;
};

// A row of a version: of segment `source`, or of the tail.
struct RowPlace {
  static constexpr uint32_t kTail = 0xFFFFFFFF;
  uint32_t source = kTail;
  uint32_t row = 0;

  friend auto operator<=>(const RowPlace&, const RowPlace&) = default;
};

// The readers of one call, made when they are needed: they stay on their blocks from row to row.
// Of one thread; the version is borrowed.
class SegmentReaders {
 public:
  explicit SegmentReaders(const Version& version)
      : version_(version), readers_(version.segments.size()) {}

  RowReader& Of(size_t segment) {
    std::unique_ptr<RowReader>& reader = readers_[segment];
    if (!reader) reader = version_.segments[segment].segment->NewReader();
    return *reader;
  }

 private:
  const Version& version_;
  std::vector<std::unique_ptr<RowReader>> readers_;
};

// A set of rows of one source.
class RowSet {
 public:
  // Every row.
  explicit RowSet(uint32_t rows) : rows_(rows), count_(rows) {}
  static RowSet Nothing(uint32_t rows);

  uint32_t rows() const { return rows_; }
  uint64_t count() const { return count_; }
  bool Test(uint32_t row) const { return words_.empty() || (words_[row / 64] >> (row % 64) & 1); }
  void Set(uint32_t row);    // REQUIRES: made by Nothing
  void Clear(uint32_t row);  // of a row that is in the set
  // One bit per row, lowest first; empty: every row.
  const std::vector<uint64_t>& words() const { return words_; }
  // The first row of the set that is not below `from`; rows() when there is none.
  uint32_t Next(uint32_t from) const;

 private:
  uint32_t rows_;
  uint64_t count_;
  std::vector<uint64_t> words_;
};

struct Plan {
  std::vector<RowSet> segments;
  RowSet tail{0};

  uint64_t count() const;
};

// Live rows of the allow-list; ids that nobody has are no rows.
Result<Plan> PlanRows(const Version& version, const ReadOptions& options);

// Evaluates `options.filter` on every row of the plan and takes out those that do not match.
Status FilterPlan(const Version& version, const ReadOptions& options, Plan& plan,
                  ReadCounters& counters);

// Evaluates the filter on one row after the other.
class RowFilter {
 public:
  RowFilter(const Version& version, const ReadOptions& options, ReadCounters* counters,
            SegmentReaders* readers);

  bool passes_everything() const { return filter_ == nullptr; }
  Result<bool> Matches(const RowPlace& place) const {
    if (place.source == RowPlace::kTail) return MatchesTailRow(place.row);
    return MatchesSegmentRow(place.source, place.row);
  }
  Result<bool> MatchesSegmentRow(size_t segment, uint32_t row) const;
  bool MatchesTailRow(uint32_t row) const;

 private:
  const Version& version_;
  const Filter* filter_;  // null: everything passes
  Segment::Fields fields_;
  bool needs_id_ = false;
  ReadCounters* counters_;
  // Rows come segment by segment, or in turns where they are merged by ordinal.
  SegmentReaders* readers_;
  mutable Record record_;
};

}  // namespace pigment
