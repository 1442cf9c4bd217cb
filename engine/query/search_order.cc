// SPDX-License-Identifier: Apache-2.0
//
// Rows by insertion ordinal: segments and tail each ascend by ordinal, and are merged lazily, so
// that a limit ends the reading of ordinals and the evaluation of the filter alike. A cursor's
// place is sought in each by halves: what is before it costs nothing.

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include "engine/query/search_scan.h"

namespace pigment {

namespace {

// Walks the planned rows of one segment with their ordinals, reading these in windows where rows
// are dense.
class SegmentCursor {
 public:
  SegmentCursor(const Segment& segment, const RowSet& rows)
      : segment_(segment), rows_(rows), window_rows_(rows.count() * 16 < rows.rows() ? 1 : 1024) {}

  // Passes over the rows up to an ordinal.
  Status SkipTo(uint64_t ordinal) {
    uint32_t end = rows_.rows();
    while (next_ < end) {
      const uint32_t middle = next_ + (end - next_) / 2;
      PIGMENT_ASSIGN_OR_RETURN(const uint64_t there, segment_.ReadOrdinal(middle));
      if (there <= ordinal) {
        next_ = middle + 1;
      } else {
        end = middle;
      }
    }
    return Status::Ok();
  }
  // False at the end.
  Result<bool> Advance() {
    row_ = rows_.Next(next_);
    if (row_ >= rows_.rows()) return false;
    next_ = row_ + 1;
    if (row_ - window_first_ >= window_.size()) {
      window_first_ = row_;
      window_.resize(std::min(window_rows_, rows_.rows() - row_));
      PIGMENT_RETURN_IF_ERROR(segment_.ReadOrdinals(window_first_, window_));
    }
    return true;
  }
  uint32_t row() const { return row_; }
  uint64_t ordinal() const { return window_[row_ - window_first_]; }

 private:
  const Segment& segment_;
  const RowSet& rows_;
  const uint32_t window_rows_;
  uint32_t next_ = 0;
  uint32_t row_ = 0;
  uint32_t window_first_ = 0;
  std::vector<uint64_t> window_;
};

using OrdinalAndRow = std::pair<uint64_t, uint32_t>;

Result<std::vector<OrdinalAndRow>> TailRowsByOrdinal(const TailView& tail, const RowSet& rows,
                                                     const CallControl& control) {
  PacedCheck check(control);
  std::vector<OrdinalAndRow> ordered;
  ordered.reserve(static_cast<size_t>(rows.count()));
  for (uint32_t row = rows.Next(0); row < rows.rows(); row = rows.Next(row + 1)) {
    PIGMENT_RETURN_IF_ERROR(check.Step());
    ordered.emplace_back(tail.row(row).ordinal, row);
  }
  if (!std::is_sorted(ordered.begin(), ordered.end())) {
    std::sort(ordered.begin(), ordered.end());  // an update moves a row and keeps its ordinal
  }
  return ordered;
}

// All rows of a plan by ordinal.
class OrderedRows {
 public:
  OrderedRows(const Version& version, const Plan& plan, std::vector<OrdinalAndRow> tail_rows)
      : tail_rows_(std::move(tail_rows)) {
    cursors_.reserve(plan.segments.size());
    for (size_t index = 0; index < plan.segments.size(); ++index) {
      cursors_.emplace_back(*version.segments[index].segment, plan.segments[index]);
    }
  }

  // From the first row on that is behind `after`, where it is given.
  Status Begin(const std::optional<RowPosition>& after) {
    for (uint32_t source = 0; source < cursors_.size(); ++source) {
      if (after) PIGMENT_RETURN_IF_ERROR(cursors_[source].SkipTo(after->ordinal));
      PIGMENT_RETURN_IF_ERROR(Push(source));
    }
    if (after) {
      constexpr uint32_t kLast = std::numeric_limits<uint32_t>::max();
      tail_next_ = static_cast<size_t>(std::upper_bound(tail_rows_.begin(), tail_rows_.end(),
                                                        OrdinalAndRow{after->ordinal, kLast}) -
                                       tail_rows_.begin());
    }
    return Push(RowPlace::kTail);
  }

  // False at the end.
  Result<bool> Next(RowPlace* place) {
    if (heads_.empty()) return false;
    const uint32_t source = heads_.top().second;
    *place = {source, source == RowPlace::kTail ? tail_rows_[tail_next_ - 1].second
                                                : cursors_[source].row()};
    if (heads_.size() == 1 && source != RowPlace::kTail) {  // nothing is left to merge it with
      PIGMENT_ASSIGN_OR_RETURN(const bool more, cursors_[source].Advance());
      if (!more) heads_.pop();
      return true;
    }
    heads_.pop();
    PIGMENT_RETURN_IF_ERROR(Push(source));
    return true;
  }

 private:
  Status Push(uint32_t source) {
    if (source == RowPlace::kTail) {
      if (tail_next_ == tail_rows_.size()) return Status::Ok();
      heads_.emplace(tail_rows_[tail_next_++].first, source);
      return Status::Ok();
    }
    PIGMENT_ASSIGN_OR_RETURN(const bool more, cursors_[source].Advance());
    if (more) heads_.emplace(cursors_[source].ordinal(), source);
    return Status::Ok();
  }

  using Head = std::pair<uint64_t, uint32_t>;  // ordinal, source
  const std::vector<OrdinalAndRow> tail_rows_;
  size_t tail_next_ = 0;
  std::vector<SegmentCursor> cursors_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
};

}  // namespace

Result<std::vector<RowPlace>> RowsInOrder(const Version& version, const GetRequest& request,
                                          const Plan& plan, SegmentReaders& readers,
                                          ReadCounters& counters) {
  std::vector<RowPlace> places;
  if (request.limit && *request.limit == 0) return places;
  RowFilter filter(version, request.read, &plan, &counters, &readers);
  PIGMENT_ASSIGN_OR_RETURN(std::vector<OrdinalAndRow> tail_rows,
                           TailRowsByOrdinal(version.tail, plan.tail, request.read.control));
  OrderedRows rows(version, plan, std::move(tail_rows));
  PIGMENT_RETURN_IF_ERROR(rows.Begin(request.after));
  uint64_t to_skip = request.offset;
  RowPlace place;
  for (;;) {
    PIGMENT_RETURN_IF_ERROR(request.read.control.Check());
    PIGMENT_ASSIGN_OR_RETURN(const bool more, rows.Next(&place));
    if (!more) return places;
    PIGMENT_ASSIGN_OR_RETURN(const bool matches, filter.Matches(place));
    if (!matches) continue;
    if (to_skip > 0) {
      --to_skip;
      continue;
    }
    places.push_back(place);
    if (request.limit && places.size() == *request.limit) return places;
  }
}

}  // namespace pigment
