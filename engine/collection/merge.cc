// SPDX-License-Identifier: Apache-2.0
//
// MergeSegments: a k-way merge by ordinal. Rows that live as of the floor have distinct ordinals
// and ids, so the output's order is theirs.

#include "engine/collection/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/base/planted_bugs.h"
#include "engine/collection/merge_plan.h"
#include "engine/segment/row_reader.h"
#include "engine/segment/segment_writer.h"
#include "engine/vector/graph_node.h"

namespace pigment {

// Nodes have places for links in eights: as many as half again what hnswlib's M asks for, because
// hnswlib has twice as many on its lowest level and ours leave out what others lead to.
SegmentIndex IndexOf(const IndexSettings& settings) {
  SegmentIndex index;
  if (settings.kind == IndexKind::kSpann) {
    index.kind = SegmentKind::kClusters;
    // Chroma's lists have a vector several times, ours once.
    constexpr uint32_t kVectorsOfThreshold = 2;
    if (settings.split_threshold != 0)
      index.vectors_per_cluster = kVectorsOfThreshold * settings.split_threshold;
    return index;
  }
  index.kind = SegmentKind::kGraph;
  // Who says what the graph is to be like wants one.
  index.may_be_clusters =
      settings.max_neighbors == 0 && settings.ef_construction == 0 && settings.search_width == 0;
  if (settings.max_neighbors != 0) {
    const uint32_t links = std::min(settings.max_neighbors, kLinksPerNodeMax) * 3 / 2;
    index.links_max = std::min(GraphNodePlaces(links), kLinksPerNodeMax);
  }
  constexpr float kEfOfFullEffort = 100;
  if (settings.ef_construction != 0)
    index.effort = static_cast<float>(settings.ef_construction) / kEfOfFullEffort;
  return index;
}

SegmentIndex SmallIndexOf(const IndexSettings& settings, uint64_t rows, uint32_t rows_min) {
  SegmentIndex index = IndexOf(settings);
  index.kind = rows >= rows_min ? SegmentKind::kClusters : SegmentKind::kFlat;
  index.may_be_clusters = false;
  return index;
}

namespace {

constexpr uint32_t kRowsPerPause = 256;

// Walks the rows of one input that are to stay.
class InputCursor {
 public:
  InputCursor(const Segment& segment, const RowBitmap* dropped)
      : segment_(segment), dropped_(dropped) {}

  // False at the end.
  Result<bool> Advance() {
    const uint32_t rows = segment_.info().rows;
    while (next_ < rows && dropped_ != nullptr && dropped_->Test(next_)) ++next_;
    if (next_ >= rows) return false;
    row_ = next_++;
    if (row_ - window_first_ >= window_.size()) {
      window_first_ = row_;
      window_.resize(std::min(kWindowRows, rows - row_));
      PIGMENT_RETURN_IF_ERROR(segment_.ReadOrdinals(row_, window_));
    }
    return true;
  }
  uint32_t row() const { return row_; }
  uint64_t ordinal() const { return window_[row_ - window_first_]; }

 private:
  static constexpr uint32_t kWindowRows = 1024;

  const Segment& segment_;
  const RowBitmap* const dropped_;
  uint32_t next_ = 0;
  uint32_t row_ = 0;
  uint32_t window_first_ = 0;
  std::vector<uint64_t> window_;
};

class Merger {
 public:
  Merger(SegmentStore& segments, const MergeJob& job, const MergePause& pause, RowMap& map)
      : segments_(segments), job_(job), pause_(pause), map_(map) {}

  Status Open() {
    for (const SegmentSlot& slot : job_.inputs) {
      PIGMENT_ASSIGN_OR_RETURN(sources_.emplace_back(), segments_.OpenForMerge(slot.entry));
      readers_.push_back(sources_.back()->NewReader());
      PIGMENT_RETURN_IF_ERROR(map_.AddInput(slot.entry.rows));
      rows_read_ += slot.entry.rows;
      const RowBitmap* dropped = slot.stored.get();
      if (PIGMENT_PLANTED(kMergeDropsRowsAboveTheFloor)) dropped = slot.deleted.get();
      cursors_.emplace_back(*sources_.back(), dropped);
      PIGMENT_RETURN_IF_ERROR(Push(cursors_.size() - 1));
    }
    return Status::Ok();
  }

  // What the rows that stay take in the inputs.
  uint64_t expected_bytes() const {
    double bytes = 0;
    for (const SegmentSlot& slot : job_.inputs) {
      bytes += static_cast<double>(slot.entry.file_bytes) * RowsThatStay(slot) / slot.entry.rows;
    }
    return static_cast<uint64_t>(bytes);
  }
  bool is_empty() const { return heap_.empty(); }
  // Rows that stay.
  uint64_t expected_rows() const {
    uint64_t rows = 0;
    for (const SegmentSlot& slot : job_.inputs) rows += RowsThatStay(slot);
    return rows;
  }
  Status Pause() const { return pause_(rows_read_); }

  Status Fill(SegmentWriter& writer) {
    job_.told.BeginPhase("merge", "rows", expected_rows());
    for (uint32_t to = 0; !heap_.empty(); ++to) {
      if (to % kRowsPerPause == 0) {
        PIGMENT_RETURN_IF_ERROR(Pause());
        if (to != 0) job_.told.Advance(kRowsPerPause);
      }
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const size_t input = heap_.back().second;
      heap_.pop_back();
      const uint32_t row = cursors_[input].row();
      PIGMENT_ASSIGN_OR_RETURN(const RowView view, readers_[input]->ReadView(row));
      PIGMENT_RETURN_IF_ERROR(writer.AddView(view));
      map_.Set(PIGMENT_PLANTED(kMergeMapsRowsOfAnotherInput) ? cursors_.size() - 1 - input : input,
               row, to);
      PIGMENT_RETURN_IF_ERROR(Push(input));
    }
    job_.told.BeginPhase("index", "rows", 0);
    return StartFromLargestGraph(writer);
  }

