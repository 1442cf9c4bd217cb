// SPDX-License-Identifier: Apache-2.0
//
// CollectionState: one collection of an open store, shared by all handles to it. Guards the
// contents, publishes versions, and flushes. Any thread; locking order in
// engine/collection/README.md.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "engine/catalog/catalog.h"
#include "engine/collection/contents.h"
#include "engine/collection/merge.h"
#include "engine/collection/merge_plan.h"
#include "engine/collection/segment_store.h"
#include "engine/collection/store.h"
#include "engine/collection/write_gate.h"
#include "engine/record/configuration.h"
#include "engine/segment/graft.h"

namespace pigment {

// What collections have from their store.
struct CollectionContext {
  std::shared_ptr<Catalog> catalog;  // a read-only store may have opened another one since
  // Of a read-only store: keeps the files of its catalog from the writer as long as they may be
  // opened.
  std::shared_ptr<const FileLock> pin;
  SegmentStore* segments = nullptr;
  std::mutex* entry_mutex = nullptr;               // read-modify-write of a catalog entry
  const std::atomic<uint64_t>* applied = nullptr;  // last applied log position of the store
  MemoryBudget* tails = nullptr;                   // what tails take is counted here
  std::function<Status()>
      secure_log;  // makes the log durable up to what was applied: before a floor says so
  StoreOptions options;
};

// kPoisoned: memory ran out in the middle of something. Made when the program starts.
extern const Status* const kOutOfUse;

// What one merge did.
struct MergeReport {
  uint64_t merges = 0;
  uint64_t rows = 0;   // of the output
  uint64_t bytes = 0;  // of its file
};

class CollectionState {
 public:
  // Opens the segments of `entry`, whose files its owner has retained for it. Damage there does not
  // fail: it is what every later call gives.
  CollectionState(const CollectionContext& context, const CollectionEntry& entry);
  ~CollectionState();

  const Uuid& id() const { return id_; }
  // Held shared from validation to acknowledgement of a write; held alone by what must not meet
  // one.
  WriteGate& gate() { return gate_; }

  Result<std::shared_ptr<const Version>> Pin() const;
  // kNotFound after deletion, or the damage that ended writing.
  Status CheckWritable() const;

  // A batch in the log's queue: refused when its dimension is not that of the collection or of an
  // earlier batch of the queue. A batch that may fix the dimension claims it until
  // ReleaseDimension.
  Status ClaimDimension(const WriteBatch& batch, bool* claimed);
  void ReleaseDimension();

  // Applies a batch of the log and publishes the version that has it. Batches that the segments
  // hold are skipped. An error is this collection's alone: no later batch is applied.
  Result<WriteCounts> Apply(uint64_t position, const WriteBatch& batch);
  // A batch of the replay cannot even be read: as an error of Apply.
  void FailReplay(const Status& failure);
  // Ends the replay that every state begins in: publishes what was replayed up to `position`.
  void FinishReplay(uint64_t position);

  // The configuration was changed: of `entry` it is looked at alone.
  void Reconfigure(const CollectionEntry& entry);

  // Stopped by `control`, or failed, it leaves everything as it was.
  Status Flush(const CallControl& control = {});
  // The same as a part of another job, whose locks may be held: not told as a span.
  Status FlushWithin(const CallControl& control = {});
  // Flushes a tail that has reached its limit. The batch that filled it pays, so writers cannot
  // outrun the disk; others go on unless the tail is twice as full. A failure loses nothing and is
  // tried again when the tail has grown.
  void FlushIfFull();

  // Log positions above this are needed to rebuild what segments do not hold; `position` when
  // nothing is.
  uint64_t NeededAfter(uint64_t position) const;
  // Why this is out of use, when opening it again may help: memory was short, a read failed. Ok
  // otherwise, also after damage.
  Status PassingFailure() const;

  // What a shelf must hold so that this state can be made again from segments and shelf.
  struct Shelving {
    uint64_t next_ordinal = 1;
    uint32_t dimension = 0;
    std::string bytes;  // of a ShelvedTail; empty: the segments hold everything
  };
  Result<Shelving> PrepareShelf() const;
  // Gives back what it counts in the store. REQUIRES: nobody else has it, now or later.
  void Unload();

  Result<std::vector<SegmentDescription>> Segments() const;

