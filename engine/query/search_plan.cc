// SPDX-License-Identifier: Apache-2.0
//
// Planning rows and evaluating filters: see the header.

#include "engine/query/search_plan.h"

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/query/filter_rows.h"

namespace pigment {

namespace {

// Null: everything passes.
const Filter* FilterOf(const ReadOptions& options) {
  return options.filter && !options.filter->matches_everything() ? options.filter.get() : nullptr;
}

// Takes rows of a segment out of the set that do not match, and gives those that do for sure.
Result<RowSet> NarrowRows(const Version& version, const ReadOptions& options, size_t segment,
                          RowSet& rows, SegmentReaders& readers, ReadCounters& counters) {
  // Of so few rows records are read in less time than posting lists.
  constexpr uint64_t kFewRows = 16;
  if (rows.count() <= kFewRows) return RowSet::Nothing(rows.rows());
  const std::unique_ptr<InvertedReader> inverted =
      version.segments[segment].segment->NewInvertedReader();
  if (inverted == nullptr) return RowSet::Nothing(rows.rows());
  PIGMENT_ASSIGN_OR_RETURN(RowBounds bounds,
                           BoundRows(options.filter->program(), {.rows = rows.rows(),
                                                                 .inverted = *inverted,
                                                                 .records = readers.Of(segment),
                                                                 .control = options.control}));
  counters.posting_lists_read += inverted->lists_read();
  rows.Intersect(bounds.possible);
  return bounds.certain ? *std::move(bounds.certain) : RowSet(rows.rows());
}

RowSet LiveRows(const SegmentView& view) {
  const uint32_t rows = view.segment->info().rows;
  RowSet live(rows);
  if (!view.deleted) return live;
  const std::span<uint64_t> words = live.MutableWords();
  for (uint32_t word = 0; word < view.deleted->words(); ++word)
    words[word] &= ~view.deleted->Word(word);
  live.Recount();
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

RowFilter::RowFilter(const Version& version, const ReadOptions& options, const Plan* plan,
                     ReadCounters* counters, SegmentReaders* readers)
    : version_(version),
      filter_(FilterOf(options)),
      plan_(plan),
      counters_(counters),
      readers_(readers) {
  if (!filter_) return;
  const FilterNeeds& needs = filter_->needs();
  fields_ = {
      .embedding = false, .document = needs.document, .metadata = needs.metadata, .uri = needs.uri};
  needs_id_ = needs.id;
}

Result<bool> RowFilter::MatchesSegmentRow(size_t segment, uint32_t row) const {
  if (!filter_ || (plan_ != nullptr && plan_->IsCertain(segment, row))) return true;
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

Status NarrowPlan(const Version& version, const ReadOptions& options, Plan& plan,
                  SegmentReaders& readers, ReadCounters& counters) {
  if (FilterOf(options) == nullptr) return Status::Ok();
  for (size_t i = 0; i < plan.segments.size(); ++i) {
    PIGMENT_ASSIGN_OR_RETURN(RowSet certain,
                             NarrowRows(version, options, i, plan.segments[i], readers, counters));
    plan.certain.push_back(std::move(certain));
  }
  return Status::Ok();
}

Status FilterPlan(const Version& version, const ReadOptions& options, Plan& plan,
                  SegmentReaders& readers, ReadCounters& counters) {
  const RowFilter filter(version, options, &plan, &counters, &readers);
  if (filter.passes_everything()) return Status::Ok();
  for (size_t segment = 0; segment < plan.segments.size(); ++segment) {
    if (!plan.certain.empty() && plan.certain[segment].is_everything()) continue;
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