 private:
  static uint32_t RowsThatStay(const SegmentSlot& slot) {
    return slot.entry.rows - slot.entry.deleted_rows;
  }
  Status StartFromLargestGraph(SegmentWriter& writer) const {
    std::optional<size_t> largest;
    for (size_t input = 0; input < sources_.size(); ++input) {
      if (sources_[input]->info().kind != SegmentKind::kGraph) continue;
      if (!largest || RowsThatStay(job_.inputs[input]) > RowsThatStay(job_.inputs[*largest]))
        largest = input;
    }
    return largest ? writer.StartFrom(*sources_[*largest], map_.of(*largest)) : Status::Ok();
  }
  Status Push(size_t input) {
    PIGMENT_ASSIGN_OR_RETURN(const bool has_row, cursors_[input].Advance());
    if (!has_row) return Status::Ok();
    heap_.emplace_back(cursors_[input].ordinal(), input);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    return Status::Ok();
  }

  SegmentStore& segments_;
  const MergeJob& job_;
  const MergePause& pause_;
  RowMap& map_;
  uint64_t rows_read_ = 0;
  std::vector<std::shared_ptr<const Segment>> sources_;
  std::vector<std::unique_ptr<RowReader>> readers_;  // of sources_
  std::vector<InputCursor> cursors_;
  std::vector<std::pair<uint64_t, size_t>> heap_;  // ordinal, input; the least on top
};

}  // namespace

void RowMap::Set(size_t input, uint32_t row, uint32_t to) {
  if (row < rows_[input].size()) rows_[input][row] = to;
}

Status RowMap::AddInput(uint32_t rows) {
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow(uint64_t{rows} * sizeof(uint32_t)));
  rows_.emplace_back(rows, kDropped);
  return Status::Ok();
}

void RowMap::Translate(size_t input, const RowBitmap* deleted, std::vector<uint32_t>& to) const {
  if (deleted == nullptr) return;
  for (uint32_t word = 0; word < deleted->words(); ++word) {
    for (uint64_t bits = deleted->Word(word); bits != 0; bits &= bits - 1) {
      const uint32_t row = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      if (rows_[input][row] != kDropped) to.push_back(rows_[input][row]);
    }
  }
}

void RowMap::TranslateAll(size_t input, std::vector<uint32_t>& to) const {
  for (const uint32_t row : rows_[input]) {
    if (row != kDropped) to.push_back(row);
  }
}

namespace {

Result<MergedSegment> MergeOnce(SegmentStore& segments, const MergeJob& job, bool may_have_index,
                                uint32_t number, const MergePause& pause) {
  MergedSegment merged(segments.merge_budget());
  Merger merger(segments, job, pause, merged.map);
  PIGMENT_RETURN_IF_ERROR(merger.Open());
  if (merger.is_empty()) return merged;
  const uint64_t rows = merger.expected_rows();
  const bool is_small = rows < job.index_rows_min;
  SegmentIndex index;
  if (may_have_index)
    index = is_small ? SmallIndexOf(job.index, rows, job.cluster_rows_min) : IndexOf(job.index);
  using Codes = SegmentOptions::Codes;
  SegmentSlot output;
  PIGMENT_ASSIGN_OR_RETURN(
      output.entry,
      segments.WriteStreamed(number,
                             {.dimension = job.dimension,
                              .metric = job.metric,
                              .vector_element = job.vector_element,
                              .codes = is_small ? Codes::kAlways : Codes::kOfFlat,
                              .index = index,
                              .rows = static_cast<uint32_t>(rows),
                              .threads = job.threads,
                              .pause = [&merger] { return merger.Pause(); },
                              .rules = job.rules,
                              .expected_bytes = merger.expected_bytes(),
                              .analyzer = job.analyzer,
                              .budget = segments.merge_budget()},
                             [&merger](SegmentWriter& writer) { return merger.Fill(writer); }));
  Result<std::shared_ptr<const Segment>> opened = segments.Open(output.entry);
  if (!opened.ok()) {
    segments.Discard(output.entry);
    return opened.status();
  }
  output.segment = *std::move(opened);
  output.index_was_tried = !is_small;
  merged.output = std::move(output);
  return merged;
}

}  // namespace

uint64_t MergeRowsMax(const SegmentStore& segments) {
  constexpr uint64_t kBytesPerRow = sizeof(uint32_t) + SegmentWriter::kBytesPerRecord;
  const uint64_t budget_bytes = segments.merge_budget()->limit_bytes();
  return budget_bytes == 0 ? kMergeRowsAny : budget_bytes / 4 * 3 / kBytesPerRow;
}

Result<MergedSegment> MergeSegments(SegmentStore& segments, const MergeJob& job, uint32_t number,
                                    const MergePause& pause) {
  Result<MergedSegment> merged = MergeOnce(segments, job, true, number, pause);
  if (merged.ok() || merged.status().detail() != Detail::kMemory) return merged;
  // An index may have had the memory that the rest needs.
  return MergeOnce(segments, job, false, number, pause);
}

}  // namespace pigment