  // Rows that the next merge would read; 0: none is due.
  uint64_t due_merge_rows() const { return due_merge_rows_.load(std::memory_order_relaxed); }
  // When what is only worth doing while nobody writes is due, if no merge is: some time after the
  // last write or flush, in nanoseconds of the monotonic clock, or sooner; 0: nothing is.
  int64_t quiet_due_ns() const { return quiet_due_ns_.load(std::memory_order_relaxed); }
  // Twice the segments that there should be.
  bool has_too_many_segments() const { return too_many_.load(std::memory_order_relaxed); }
  // Does the merge that is due, or what is worth doing while nobody writes, unless it would read
  // more than `rows_max` rows.
  // nullopt: there is none. Several threads may merge different segments. kCancelled: given up for
  // Compact.
  Result<std::optional<MergeReport>> MergeOnce(uint64_t rows_max, const MergePause& pause);
  // After a failure, where nobody tries again later: nothing is due before the next flush.
  void DeferMerges();
  // Whether rows of the tail, or of a smaller segment, were searched, and may hang on the largest
  // index (engine/segment/graft.h).
  bool graft_is_due() const { return graft_is_due_.load(std::memory_order_relaxed); }
  // Whether who reads now should have that seen, because there are such rows and nobody had
  // searched them yet. True once: GraftOnce says when it should be again.
  bool TakeGraftLook();
  // Hangs those of one segment, or of the tail, on it, if that is due. kCancelled: by `pause`, or
  // for Compact. What cannot be had is not tried again.
  Status GraftOnce(const MergePause& pause);
  // Merges everything; see Collection::Compact. `report` is given what was merged; `pause` asks
  // `control` too.
  Result<CompactionResult> Compact(const MergePause& pause, const CallControl& control,
                                   MergeReport* report);
  // Held while somebody takes over the segments that the catalog names: none of them goes
  // meanwhile.
  std::unique_lock<std::mutex> HoldSegments() { return std::unique_lock(flush_mutex_); }

  // What every call gives after the collection's deletion. Made before it, so that nothing can keep
  // the deletion from being finished.
  Status NotFoundStatus() const;
  // REQUIRES: the gate is held alone, and the catalog has no such collection any more.
  void MarkDeleted(const Status& not_found) noexcept;
  uint32_t dimension() const;
  // Rows and bytes of the tail, as parts of what fills it: 1 is full.
  double fullness() const;
  uint64_t tail_bytes() const;

 private:
  Status Load(const CollectionEntry& entry);
  void PublishVersion(uint64_t position);
  Status MakeText(const CollectionEntry& entry);
  // Of its text index; null where it has none.
  std::shared_ptr<const Analyzer> analyzer() const {
    return text_ != nullptr ? text_->analyzer() : nullptr;
  }
  // `span` is told what was written.
  Status FlushLocked(Span* span, const CallControl& control);
  // What the edit names is retained before it.
  Result<FlushedSegments> WriteOut(const FlushSnapshot& snapshot, Retention& named,
                                   const CallControl& control);
  static bool EditIsNotThere(const Status& status);
  Status StoreEntry(const FlushSnapshot& snapshot, const FlushedSegments& flushed,
                    Retention& named);
  Status UpdateEntry(const CollectionEntry& entry, Retention& named);
  Status FallBehindLocked() noexcept;
  double FullnessLocked() const;

  // Merges: compaction.cc. The state lock is held for those that say so.
  std::vector<SegmentShape> ShapesLocked() const;
  // As PlanQuietMerge, of segments whose index has room in memory.
  std::optional<MergeRun> PlanQuietLocked(std::span<const SegmentShape> shapes) const;
  // Whether that would find something after a flush.
  bool IsWorthAFlushLocked() const;
  void NoteWriteLocked();
  int64_t quiet_ns() const { return context_.options.quiet_ms * int64_t{1'000'000}; }
  // When it will have been left alone, if nothing is written or flushed any more.
  int64_t QuietDueLocked() const;
  // Whether quiet work is due now; if it is not due yet, when it will be is noted.
  bool IsLeftAloneLocked();
  // What a merge of a collection that is left alone should have in segments. False: it is not.
  Result<bool> FlushIfLeftAlone();
  void PlanMergesLocked();
  // Grafts: collection_grafts.cc. Null: there is no index.
  const SegmentSlot* LargestIndexLocked() const;
  // The next whose rows are to hang on it, once they are searched; null: none.
  const SegmentSlot* SlotToGraftLocked() const;
  // How many rows of the tail are to hang on it; 0: no more than do.
  uint32_t TailRowsToGraftLocked() const;
  // Notes whether any of these are due; false: there are none, be they searched or not.
  bool NoteGraftLocked();
  // Whether that slot's rows may be hung now, and those of the tail, of which the last is searched.
  bool IsDueLocked(const SegmentSlot& slot) const;
  bool IsTailDueLocked(uint32_t rows) const;
  // There may be such rows now, of which those who read are to have it seen soon, then ever more
  // seldom, whether they are searched.
  void LookForGraftsLocked();
  void SetGraftLookLocked();
  Status GraftSegment(const MergePause& pause);
  Status GraftTail(const MergePause& pause);
  Result<std::shared_ptr<const Graft>> MakeGraft(const Segment& graph, GraftRows& rows,
                                                 GraftOptions options, const MergePause& pause);
  void ShowGraftLocked();
  // kCancelled while somebody compacts, which does all that is due.
  Status GiveWayToCompaction() const;
  Status PauseOfMerge(uint64_t rows, const MergePause& pause);
  MergeJob ClaimLocked(size_t first, size_t count);
  Result<MergeReport> RunMerge(MergeJob job, const MergePause& pause);
  Result<MergeReport> WriteAndPublish(MergeJob& job, const MergePause& pause);
  Status PublishMerge(const MergeJob& job, MergedSegment& merged, uint32_t number);
  Status StoreDeletionsOfMerged(const MergeJob& job, const std::vector<SegmentSlot>& now,
                                MergedSegment& merged, uint32_t number);
  Status StoreMergedEntry(const MergeJob& job, const std::vector<SegmentSlot>& now,
                          const MergedSegment& merged, Retention& named);
  uint64_t BytesLocked() const;
  void CountTail();

