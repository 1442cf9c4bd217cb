// SPDX-License-Identifier: Apache-2.0
//
// CollectionState: loading, pinning, applying. Flushing is in flush.cc.

#include "engine/collection/collection_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "engine/base/out_of_memory.h"
#include "engine/base/planted_bugs.h"
#include "engine/collection/deletions_file.h"

namespace pigment {

// Never destroyed: stores may outlive the objects of static life.
const Status* const kOutOfUse = new Status(
    FailedPrecondition(Detail::kPoisoned, "the collection is out of use since memory ran out")
        .WithHint("close and open the store again: nothing that was acknowledged is lost"));

namespace {

// What ended the use of a collection lasts. Damage and another version say so themselves; a disk
// that failed once, or memory that was short, is told as what can be done about it.
Status Lasting(const std::string& name, const Status& failure) {
  if (failure.ok() || failure.code() == Code::kDataLoss ||
      failure.code() == Code::kVersionMismatch || failure.detail() == Detail::kPoisoned) {
    return failure;
  }
  return FailedPrecondition(Detail::kPoisoned,
                            fmt::format("collection \"{}\" is out of use since this failure: {}",
                                        name, failure.message()))
      .WithFile(failure.file(), failure.offset())
      .WithHint("close and open the store again: nothing that was acknowledged is lost");
}

bool IsPassing(const Status& failure) {
  return !failure.ok() && failure.code() != Code::kDataLoss &&
         failure.code() != Code::kVersionMismatch;
}

}  // namespace

CollectionState::CollectionState(const CollectionContext& context, const CollectionEntry& entry)
    : context_(context),
      id_(entry.id),
      name_(entry.name),
      retained_(entry.segments),
      floor_(entry.floor),
      position_(entry.floor),
      known_dimension_(entry.dimension),
      applied_dimension_(entry.dimension),
      settings_(ReadIndexSettings(entry.configuration_json)) {
  Status loaded = CatchOutOfMemory([&] { return Load(entry); });
  write_failure_ = Lasting(name_, loaded);
  if (IsPassing(loaded)) passing_failure_ = std::move(loaded);
  read_failure_ = write_failure_;
}

CollectionState::~CollectionState() {
  context_.tails->Release(counted_tail_bytes_);
}

Status CollectionState::MakeText(const CollectionEntry& entry) {
  const auto settings = ReadTextIndexSettings(entry.configuration_json);
  if (!settings) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(std::shared_ptr<const Analyzer> analyzer,
                           Analyzer::Make(settings->analyzer));
  text_ = std::make_shared<CollectionText>(std::move(analyzer), context_.segments->shared_budget());
  version_text_ = {.shared = text_, .k1 = settings->k1, .b = settings->b};
  return Status::Ok();
}

Status CollectionState::Load(const CollectionEntry& entry) {
  PIGMENT_RETURN_IF_ERROR(MakeText(entry));
  std::vector<SegmentSlot> slots;
  for (const SegmentEntry& segment_entry : entry.segments) {
    SegmentSlot slot;
    slot.entry = segment_entry;
    PIGMENT_ASSIGN_OR_RETURN(slot.segment, context_.segments->Open(segment_entry));
    if (slot.segment->info().dimension != entry.dimension) {
      return DataLoss(Detail::kMiscounted, context_.segments->SegmentPath(segment_entry.segment), 0,
                      fmt::format("segment {} has dimension {}, collection \"{}\" has {}",
                                  segment_entry.segment, slot.segment->info().dimension, entry.name,
                                  entry.dimension));
    }
    PIGMENT_ASSIGN_OR_RETURN(slot.stored, context_.segments->LoadDeletions(segment_entry));
    slot.deleted = slot.stored;
    slot.deleted_rows = segment_entry.deleted_rows;
    slots.push_back(std::move(slot));
  }
  PIGMENT_ASSIGN_OR_RETURN(SharedRules rules, ReadStoredRules(entry.schema_json));
  contents_ = Contents(entry, std::move(slots), std::move(rules));
  if (entry.shelf.file != 0) {
    PIGMENT_ASSIGN_OR_RETURN(ShelvedTail shelved, context_.segments->LoadShelf(entry.shelf));
    if (Status status = contents_.Restore(std::move(shelved)); !status.ok()) {
      if (!status.file().empty()) return status;
      return std::move(status).WithFile(context_.segments->ShelfPath(entry.shelf.file),
                                        static_cast<int64_t>(entry.shelf.offset));
    }
    has_shelf_ = true;
    CountTail();
  }
  version_ = contents_.MakeVersion(entry.floor, settings_.search_width, version_text_,
                                   context_.segments->shared_budget());
  written_ns_ = unflushed_from_ns_ = MonotonicNow();
  return Status::Ok();
}

Status CollectionState::NotFoundStatus() const {
  return NotFound(fmt::format("collection \"{}\" does not exist", name_));
}

Result<std::shared_ptr<const Version>> CollectionState::Pin() const {
  // Batches are visible before the store's position passes them, so whatever version is found next
  // has them all.
  const uint64_t applied = context_.applied->load(std::memory_order_acquire);
  std::shared_ptr<const Version> version;
  {
    std::lock_guard lock(pin_mutex_);
    if (!read_failure_.ok()) return read_failure_;
    version = version_;
  }
  if (version->position >= applied) return version;
  // Writes elsewhere moved the position only: the same contents, seen later.
  auto later = std::make_shared<Version>(*version);
  later->position = applied;
  std::lock_guard lock(pin_mutex_);
  if (version_ == version) version_ = later;
  return std::shared_ptr<const Version>(std::move(later));
}

Status CollectionState::CheckWritable() const {
  std::lock_guard lock(state_mutex_);
  return write_failure_;
}

Status CollectionState::PassingFailure() const {
  std::lock_guard lock(state_mutex_);
  return passing_failure_;
}

Status CollectionState::ClaimDimension(const WriteBatch& batch, bool* claimed) {
  *claimed = false;
  if (batch.embeddings.empty()) return Status::Ok();
  std::lock_guard lock(dimension_mutex_);
  if (known_dimension_ != 0 && known_dimension_ != batch.dimension) {
    return InvalidArgument(Detail::kDimension,
                           fmt::format("dimension mismatch: collection \"{}\" has {}, got {}",
                                       name_, known_dimension_, batch.dimension));
  }
  // An update of an empty collection meets no record and fixes nothing.
  if (batch.kind == WriteKind::kUpdate) return Status::Ok();
  known_dimension_ = batch.dimension;
  ++claims_;
  *claimed = true;
  return Status::Ok();
}

void CollectionState::ReleaseDimension() {
  std::lock_guard lock(dimension_mutex_);
  if (--claims_ == 0) known_dimension_ = applied_dimension_;
}

Result<WriteCounts> CollectionState::Apply(uint64_t position, const WriteBatch& batch) {
  std::lock_guard lock(state_mutex_);
  if (position <= floor_) return WriteCounts{};
  if (!write_failure_.ok()) return write_failure_;
  Result<WriteCounts> counts = CatchOutOfMemory([&] { return contents_.Apply(batch); });
  if (!counts.ok()) {
    write_failure_ = *kOutOfUse;  // first: the contents may be changed in part
    if (is_replaying_ && IsPassing(counts.status())) passing_failure_ = counts.status();
    const Status lasting = CatchOutOfMemory([&] { return Lasting(name_, counts.status()); });
    if (lasting.detail() != Detail::kMemory) write_failure_ = lasting;
    return write_failure_;
  }
  position_ = position;
  CountTail();
  if (counts->inserted + counts->updated + counts->deleted > 0 && dirty_since_ == 0)
    dirty_since_ = position;
  {
    std::lock_guard dimension_lock(dimension_mutex_);
    applied_dimension_ = contents_.dimension();
    if (applied_dimension_ != 0) known_dimension_ = applied_dimension_;
  }
  if (is_replaying_) return counts;
  try {
    PublishVersion(position);
  } catch (const std::bad_alloc&) {
    return FallBehindLocked();  // no flush may show what nobody acknowledged
  }
  NoteWriteLocked();
  return counts;
}

void CollectionState::FailReplay(const Status& failure) {
  std::lock_guard lock(state_mutex_);
  if (write_failure_.ok()) write_failure_ = failure;
}

void CollectionState::PublishVersion(uint64_t position) {
  std::shared_ptr<const Version> version = contents_.MakeVersion(
      position, settings_.search_width, version_text_, context_.segments->shared_budget());
  std::lock_guard lock(pin_mutex_);
  version_.swap(version);
}

void CollectionState::Reconfigure(const CollectionEntry& entry) {
  std::lock_guard lock(state_mutex_);
  settings_ = ReadIndexSettings(entry.configuration_json);
  if (const auto text = ReadTextIndexSettings(entry.configuration_json); text && text_ != nullptr)
    version_text_ = {.shared = text_, .k1 = text->k1, .b = text->b};
  if (write_failure_.ok() && !is_replaying_) PublishVersion(position_);
}

void CollectionState::FinishReplay(uint64_t position) {
  std::lock_guard lock(state_mutex_);
  is_replaying_ = false;
  if (!write_failure_.ok()) {
    // What was acknowledged and cannot be applied makes everything that could be read here wrong.
    std::lock_guard pin_lock(pin_mutex_);
    read_failure_ = write_failure_;
    version_.reset();
    return;
  }
  position_ = std::max(position_, position);
  PublishVersion(position_);
  PlanMergesLocked();  // what the log had is in the tail now
}

uint64_t CollectionState::NeededAfter(uint64_t position) const {
  std::lock_guard lock(state_mutex_);
  if (!write_failure_.ok()) return std::min(position, floor_);
  uint64_t needed = position;
  if (PIGMENT_PLANTED(kPurgeForgetsTails)) return needed;
  if (dirty_since_ != 0) needed = std::min(needed, dirty_since_ - 1);
  if (flushing_since_ != 0) needed = std::min(needed, flushing_since_ - 1);
  return needed;
}

void CollectionState::MarkDeleted(const Status& not_found) noexcept {
  std::lock_guard flushing(flush_mutex_);
  std::lock_guard lock(state_mutex_);
  for (const SegmentEntry& segment : retained_) context_.segments->Release(segment);
  retained_.clear();
  contents_ = Contents();
  CountTail();
  PlanMergesLocked();
  write_failure_ = not_found;
  dirty_since_ = flushing_since_ = 0;
  std::lock_guard pin_lock(pin_mutex_);
  read_failure_ = write_failure_;
  version_.reset();
}

Result<std::vector<SegmentDescription>> CollectionState::Segments() const {
  std::vector<SegmentSlot> slots;
  {
    std::lock_guard lock(state_mutex_);
    PIGMENT_RETURN_IF_ERROR(write_failure_);
    slots = contents_.segments();
  }
  std::vector<SegmentDescription> descriptions;
  for (const SegmentSlot& slot : slots) {
    const SegmentInfo& info = slot.segment->info();
    descriptions.push_back(
        {.number = slot.entry.segment,
         .kind = std::string(SegmentKindName(info.kind)),
         .path = context_.segments->SegmentPath(slot.entry.segment),
         .rows = slot.entry.rows,
         .live_rows = slot.entry.rows - slot.deleted_rows,
         .bytes = slot.entry.file_bytes,
         .deletions_bytes = slot.entry.deletions != 0 ? DeletionsFileBytes(slot.entry.rows) : 0,
         .dimension = info.dimension,
         .has_codes = slot.segment->has_codes(),
         .is_shared = context_.segments->IsShared(slot.entry.segment)});
  }
  return descriptions;
}

uint32_t CollectionState::dimension() const {
  std::lock_guard lock(dimension_mutex_);
  return applied_dimension_;
}

uint64_t CollectionState::tail_bytes() const {
  std::lock_guard lock(state_mutex_);
  return contents_.tail().bytes();
}

double CollectionState::fullness() const {
  std::lock_guard lock(state_mutex_);
  return FullnessLocked();
}

double CollectionState::FullnessLocked() const {
  const uint32_t flush_rows =
      settings_.flush_rows != 0 ? settings_.flush_rows : context_.options.flush_rows_max;
  const double rows_max = std::max<uint32_t>(flush_rows, 1);
  const double bytes_max =
      static_cast<double>(std::max<uint64_t>(context_.options.flush_bytes_max, 1));
  // Deletions fill it too: each is work for the next open, and space that no merge gives back yet.
  const double rows = static_cast<double>(
      std::max<uint64_t>(contents_.tail().rows(), contents_.unstored_deletions()));
  return std::max(rows / rows_max, static_cast<double>(contents_.tail().bytes()) / bytes_max);
}

void CollectionState::CountTail() {
  const uint64_t bytes = contents_.tail().bytes();
  if (bytes > counted_tail_bytes_) {
    context_.tails->ChargeAlways(bytes - counted_tail_bytes_);
  } else {
    context_.tails->Release(counted_tail_bytes_ - bytes);
  }
  counted_tail_bytes_ = bytes;
}

}  // namespace pigment
