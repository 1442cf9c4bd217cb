// SPDX-License-Identifier: Apache-2.0
//
// First stage of the read pipeline: which rows of each segment and of the tail an answer may come
// from. Live rows, of the allow-list where there is one, that pass the filter where it is applied
// before the search. Pure functions over a pinned version; any thread.

#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/inverted/row_set.h"
#include "engine/query/search.h"
#include "engine/query/search_explain.h"
#include "engine/segment/row_reader.h"

namespace pigment {

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

RowSet LiveRows(const SegmentView& view);
RowSet LiveRows(const TailView& tail);

struct Plan {
  std::vector<RowSet> segments;
  // Rows of each segment that match the filter for sure; empty: of none is anything known.
  std::vector<RowSet> certain;
  // Segments whose other rows are to be looked at in windows (document_scan.h), and whether that is
  // all there is to be looked at.
  enum class Scan : uint8_t { kNo, kNarrows, kDecides };
  std::vector<Scan> scans;
  bool is_filtered = false;  // all that is left matches
  RowSet tail{0};

  uint64_t count() const;
  bool IsCertain(size_t segment, uint32_t row) const {
    return is_filtered || (!certain.empty() && certain[segment].Test(row));
  }
};

// kInvalidArgument where the filter asks for what the schema of the collection has disabled, or by
// a path where metadata is flat.
Status CheckFilter(const Version& version, const ReadOptions& options);

// Live rows of the allow-list; ids that nobody has are no rows.
Result<Plan> PlanRows(const Version& version, const ReadOptions& options);

// Takes rows out of the plan that do not match `options.filter`, as far as the inverted indexes of
// segments tell.
Status NarrowPlan(const Version& version, const ReadOptions& options, Plan& plan,
                  SegmentReaders& readers, ReadCounters& counters);

// Evaluates `options.filter` on every row of the plan of which it is not certain that it matches,
// and takes out those that do not.
Status FilterPlan(const Version& version, const ReadOptions& options, Plan& plan,
                  SegmentReaders& readers, ReadCounters& counters);

// Evaluates the filter on one row after the other; rows that `plan` (which may be null) is certain
// of are not looked at. Where rows ascend, conditions on documents are evaluated for many at once.
class DocumentScan;  // document_scan.h

class RowFilter {
 public:
  RowFilter(const Version& version, const ReadOptions& options, const Plan* plan,
            ReadCounters* counters, SegmentReaders* readers);
  ~RowFilter();

  bool passes_everything() const { return filter_ == nullptr; }
  Result<bool> Matches(const RowPlace& place) {
    if (place.source == RowPlace::kTail) return MatchesTailRow(place.row);
    return MatchesSegmentRow(place.source, place.row);
  }
  Result<bool> MatchesSegmentRow(size_t segment, uint32_t row);
  // Takes rows of a segment that do not match out of `rows`, the plan's.
  Status FilterSegment(size_t segment, RowSet& rows);
  bool MatchesTailRow(uint32_t row) const;

 private:
  // Rows from `first` on that conditions on documents leave of the plan.
  struct Window {
    uint32_t first = 0;
    std::vector<uint64_t> words;
    uint32_t expected = 0;  // the row after the last one that was asked for
    std::unique_ptr<CellReader> cells;
    std::unique_ptr<DocumentScan> scan;
  };
  // None: the row is to be looked at alone, because it does not follow the one before.
  Result<std::optional<bool>> AskWindow(size_t segment, uint32_t row);
  Plan::Scan ScanOf(size_t segment) const {
    return plan_ != nullptr && !plan_->scans.empty() ? plan_->scans[segment] : Plan::Scan::kNo;
  }
  Status LoadWindow(size_t segment, const RowSet& rows, size_t word, size_t words);

  const Version& version_;
  const Filter* filter_;  // null: everything passes
  const CallControl control_;
  const Plan* plan_;
  Segment::Fields fields_;
  bool needs_id_ = false;
  ReadCounters* counters_;
  // Rows come segment by segment, or in turns where they are merged by ordinal.
  SegmentReaders* readers_;
  std::vector<Window> windows_;  // of each segment
  mutable Record record_;
};

}  // namespace pigment
