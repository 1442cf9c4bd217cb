// SPDX-License-Identifier: Apache-2.0
//
// CollectionState: from tail to segment. The order makes it safe: segment and deletion files are
// durable, then their names, then one catalog edit names them and raises the floor, then memory
// follows. Before the edit the files belong to nobody; after it the log up to the floor does.

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <type_traits>
#include <utility>

#include "engine/base/call_control.h"
#include "engine/base/out_of_memory.h"
#include "engine/base/planted_bugs.h"
#include "engine/collection/collection_state.h"

namespace pigment {

Status CollectionState::Flush(const CallControl& control) {
  Span span(context_.options.tracing, "flush", &id_);
  const Status status = [&] {
    std::lock_guard flushing(flush_mutex_);
    return FlushLocked(&span, control);
  }();
  span.End(status);
  return status;
}

Status CollectionState::FlushWithin(const CallControl& control) {
  std::lock_guard flushing(flush_mutex_);
  return FlushLocked(nullptr, control);
}

void CollectionState::FlushIfFull() {
  const auto fullness = [this] {
    std::lock_guard lock(state_mutex_);
    const double full = FullnessLocked();
    return full < retry_fullness_ ? 0 : full;
  };
  const double before = fullness();
  if (before < 1) return;
  if (before < 2) {
    if (!flush_mutex_.try_lock()) return;
    flush_mutex_.unlock();  // a span begins outside of it
  }
  Span span(context_.options.tracing, "flush", &id_);
  // The write that came here is acknowledged and in the log whatever happens now; Flush and Close
  // report what lasts.
  span.End([&] {
    std::unique_lock flushing(flush_mutex_, std::defer_lock);
    if (before >= 2) {
      flushing.lock();
    } else if (!flushing.try_lock()) {
      return Status::Ok();
    }
    if (fullness() < 1) return Status::Ok();  // somebody else did it meanwhile
    return FlushLocked(&span, {});
  }());
}

Status CollectionState::FlushLocked(Span* span, const CallControl& control) {
  FlushSnapshot snapshot;
  {
    std::lock_guard lock(state_mutex_);
    if (!write_failure_.ok()) return write_failure_;
    if (dirty_since_ == 0 && !has_shelf_) return Status::Ok();
    // Every batch up to the store's position was applied; those of this collection wait for the
    // lock that is held here.
    snapshot =
        contents_.Snapshot(std::max(position_, context_.applied->load(std::memory_order_acquire)));
    flushing_since_ = std::exchange(dirty_since_, 0);
  }
  Retention named(*context_.segments);
  Result<FlushedSegments> flushed =
      CatchOutOfMemory([&] { return WriteOut(snapshot, named, control); });
  if (span != nullptr && flushed.ok() && flushed->added) {
    span->Set("segment", flushed->added->entry.segment);
    span->Set("rows", flushed->added->entry.rows);
    span->Set("bytes", flushed->added->entry.file_bytes);
  }
  std::vector<SegmentEntry> superseded;
  {
    std::lock_guard lock(state_mutex_);
    if (!flushed.ok()) {
      dirty_since_ = std::exchange(flushing_since_, 0);
      retry_fullness_ = FullnessLocked() + 0.25;
      return flushed.status();
    }
    superseded = std::exchange(retained_, named.TakeSegments());
    try {
      contents_.Publish(snapshot, *std::move(flushed));
      PublishVersion(std::max(position_, snapshot.position));
    } catch (const std::bad_alloc&) {
      return FallBehindLocked();
    }
    floor_ = snapshot.position;
    has_shelf_ = false;  // what was there is in the segments now
    flushing_since_ = 0;
    retry_fullness_ = 0;
    CountTail();
    unflushed_from_ns_ = MonotonicNow();
    looked_at_changes_ = 0;
    PlanMergesLocked();
  }
  for (const SegmentEntry& segment : superseded) context_.segments->Release(segment);
  return Status::Ok();
}

Result<FlushedSegments> CollectionState::WriteOut(const FlushSnapshot& snapshot, Retention& named,
                                                  const CallControl& control) {
  const uint64_t epoch = context_.segments->names_epoch();
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t number, context_.catalog->NextSegment());
  std::vector<SegmentEntry> written;  // to be removed when the flush fails before its edit
  FlushedSegments flushed;
  const auto write_files = [&]() -> Status {
    for (SegmentSlot slot : snapshot.segments) {
      if (slot.deleted_rows == slot.entry.rows) continue;  // nothing lives there: the edit drops it
      if (slot.deleted != slot.stored && !PIGMENT_PLANTED(kFlushForgetsDeletions)) {
        PIGMENT_RETURN_IF_ERROR(
            context_.segments->WriteDeletions(slot.entry.segment, number, *slot.deleted));
        if (PIGMENT_PLANTED(kFlushRemovesOldDeletionsFirst)) {
          context_.segments->Discard(
              {.segment = slot.entry.segment, .deletions = slot.entry.deletions});
        }
        written.push_back({.segment = slot.entry.segment, .deletions = number});
        if (!PIGMENT_PLANTED(kFlushNamesStaleDeletions)) slot.entry.deletions = number;
        slot.entry.deleted_rows = slot.deleted_rows;
        slot.stored = slot.deleted;
      }
      flushed.segments.push_back(std::move(slot));
    }
    if (!snapshot.tail_rows.empty()) {
      std::vector<const Record*> records;
      records.reserve(snapshot.tail_rows.size());
      for (const uint32_t row : snapshot.tail_rows) records.push_back(&snapshot.tail.row(row));
      PIGMENT_ASSIGN_OR_RETURN(const CollectionEntry entry,
                               context_.catalog->GetCollectionById(id_));
      SegmentSlot added;
      PIGMENT_ASSIGN_OR_RETURN(
          added.entry,
          context_.segments->Write(
              number, {.records = records,
                       .dimension = snapshot.dimension,
                       .metric = entry.metric,
                       .vector_element = entry.vector_element,
                       .index = SmallIndexOf(ReadIndexSettings(entry.configuration_json),
                                             records.size(), context_.options.cluster_rows_min),
                       .rules = snapshot.rules,
                       .analyzer = analyzer(),
                       .control = control}));
      written.push_back(added.entry);
      PIGMENT_ASSIGN_OR_RETURN(added.segment, context_.segments->Open(added.entry));
      flushed.added = std::move(added);
    }
    if (!PIGMENT_PLANTED(kFlushWithoutNames))
      PIGMENT_RETURN_IF_ERROR(context_.segments->SyncNames(epoch));
    return PIGMENT_PLANTED(kFloorAboveDurableLog) ? Status::Ok() : context_.secure_log();
  };
  if (const Status status = CatchOutOfMemory(write_files); !status.ok()) {
    for (const SegmentEntry& entry : written) context_.segments->Discard(entry);
    return status;
  }
  const Status status = CatchOutOfMemory([&] { return StoreEntry(snapshot, flushed, named); });
  if (!status.ok()) {
    if (EditIsNotThere(status)) {
      for (const SegmentEntry& entry : written) context_.segments->Discard(entry);
    }
    return status;
  }
  return flushed;
}

