// SPDX-License-Identifier: Apache-2.0
//
// Contents: the writer's side of one collection: open segments with their deletions, the tail, and
// the counters. Applies batches, makes versions, and swaps flushed rows for their segment. Not
// thread-safe: CollectionState guards it. The same code runs for a live write and at replay, so
// memory and disk cannot disagree.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/collection/shelved_tail.h"
#include "engine/collection/tail.h"
#include "engine/collection/version.h"
#include "engine/record/record.h"

namespace pigment {

// What the rows of a segment hang by on another's index.
struct Hanging {
  std::shared_ptr<const Graft> graft;  // on a segment that may be gone; null: none
  uint32_t tried_on = 0;               // the segment that this was tried on last
  // What its first rows hung by in the tail, and which rows of it they were; null where they did
  // not, or once it was tried.
  std::shared_ptr<const Graft> tail_graft;
  std::shared_ptr<const std::vector<uint32_t>> tail_rows;
};

// One segment of the collection.
struct SegmentSlot {
  SegmentEntry entry;  // as the catalog has it
  std::shared_ptr<const Segment> segment;
  std::shared_ptr<const RowBitmap> deleted;  // null: nothing is deleted
  std::shared_ptr<const RowBitmap>
      stored;  // the deletions that `entry` names; others are in the log only
  uint32_t deleted_rows = 0;
  bool index_was_tried = false;  // since the store was opened, and could not be had
  Hanging hanging;
};

class RowMap;

// What a flush writes: everything as of one log position. Shared and immutable, so writers go on
// meanwhile.
struct FlushSnapshot {
  uint64_t position = 0;
  uint64_t next_ordinal = 1;
  uint32_t dimension = 0;
  SharedRules rules;
  std::vector<SegmentSlot> segments;
  TailView tail;
  std::vector<uint32_t>
      tail_rows;  // live ones, by ordinal: row r of the new segment is tail_rows[r]
};

// What a flush wrote. `segments` are those of the snapshot that are kept, with their new entries.
struct FlushedSegments {
  std::vector<SegmentSlot> segments;
  std::optional<SegmentSlot> added;
};

class Contents {
 public:
  Contents() = default;
  Contents(const CollectionEntry& entry, std::vector<SegmentSlot> segments, SharedRules rules);

  // An error leaves the contents in part changed: the owner must not use them any more.
  Result<WriteCounts> Apply(const WriteBatch& batch);

  std::shared_ptr<const Version> MakeVersion(uint64_t position, uint32_t search_width,
                                             const VersionText& text,
                                             const std::shared_ptr<MemoryBudget>& budget) const;

  FlushSnapshot Snapshot(uint64_t position) const;
  // Takes the flushed rows out of the tail. Rows that were deleted since `snapshot` become
  // deletions of the new segment.
  void Publish(const FlushSnapshot& snapshot, FlushedSegments flushed);

  // Puts the output of a merge (nullopt: nothing lived) in the place of its inputs. Rows of these
  // that are deleted by now are deletions of it.
  void ReplaceMerged(const std::vector<SegmentSlot>& inputs, std::optional<SegmentSlot> output,
                     const RowMap& map);

  // What was made of this segment's rows and the index of that one, null where nothing could be;
  // no slot may have it any more.
  void SetGraft(uint32_t rows, uint32_t graph, std::shared_ptr<const Graft> graft);
  // The same of the first rows of the tail that `view` is of, which may be flushed by now.
  void SetTailGraft(const TailView& view, std::shared_ptr<const TailGraft> hung) {
    tail_.SetHung(view, std::move(hung));
  }

  // What the segments with their stored deletions do not say, for a shelf.
  Result<ShelvedTail> Shelve() const;
  // The opposite, on contents that have nothing but their segments. What does not fit to them:
  // kDataLoss without a file.
  Status Restore(ShelvedTail shelved);

  // Rows of segments that were deleted since the deletions that the catalog stores.
  uint64_t unstored_deletions() const {
    uint64_t rows = 0;
    for (const SegmentSlot& slot : segments_) rows += slot.deleted_rows - slot.entry.deleted_rows;
    return rows;
  }
  // What a flush would take: rows of the tail, dead ones included, and deletions.
  uint64_t unflushed_changes() const { return tail_.rows() + unstored_deletions(); }
  uint64_t live_rows() const { return live_rows_; }
  const Tail& tail() const { return tail_; }
  const std::vector<SegmentSlot>& segments() const { return segments_; }
  uint32_t dimension() const { return dimension_; }
  uint64_t next_ordinal() const { return next_ordinal_; }
  const SharedRules& rules() const { return rules_; }

 private:
  friend class BatchApplier;

  std::vector<SegmentSlot> segments_;
  Tail tail_;
  uint64_t next_ordinal_ = 1;
  uint32_t dimension_ = 0;
  bool nested_metadata_ = false;
  uint64_t live_rows_ = 0;
  SharedRules rules_;  // of the schema
};

}  // namespace pigment