  const CollectionContext context_;
  const Uuid id_;
  const std::string name_;                // as of opening, for messages
  std::shared_ptr<CollectionText> text_;  // set while loading; null: without a text index
  WriteGate gate_;
  std::mutex compact_mutex_;  // one compaction at a time
  std::mutex flush_mutex_;    // one flush, or one publication of a merge, at a time

  mutable std::mutex state_mutex_;  // guards the members below, held for one batch or less
  Contents contents_;
  VersionText version_text_;
  std::vector<SegmentEntry> retained_;  // the catalog's segments of this collection
  bool is_replaying_ = true;
  uint64_t floor_ = 0;           // as in the catalog, or lower
  bool has_shelf_ = false;       // the catalog names a shelf: segments alone do not hold everything
  uint64_t position_ = 0;        // of the last applied batch
  uint64_t dirty_since_ = 0;     // first position with an effect that no flush has taken; 0: none
  uint64_t flushing_since_ = 0;  // the same for the flush under way
  double retry_fullness_ = 0;    // after a failed flush: not again before the tail is so full
  uint64_t counted_tail_bytes_ = 0;          // this collection's part of the store's tail bytes
  Status write_failure_;                     // why no batch is applied any more
  Status passing_failure_;                   // the same, where opening again may help
  std::set<uint32_t> merging_;               // segments that merges read
  std::condition_variable merges_changed_;   // with state_mutex_
  std::atomic<uint32_t> compactions_{0};     // merges give way while one is under way
  std::atomic<uint64_t> due_merge_rows_{0};  // set under state_mutex_
  std::atomic<int64_t> quiet_due_ns_{0};     // set under state_mutex_
  std::atomic<bool> too_many_{false};        // set under state_mutex_
  uint32_t grafting_ = 0;                    // the segment whose rows somebody hangs on a graph
  bool is_grafting_tail_ = false;
  int64_t grafts_rest_until_ns_ = 0;  // so that they take a part of a thread alone
  uint32_t tail_rows_refused_ = 0;  // of the tail, that could not hang; not again before twice that
  std::atomic<bool> graft_is_due_{false};  // set under state_mutex_
  std::atomic<int64_t> graft_look_ns_{0};  // TakeGraftLook's; 0: it need not be seen
  int64_t graft_look_after_ns_ = 0;        // how long after the last look, or change, the next is
  int64_t written_ns_ = 0;                 // when the last write, or loading, ended
  // Since when writes follow each other without a flush: the last flush, or a pause, ended.
  int64_t unflushed_from_ns_ = 0;
  // Rows of the tail and deletions when it was last asked whether they are worth a flush.
  uint64_t looked_at_changes_ = 0;

  mutable std::mutex dimension_mutex_;
  uint32_t known_dimension_ = 0;    // of the contents, or of a claim
  uint32_t applied_dimension_ = 0;  // of the contents
  IndexSettings settings_;
  uint32_t claims_ = 0;

  mutable std::mutex pin_mutex_;  // guards the members below, held for a pointer copy
  mutable std::shared_ptr<const Version> version_;
  Status read_failure_;  // why there is no version: damage, or deletion
};

}  // namespace pigment