// The edit itself. From its first moment on a backup or a check may hold and let go what it names,
// so this collection holds it by then. REQUIRES: the entry lock is held.
Status CollectionState::UpdateEntry(const CollectionEntry& entry, Retention& named) {
  for (const SegmentEntry& segment : entry.segments) named.Add(segment);
  return context_.catalog->UpdateCollection(entry);
}

// An edit is in the catalog that memory could not follow for want of itself: what would be written
// from here on would contradict it. Readers keep what they have; the next open has everything.
Status CollectionState::FallBehindLocked() noexcept {
  static_assert(std::is_nothrow_copy_assignable_v<Status>);
  return write_failure_ = *kOutOfUse;
}

// True after the collection was deleted, and after a full disk refused the edit. After any other
// failure the files that it names stay, because it may be durable all the same.
bool CollectionState::EditIsNotThere(const Status& status) {
  return status.code() == Code::kNotFound || status.detail() == Detail::kDiskFull;
}

Status CollectionState::StoreEntry(const FlushSnapshot& snapshot, const FlushedSegments& flushed,
                                   Retention& named) {
  std::lock_guard lock(*context_.entry_mutex);
  PIGMENT_ASSIGN_OR_RETURN(CollectionEntry entry, context_.catalog->GetCollectionById(id_));
  entry.segments.clear();
  for (const SegmentSlot& slot : flushed.segments) entry.segments.push_back(slot.entry);
  if (flushed.added) entry.segments.push_back(flushed.added->entry);
  entry.floor = snapshot.position + (PIGMENT_PLANTED(kFlushFloorTooHigh) ? 1 : 0);
  if (!PIGMENT_PLANTED(kFlushForgetsOrdinals)) entry.next_ordinal = snapshot.next_ordinal;
  entry.dimension = snapshot.dimension;
  const ShelfPlace shelf = std::exchange(entry.shelf, {});
  if (PIGMENT_PLANTED(kFlushKeepsShelf)) entry.shelf = shelf;
  if (PIGMENT_PLANTED(kShelfReleasedBeforeEdit)) context_.segments->ReleaseShelf(shelf.file);
  PIGMENT_RETURN_IF_ERROR(UpdateEntry(entry, named));
  if (!PIGMENT_PLANTED(kShelfReleasedBeforeEdit)) context_.segments->ReleaseShelf(shelf.file);
  return Status::Ok();
}

Result<CollectionState::Shelving> CollectionState::PrepareShelf() const {
  std::lock_guard lock(state_mutex_);
  if (!write_failure_.ok()) return write_failure_;
  PIGMENT_ASSIGN_OR_RETURN(const ShelvedTail tail, contents_.Shelve());
  Shelving shelving{
      .next_ordinal = contents_.next_ordinal(), .dimension = contents_.dimension(), .bytes = {}};
  if (!tail.records.empty() || !tail.erased.empty()) shelving.bytes = EncodeShelvedTail(tail);
  return shelving;
}

void CollectionState::Unload() {
  std::lock_guard lock(state_mutex_);
  contents_ = Contents();
  CountTail();
}

}  // namespace pigment
