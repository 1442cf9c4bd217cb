// SPDX-License-Identifier: Apache-2.0
//
// Planning rows and evaluating filters: see the header.

#include "engine/query/search_plan.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/base/bits.h"
#include "engine/query/document_scan.h"
#include "engine/query/filter_indexed.h"
#include "engine/query/filter_rows.h"

namespace pigment {

namespace {

// Rows that are looked at together, in words of 64.
constexpr size_t kWindowWordsMax = 64;

// Null: everything passes.
const Filter* FilterOf(const ReadOptions& options) {
  return options.filter && !options.filter->matches_everything() ? options.filter.get() : nullptr;
}

// Takes rows of a segment out of the plan that do not match, and says which do for sure.
Status NarrowRows(const Version& version, const ReadOptions& options, size_t segment, Plan& plan,
                  SegmentReaders& readers, ReadCounters& counters) {
  RowSet& rows = plan.segments[segment];
  RowSet& certain = plan.certain[segment];
  // Of so few rows records are read in less time than posting lists.
  constexpr uint64_t kFewRows = 16;
  if (rows.count() <= kFewRows) return Status::Ok();
  const Segment& source = *version.segments[segment].segment;
  const std::unique_ptr<InvertedReader> inverted = source.NewInvertedReader();
  if (inverted == nullptr) return Status::Ok();
  const FilterProgram& program = options.filter->program();
  std::unique_ptr<CellReader> cells;
  if (program.needs.document) cells = source.NewCellReader();
  bool leaves_documents = false;
  PIGMENT_ASSIGN_OR_RETURN(RowBounds bounds, BoundRows(program,
                                                       {.rows = rows.rows(),
                                                        .inverted = *inverted,
                                                        .cells = cells.get(),
                                                        .records = readers.Of(segment),
                                                        .control = options.control},
                                                       &leaves_documents));
  counters.posting_lists_read += inverted->lists_read();
  rows.Intersect(bounds.possible);
  certain = bounds.certain ? *std::move(bounds.certain) : RowSet(rows.rows());
  if (cells == nullptr) return Status::Ok();
  counters.posting_lists_read += cells->lists_read();
  const FirstLevelDocuments documents(program);
  if (documents.empty()) return Status::Ok();
  plan.scans[segment] =
      leaves_documents && documents.are_all() ? Plan::Scan::kDecides : Plan::Scan::kNarrows;
  return Status::Ok();
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
  if (!options.ids) return LiveRows(tail);
  PacedCheck check(options.control);
  RowSet rows = RowSet::Nothing(tail.rows);
  for (const std::string& id : *options.ids) {
    PIGMENT_RETURN_IF_ERROR(check.Step());
    const std::optional<uint32_t> row = tail.Find(id);
    if (row && !rows.Test(*row)) rows.Set(*row);
  }
  return rows;
}

}  // namespace

RowSet LiveRows(const SegmentView& view) {
  return view.deleted ? view.deleted->Others() : RowSet(view.segment->info().rows);
}

// The bitmap may have more rows than the view, or fewer, of which the others are live.
RowSet LiveRows(const TailView& tail) {
  RowSet live(tail.rows);
  if (!tail.deleted) return live;
  const std::span<uint64_t> words = live.MutableWords();
  const size_t count = std::min<size_t>(words.size(), tail.deleted->words());
  for (uint32_t word = 0; word < count; ++word) words[word] &= ~tail.deleted->Word(word);
  live.Recount();
  return live;
}

uint64_t Plan::count() const {
  uint64_t count = tail.count();
  for (const RowSet& rows : segments) count += rows.count();
  return count;
}

Status CheckFilter(const Version& version, const ReadOptions& options) {
  if (!options.filter) return Status::Ok();
  if (!version.nested_metadata) PIGMENT_RETURN_IF_ERROR(CheckFlat(options.filter->program()));
  if (version.rules == nullptr) return Status::Ok();
  return CheckIndexed(options.filter->program(), *version.rules);
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
      control_(options.control),
      plan_(plan),
      counters_(counters),
      readers_(readers),
      windows_(plan != nullptr ? plan->segments.size() : 0) {
  if (!filter_) return;
  const FilterNeeds& needs = filter_->needs();
  fields_ = {
      .embedding = false, .document = needs.document, .metadata = needs.metadata, .uri = needs.uri};
  needs_id_ = needs.id;
}

RowFilter::~RowFilter() = default;

Status RowFilter::LoadWindow(size_t segment, const RowSet& rows, size_t word, size_t words) {
  Window& window = windows_[segment];
  window.words.resize(std::min(words, (size_t{rows.rows()} + 63) / 64 - word));
  window.first = static_cast<uint32_t>(word * 64);
  for (size_t i = 0; i < window.words.size(); ++i)
    window.words[i] = rows.Word(word + i) & ~plan_->certain[segment].Word(word + i);
  if (window.scan == nullptr) {
    window.cells = version_.segments[segment].segment->NewCellReader();
    window.scan = std::make_unique<DocumentScan>(filter_->program(), control_, *window.cells,
                                                 readers_->Of(segment));
  }
  const uint64_t bytes_before = window.scan->bytes_seen();
  counters_->segment_rows_filtered += CountSetBits(window.words);
  PIGMENT_RETURN_IF_ERROR(window.scan->Keep(window.first, window.words));
  counters_->segment_bytes += window.scan->bytes_seen() - bytes_before;
  return Status::Ok();
}

Result<std::optional<bool>> RowFilter::AskWindow(size_t segment, uint32_t row) {
  Window& window = windows_[segment];
  const size_t word = row / 64;
  const uint32_t expected = std::exchange(window.expected, row + 1);
  if (row < window.first || word >= window.first / 64 + window.words.size()) {
    const bool follows = row >= expected && row - expected < 64 * (window.words.size() + 1);
    if (!follows) {
      window.words.clear();
      return std::optional<bool>();
    }
    const size_t words = std::clamp<size_t>(window.words.size() * 2, 1, kWindowWordsMax);
    PIGMENT_RETURN_IF_ERROR(LoadWindow(segment, plan_->segments[segment], word, words));
  }
  return std::optional((window.words[word - window.first / 64] >> (row % 64) & 1) != 0);
}

Status RowFilter::FilterSegment(size_t segment, RowSet& rows) {
  if (ScanOf(segment) == Plan::Scan::kDecides) {
    const RowSet all = rows;
    const std::span<uint64_t> words = rows.MutableWords();
    for (size_t first = 0; first < words.size(); first += kWindowWordsMax) {
      PIGMENT_RETURN_IF_ERROR(LoadWindow(segment, all, first, kWindowWordsMax));
      const Window& window = windows_[segment];
      for (size_t i = 0; i < window.words.size(); ++i)
        words[first + i] &= plan_->certain[segment].Word(first + i) | window.words[i];
    }
    rows.Recount();
    return Status::Ok();
  }
  for (uint32_t row = rows.Next(0); row < rows.rows(); row = rows.Next(row + 1)) {
    PIGMENT_RETURN_IF_ERROR(control_.Check());
    PIGMENT_ASSIGN_OR_RETURN(const bool matches, MatchesSegmentRow(segment, row));
    if (!matches) rows.Clear(row);
  }
  return Status::Ok();
}

Result<bool> RowFilter::MatchesSegmentRow(size_t segment, uint32_t row) {
  if (!filter_ || (plan_ != nullptr && plan_->IsCertain(segment, row))) return true;
  const Plan::Scan scan = ScanOf(segment);
  if (scan != Plan::Scan::kNo) {
    PIGMENT_ASSIGN_OR_RETURN(const std::optional<bool> is_left, AskWindow(segment, row));
    if (is_left && (!*is_left || scan == Plan::Scan::kDecides)) return *is_left;
  }
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
  if (!filter_ || (plan_ != nullptr && plan_->is_filtered)) return true;
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
  for (const RowSet& rows : plan.segments) plan.certain.push_back(RowSet::Nothing(rows.rows()));
  plan.scans.assign(plan.segments.size(), Plan::Scan::kNo);
  for (size_t i = 0; i < plan.segments.size(); ++i) {
    SegmentSpan span(options.trace, "plan_segment", version, static_cast<uint32_t>(i), counters);
    const Status status = NarrowRows(version, options, i, plan, readers, counters);
    span.End(status);
    PIGMENT_RETURN_IF_ERROR(status);
  }
  return Status::Ok();
}

namespace {

Status FilterTail(const RowFilter& filter, const CallControl& control, RowSet& rows) {
  for (uint32_t row = rows.Next(0); row < rows.rows(); row = rows.Next(row + 1)) {
    PIGMENT_RETURN_IF_ERROR(control.Check());
    if (!filter.MatchesTailRow(row)) rows.Clear(row);
  }
  return Status::Ok();
}

}  // namespace

Status FilterPlan(const Version& version, const ReadOptions& options, Plan& plan,
                  SegmentReaders& readers, ReadCounters& counters) {
  RowFilter filter(version, options, &plan, &counters, &readers);
  if (filter.passes_everything()) return Status::Ok();
  for (size_t segment = 0; segment < plan.segments.size(); ++segment) {
    if (!plan.certain.empty() && plan.certain[segment].is_everything()) continue;
    SegmentSpan span(options.trace, "filter_segment", version, static_cast<uint32_t>(segment),
                     counters);
    const Status status = filter.FilterSegment(segment, plan.segments[segment]);
    span.End(status);
    PIGMENT_RETURN_IF_ERROR(status);
  }
  if (plan.tail.count() > 0) {
    SegmentSpan span(options.trace, "filter_tail", version, RowPlace::kTail, counters);
    const Status status = FilterTail(filter, options.control, plan.tail);
    span.End(status);
    PIGMENT_RETURN_IF_ERROR(status);
  }
  plan.is_filtered = true;
  return Status::Ok();
}

}  // namespace pigment
