// SPDX-License-Identifier: Apache-2.0
//
// Contents: see the header.

#include "engine/collection/contents.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/base/planted_bugs.h"
#include "engine/collection/merge.h"
#include "engine/record/configuration.h"

namespace pigment {

Contents::Contents(const CollectionEntry& entry, std::vector<SegmentSlot> segments,
                   SharedRules rules)
    : segments_(std::move(segments)),
      next_ordinal_(entry.next_ordinal),
      dimension_(entry.dimension),
      nested_metadata_(ReadNestedMetadata(entry.configuration_json)),
      rules_(std::move(rules)) {
  for (const SegmentSlot& slot : segments_) live_rows_ += slot.entry.rows - slot.deleted_rows;
}

std::shared_ptr<const Version> Contents::MakeVersion(
    uint64_t position, uint32_t search_width, const VersionText& text,
    const std::shared_ptr<MemoryBudget>& budget) const {
  auto version = std::make_shared<Version>();
  version->position = position;
  version->dimension = dimension_;
  version->live_rows = live_rows_;
  version->segments.reserve(segments_.size());
  for (const SegmentSlot& slot : segments_) {
    version->segments.push_back(
        {slot.segment, slot.deleted, slot.deleted_rows, slot.hanging.graft});
  }
  version->tail = tail_.View();
  version->rules = rules_;
  version->nested_metadata = nested_metadata_;
  version->search_width = search_width;
  version->text = text;
  version->budget = budget;
  return version;
}

FlushSnapshot Contents::Snapshot(uint64_t position) const {
  FlushSnapshot snapshot{.position = position,
                         .next_ordinal = next_ordinal_,
                         .dimension = dimension_,
                         .rules = rules_,
                         .segments = segments_,
                         .tail = tail_.View(),
                         .tail_rows = {}};
  const TailView& tail = snapshot.tail;
  for (uint32_t row = 0; row < tail.rows; ++row) {
    if (tail.IsLive(row)) snapshot.tail_rows.push_back(row);
  }
  const auto by_ordinal = [&tail](uint32_t a, uint32_t b) {
    return tail.row(a).ordinal < tail.row(b).ordinal;
  };
  if (!std::is_sorted(snapshot.tail_rows.begin(), snapshot.tail_rows.end(), by_ordinal)) {
    std::sort(snapshot.tail_rows.begin(), snapshot.tail_rows.end(), by_ordinal);
  }
  return snapshot;
}

void Contents::Publish(const FlushSnapshot& snapshot, FlushedSegments flushed) {
  // Batches that came during the flush changed deletions of these segments, not which segments
  // there are.
  std::vector<SegmentSlot> kept;
  for (SegmentSlot& slot : flushed.segments) {
    const auto now =
        std::find_if(segments_.begin(), segments_.end(), [&slot](const SegmentSlot& candidate) {
          return candidate.entry.segment == slot.entry.segment;
        });
    slot.deleted = now->deleted;
    slot.deleted_rows = now->deleted_rows;
    slot.hanging = now->hanging;
    kept.push_back(std::move(slot));
  }
  if (flushed.added) {
    SegmentSlot& added = *flushed.added;
    std::vector<uint32_t> dead;
    for (uint32_t row = 0; row < snapshot.tail_rows.size(); ++row) {
      if (!tail_.IsLive(snapshot.tail_rows[row])) dead.push_back(row);
    }
    if (!dead.empty()) {
      added.deleted = std::make_shared<const RowBitmap>(RowBitmap(added.entry.rows).With(dead));
      added.deleted_rows = static_cast<uint32_t>(dead.size());
    }
    if (tail_.hung() != nullptr) {
      added.hanging.tail_graft = tail_.hung()->graft;
      added.hanging.tail_rows = std::make_shared<const std::vector<uint32_t>>(snapshot.tail_rows);
    }
    kept.push_back(std::move(added));
  }
  segments_ = std::move(kept);
  tail_ = tail_.After(snapshot.tail.rows);
}

void Contents::SetGraft(uint32_t rows, uint32_t graph, std::shared_ptr<const Graft> graft) {
  for (SegmentSlot& slot : segments_) {
    if (slot.entry.segment != rows) continue;
    slot.hanging = Hanging{std::move(graft), graph, nullptr, nullptr};
    return;
  }
}

void Contents::ReplaceMerged(const std::vector<SegmentSlot>& inputs,
                             std::optional<SegmentSlot> output, const RowMap& map) {
  std::vector<SegmentSlot> kept;
  std::optional<size_t> place;
  std::vector<uint32_t> dead;
  bool is_as_stored = true;
  for (SegmentSlot& slot : segments_) {
    const auto input = std::find_if(inputs.begin(), inputs.end(), [&slot](const auto& candidate) {
      return candidate.entry.segment == slot.entry.segment;
    });
    if (input == inputs.end()) {
      kept.push_back(std::move(slot));
      continue;
    }
    if (!place) place = kept.size();
    is_as_stored = is_as_stored && slot.deleted == slot.stored;
    map.Translate(static_cast<size_t>(input - inputs.begin()), slot.deleted.get(), dead);
  }
  if (output && place) {
    output->deleted = output->stored;
    output->deleted_rows = output->entry.deleted_rows;
    if (!is_as_stored && !PIGMENT_PLANTED(kMergeLosesDeletions)) {
      // Inputs that are gone had no live row left, and the stored deletions say so.
      const RowBitmap stored = output->stored ? *output->stored : RowBitmap(output->entry.rows);
      const RowBitmap deleted = stored.With(dead);
      output->deleted_rows = static_cast<uint32_t>(deleted.Count());
      output->deleted = std::make_shared<const RowBitmap>(deleted);
    }
    kept.insert(kept.begin() + static_cast<ptrdiff_t>(*place), *std::move(output));
  }
  segments_ = std::move(kept);
}

}  // namespace pigment
