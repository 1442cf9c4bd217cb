// SPDX-License-Identifier: Apache-2.0
//
// Planning rows and evaluating filters: see the header.

#include "engine/query/search_plan.h"

#include <bit>
#include <optional>
#include <string>

namespace pigment {

namespace {

RowSet LiveRows(const SegmentView& view) {
  const uint32_t rows = view.segment->info().rows;
  RowSet live(rows);
  if (!view.deleted) return live;
  for (uint32_t word = 0; word < view.deleted->words(); ++word) {
    for (uint64_t bits = view.deleted->Word(word); bits != 0; bits &= bits - 1) {
      live.Clear(word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
    }
  }
  return live;
}

Result<RowSet> ListedRows(const SegmentView& view, const ReadOptions& options) {
  RowSet rows = RowSet::Nothing(view.segment->info().rows);
  const std::unique_ptr<RowReader> reader = view.segment->NewReader();
  for (const std::string& id : *options.ids) {
    PIGMENT_RETURN_IF_ERROR(options.control.Check());
    PIGMENT_ASSIGN_OR_RETURN(const std::optional<uint32_t> row, reader->FindRow(id));
    if (row && view.IsLive(*row) && !rows.Test(*row)) rows.Set(*row);
  }
  return rows;
}

Result<RowSet> TailRows(const TailView& tail, const ReadOptions& options) {
  if (tail.rows == 0 || (!options.ids && !tail.deleted)) return RowSet(tail.rows);
  PacedCheck check(options.control);
  RowSet rows = RowSet::Nothing(tail.rows);
  if (!options.ids) {
    for (uint32_t row = 0; row < tail.rows; ++row) {
      PIGMENT_RETURN_IF_ERROR(check.Step());
      if (tail.IsLive(row)) rows.Set(row);
    }
    return rows;
  }
  for (const std::string& id : *options.ids) {
    PIGMENT_RETURN_IF_ERROR(check.Step());
    const std::optional<uint32_t> row = tail.Find(id);
    if (row && !rows.Test(*row)) rows.Set(*row);
  }
  return rows;
}

}  // namespace

RowSet RowSet::Nothing(uint32_t rows) {
  RowSet nothing(rows);
  nothing.count_ = 0;
  nothing.words_.assign((size_t{rows} + 63) / 64, 0);
  return nothing;
}

void RowSet::Set(uint32_t row) {
  words_[row / 64] |= uint64_t{1} << (row % 64);
  ++count_;
}

void RowSet::Clear(uint32_t row) {
  if (words_.empty()) {
    words_.assign((size_t{rows_} + 63) / 64, ~uint64_t{0});
    if (rows_ % 64 != 0) words_.back() = (uint64_t{1} << (rows_ % 64)) - 1;
  }
  words_[row / 64] &= ~(uint64_t{1} << (row % 64));
  --count_;
}

uint32_t RowSet::Next(uint32_t from) const {
  if (words_.empty() || from >= rows_) return from < rows_ ? from : rows_;
  size_t word = from / 64;
  uint64_t bits = words_[word] & ~uint64_t{0} << (from % 64);
  while (bits == 0) {
    if (++word == words_.size()) return rows_;
    bits = words_[word];
  }
  return static_cast<uint32_t>(word * 64) + static_cast<uint32_t>(std::countr_zero(bits));
}

uint64_t Plan::count() const {
  uint64_t count = tail.count();
  for (const RowSet& rows : segments) count += rows.count();
  return count;
}

Result<Plan> PlanRows(const Version& version, const ReadOptions& options) {
  Plan plan;
  plan.segments.reserve(version.segments.size());
  for (const SegmentView& view : version.segments) {
    PIGMENT_RETURN_IF_ERROR(options.control.Check());
    if (options.ids) {
      PIGMENT_ASSIGN_OR_RETURN(RowSet rows, ListedRows(view, options));
      plan.segments.push_back(std::move(rows));
    } else {
      plan.segments.push_back(LiveRows(view));
    }
  }
  PIGMENT_ASSIGN_OR_RETURN(plan.tail, TailRows(version.tail, options));
  return plan;
}

RowFilter::RowFilter(const Version& version, const ReadOptions& options, ReadCounters* counters,
                     SegmentReaders* readers)
    : version_(version),
      filter_(options.filter && !options.filter->matches_everything() ? options.filter.get()
                                                                      : nullptr),
      counters_(counters),
      readers_(readers) {
  if (!filter_) return;
  const FilterNeeds& needs = filter_->needs();
  fields_ = {
      .embedding = false, .document = needs.document, .metadata = needs.metadata, .uri = needs.uri};
  needs_id_ = needs.id;
}

Result<bool> RowFilter::MatchesSegmentRow(size_t segment, uint32_t row) const {
  if (!filter_) return true;
  RowReader& reader = readers_->Of(segment);
  if (fields_.document || fields_.metadata || fields_.uri) {
    PIGMENT_RETURN_IF_ERROR(reader.ReadFields(row, fields_, &record_));
  }
  std::string_view id;
  if (needs_id_) {
    PIGMENT_ASSIGN_OR_RETURN(id, reader.ReadId(row));
  }
  ++counters_->segment_rows_filtered;
  counters_->segment_bytes += BytesRead(record_, fields_, false) + id.size();
  return filter_->Matches({.id = id,
                           .metadata = record_.metadata ? &*record_.metadata : nullptr,
                           .document = record_.document,
                           .uri = record_.uri});
}

bool RowFilter::MatchesTailRow(uint32_t row) const {
  if (!filter_) return true;
  const Record& record = version_.tail.row(row);
  ++counters_->tail_rows_filtered;
  counters_->tail_bytes += BytesRead(record, fields_, needs_id_);
  return filter_->Matches({.id = record.id,
                           .metadata = record.metadata ? &*record.metadata : nullptr,
                           .document = record.document,
                           .uri = record.uri});
}

Status FilterPlan(const Version& version, const ReadOptions& options, Plan& plan,
                  ReadCounters& counters) {
  SegmentReaders readers(version);
  const RowFilter filter(version, options, &counters, &readers);
  if (filter.passes_everything()) return Status::Ok();
  for (size_t segment = 0; segment < plan.segments.size(); ++segment) {
    RowSet& rows = plan.segments[segment];
    for (uint32_t row = rows.Next(0); row < rows.rows(); row = rows.Next(row + 1)) {
      PIGMENT_RETURN_IF_ERROR(options.control.Check());
      PIGMENT_ASSIGN_OR_RETURN(const bool matches, filter.MatchesSegmentRow(segment, row));
      if (!matches) rows.Clear(row);
    }
  }
  for (uint32_t row = plan.tail.Next(0); row < plan.tail.rows(); row = plan.tail.Next(row + 1)) {
    PIGMENT_RETURN_IF_ERROR(options.control.Check());
    if (!filter.MatchesTailRow(row)) plan.tail.Clear(row);
  }
  return Status::Ok();
}

}  // namespace pigment
