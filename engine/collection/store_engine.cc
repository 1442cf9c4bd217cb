// SPDX-License-Identifier: Apache-2.0
//
// StoreEngine: writing, flushing, closing. Opening is in store_open.cc, collections in
// store_collections.cc.

#include "engine/collection/store_engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/out_of_memory.h"
#include "engine/base/planted_bugs.h"
#include "engine/base/reader_pins.h"
#include "engine/record/batch_bytes.h"

namespace pigment {

namespace {

// So many small tails are shelved together when they are flushed or the store closes; at close in
// proportion to the size of the log: one for each 2^18 bytes, 256 for 64 MiB.
constexpr size_t kManyTails = 64;
constexpr int kLogBytesPerTailShift = 18;
// What a record costs in the tail beside its bytes in the log, for admission by the budget.
constexpr uint64_t kRecordOverheadBytes = 256;

Status CheckBatch(const WriteBatch& batch) {
  const bool inserts = batch.kind == WriteKind::kAdd || batch.kind == WriteKind::kUpsert;
  if (inserts && batch.embeddings.empty()) return InvalidArgument("add and upsert need embeddings");
  if (batch.embeddings.size() !=
      (batch.embeddings.empty() ? 0 : batch.ids.size() * batch.dimension)) {
    return InvalidArgument(Detail::kDimension,
                           fmt::format("{} ids of dimension {} with {} numbers", batch.ids.size(),
                                       batch.dimension, batch.embeddings.size()));
  }
  const auto fits = [&batch](size_t size) { return size == 0 || size == batch.ids.size(); };
  if (!fits(batch.documents.size()) || !fits(batch.metadatas.size()) || !fits(batch.uris.size())) {
    return InvalidArgument(fmt::format(
        "columns of {} documents, {} metadatas and {} uris for {} ids", batch.documents.size(),
        batch.metadatas.size(), batch.uris.size(), batch.ids.size()));
  }
  return Status::Ok();
}

// Rows begin to end of a batch: what the planted bug kBatchInHalves writes.
WriteBatch RowsOf(const WriteBatch& batch, size_t begin, size_t end) {
  const auto part = [&](const auto& column) {
    using Column = std::decay_t<decltype(column)>;
    return column.empty() ? Column() : Column(column.begin() + begin, column.begin() + end);
  };
  const size_t width = batch.embeddings.size() / batch.ids.size();
  return {.kind = batch.kind,
          .ids = part(batch.ids),
          .dimension = batch.dimension,
          .embeddings = {batch.embeddings.begin() + static_cast<ptrdiff_t>(begin * width),
                         batch.embeddings.begin() + static_cast<ptrdiff_t>(end * width)},
          .documents = part(batch.documents),
          .metadatas = part(batch.metadatas),
          .uris = part(batch.uris)};
}

}  // namespace

size_t StoreEngine::UuidHash::operator()(const Uuid& id) const {
  size_t hash;
  std::memcpy(&hash, id.bytes.data(), sizeof hash);  // random bytes
  return hash;
}

StoreEngine::StoreEngine(std::shared_ptr<StoreEnvironment> environment, const StoreOptions& options)
    : environment_(std::move(environment)),
      options_(options),
      pid_(getpid()),
      segments_(environment_),
      maintenance_(options.background_threads) {}

bool StoreEngine::is_forked() const { return getpid() != pid_; }

Status StoreEngine::CheckOpen() const {
  if (is_forked()) {
    return FailedPrecondition(
        Detail::kForked,
        fmt::format("store \"{}\" was opened by process {} before fork; open it again here",
                    directory(), pid_));
  }
  if (is_closed_.load(std::memory_order_acquire)) {
    return FailedPrecondition(Detail::kClosed, fmt::format("store \"{}\" is closed", directory()));
  }
  return Status::Ok();
}

Status StoreEngine::CheckWritable() const {
  PIGMENT_RETURN_IF_ERROR(CheckOpen());
  if (!options_.read_only) return Status::Ok();
  return FailedPrecondition(Detail::kReadOnly,
                            fmt::format("store \"{}\" is open read-only", directory()));
}

Result<StoreEngine::Operation> StoreEngine::Begin() const {
  // First without the gate, whose mutex a forked child may find locked.
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  Operation operation(operations_);
  PIGMENT_RETURN_IF_ERROR(CheckOpen());
  return operation;
}

Result<StoreEngine::Operation> StoreEngine::BeginRead() const {
  PIGMENT_RETURN_IF_ERROR(CheckOpen());
  Operation operation(operations_);
  PIGMENT_RETURN_IF_ERROR(CheckOpen());
  return operation;
}

std::shared_ptr<StoreEngine::Generation> StoreEngine::generation() const {
  std::lock_guard lock(generation_mutex_);
  return generation_;
}

std::shared_ptr<Catalog> StoreEngine::catalog() const { return generation()->catalog; }

std::vector<std::shared_ptr<CollectionState>> StoreEngine::AllStates() const {
  std::lock_guard lock(generation_mutex_);
  std::vector<std::shared_ptr<CollectionState>> states;
  for (const auto& [id, slot] : generation_->slots) {
    if (slot.state && !slot.is_leaving) states.push_back(slot.state);
  }
  return states;
}

Status StoreEngine::Apply(Generation& generation, uint64_t position,
                          std::span<const std::byte> payload, bool is_live) {
  ByteReader reader(payload);
  Uuid id;
  const std::span<const std::byte> id_bytes = reader.GetBytes(id.bytes.size());
  if (!reader.ok()) {
    return DataLoss(Detail::kTruncated, "", -1,
                    fmt::format("log position {} names no collection", position));
  }
  std::copy(id_bytes.begin(), id_bytes.end(), id.bytes.begin());
  if (!is_live) {
    KeepForLater(generation, id, position, payload.subspan(id.bytes.size()));
    return Status::Ok();
  }
  const std::shared_ptr<CollectionState> state = FindLoaded(id);  // its writer holds it
  Outcome outcome;
  {
    std::lock_guard lock(outcomes_mutex_);
    outcomes_[position];  // before anything is to be seen: behind that nothing may fail
  }
  if (state) {  // otherwise the collection was deleted since
    PIGMENT_ASSIGN_OR_RETURN(const WriteBatch batch,
                             DecodeWriteBatch(payload.subspan(id.bytes.size())));
    Result<WriteCounts> counts = state->Apply(position, batch);
    outcome.status = counts.status();
    if (counts.ok()) outcome.counts = *counts;
  }
  std::lock_guard lock(outcomes_mutex_);
  outcomes_.find(position)->second = std::move(outcome);
  applied_.store(position, std::memory_order_release);
  return Status::Ok();
}

Result<WriteOutcome> StoreEngine::TakeOutcome(uint64_t position) {
  std::lock_guard lock(outcomes_mutex_);
  auto node = outcomes_.extract(position);
  if (node.empty())
    return Internal(fmt::format("log position {} was acknowledged and not applied", position));
  if (!node.mapped().status.ok()) return node.mapped().status;
  return WriteOutcome{node.mapped().counts, position};
}

Result<Reservation> StoreEngine::AdmitBytes(CollectionState& state, uint64_t bytes) {
  MemoryBudget& budget = environment_->budget;
  MemoryBudget& tails = environment_->tails;
  Reservation admitted(&tails);
  const auto admit = [&] {  // nobody is counted who may still be refused
    std::lock_guard lock(admission_mutex_);
    return budget.MakeRoom(tails.used_bytes() + bytes) && admitted.Grow(bytes).ok();
  };
  if (admit()) return admitted;
  // One at a time, and counted meanwhile: what its flush gives back goes to nobody who came later.
  std::lock_guard turn(admission_turn_mutex_);
  if (admit()) return admitted;
  PIGMENT_RETURN_IF_ERROR(admitted.Grow(bytes));
  PIGMENT_RETURN_IF_ERROR(state.Flush());
  if (budget.MakeRoom(tails.used_bytes())) return admitted;
  const uint64_t used = budget.used_bytes() + tails.used_bytes() - bytes;
  return ResourceExhausted(
      Detail::kMemory, fmt::format("memory budget of store \"{}\": {} bytes asked, {} of {} in use",
                                   directory(), bytes, used, budget.limit_bytes()));
}

Result<WriteOutcome> StoreEngine::WriteGated(CollectionState& state, const WriteBatch& batch) {
  PIGMENT_RETURN_IF_ERROR(state.CheckWritable());
  if (batch.ids.empty()) return WriteOutcome{{}, position()};
  PIGMENT_RETURN_IF_ERROR(CheckBatch(batch));
  const uint64_t bytes = sizeof state.id().bytes + EncodedBytes(batch);
  PIGMENT_RETURN_IF_ERROR(CheckBatchBytes(bytes));
  Reservation admitted;  // until the tail has counted it
  // A delete keeps nothing in memory, and a full disk must not make it wait for a flush.
  if (batch.kind != WriteKind::kDelete) {
    PIGMENT_ASSIGN_OR_RETURN(admitted,
                             AdmitBytes(state, bytes + batch.ids.size() * kRecordOverheadBytes));
  }
  std::string payload;
  payload.reserve(bytes);
  payload += AsText(state.id().bytes);
  EncodeWriteBatch(batch, payload);

  bool claimed = false;
  const auto release = [&state, &claimed] {
    if (std::exchange(claimed, false)) state.ReleaseDimension();
  };
  const Result<uint64_t> position =
      log_->Append({.payload = AsBytes(payload),
                    .check = [&] { return state.ClaimDimension(batch, &claimed); },
                    .refused = release,
                    .may_use_reserve = batch.kind == WriteKind::kDelete});
  release();
  PIGMENT_RETURN_IF_ERROR(position.status());
  log_bytes_.fetch_add(payload.size(), std::memory_order_relaxed);
  return TakeOutcome(*position);
}

Result<WriteOutcome> StoreEngine::Write(const Uuid& id, const std::string& name,
                                        const WriteBatch& batch) {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, Begin());
  PIGMENT_ASSIGN_OR_RETURN(const auto state, Find(id, name));
  Result<WriteOutcome> outcome = [&] {
    std::shared_lock gate(state->gate());
    if (PIGMENT_PLANTED(kBatchInHalves) && batch.ids.size() > 1) {
      const size_t half = batch.ids.size() / 2;
      const auto first = WriteGated(*state, RowsOf(batch, 0, half));
      return first.ok() ? WriteGated(*state, RowsOf(batch, half, batch.ids.size())) : first;
    }
    return WriteGated(*state, batch);
  }();
  TidyUpAfterWrite(state);
  return outcome;
}

Result<WriteOutcome> StoreEngine::DeleteSelected(const Uuid& id, const std::string& name,
                                                 const Collection::Select& select) {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, Begin());
  PIGMENT_ASSIGN_OR_RETURN(const auto state, Find(id, name));
  Result<WriteOutcome> outcome = [&]() -> Result<WriteOutcome> {
    std::unique_lock gate(state->gate());
    PIGMENT_ASSIGN_OR_RETURN(const auto version, state->Pin());
    PIGMENT_ASSIGN_OR_RETURN(std::vector<std::string> ids, select(*version));
    WriteBatch batch;
    batch.kind = WriteKind::kDelete;
    batch.ids = std::move(ids);
    return WriteGated(*state, batch);
  }();
  TidyUpAfterWrite(state);
  return outcome;
}

void StoreEngine::TidyUpAfterWrite(const std::shared_ptr<CollectionState>& state) {
  (void)CatchOutOfMemory([&] {
    state->FlushIfFull();
    Maintain(state);
    PurgeLogIfLarge();
    return Status::Ok();
  });
}

Status StoreEngine::FlushCollection(const Uuid& id, const std::string& name,
                                    const CallControl& control) {
  PIGMENT_RETURN_IF_ERROR(control.Check());
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, Begin());
  PIGMENT_ASSIGN_OR_RETURN(const auto state, Find(id, name));
  control.BeginPhase("flush", "collections", 1);
  PIGMENT_RETURN_IF_ERROR(state->Flush(control));
  control.Advance(1);
  Maintain(state);
  if (options_.erase_log) return EraseLog();
  PurgeLogIfLarge();
  return Status::Ok();
}

bool StoreEngine::IsDeleted(const CollectionState& state) const {
  return catalog()->GetCollectionById(state.id()).status().code() == Code::kNotFound;
}

// A collection that was deleted meanwhile has nothing left to flush.
Status StoreEngine::FlushOneOfMany(CollectionState& state, const CallControl& control) {
  Status status = state.Flush(control);
  return status.ok() || IsDeleted(state) ? Status::Ok() : status;
}

Status StoreEngine::FlushAll(const CallControl& control) {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, Begin());
  // A segment each would be a waste where there are many small tails.
  if (UnflushedCollections() >= kManyTails) PIGMENT_RETURN_IF_ERROR(ShelveCold(UINT64_MAX));
  Status first = LoadUnflushed();
  const auto states = AllStates();
  control.BeginPhase("flush", "collections", states.size());
  for (const auto& state : states) {
    PIGMENT_RETURN_IF_ERROR(control.Check());
    // A damaged or just deleted collection does not keep the others from the disk.
    if (state->CheckWritable().ok()) {
      if (Status status = FlushOneOfMany(*state, control); first.ok()) first = std::move(status);
      Maintain(state);
    }
    control.Advance(1);
  }
  if (options_.erase_log) {
    const Status erased = EraseLog();
    return first.ok() ? erased : first;
  }
  PurgeLogIfLarge();
  return first;
}

// Failures of a purge cost disk space and nothing else; the next one tries again.
void StoreEngine::PurgeLogIfLarge() {
  // The log closes a file at this size; before that there is nothing to purge.
  const uint64_t worth_it = options_.log_file_bytes_max;
  if (log_bytes_.load(std::memory_order_relaxed) < worth_it) return;
  if (purge_holds_.load() != 0) return;  // a copy still reads it
  Span span(options_.tracing, "purge_log", nullptr);
  span.End([&] {
    std::unique_lock purging(purge_mutex_, std::try_to_lock);
    if (!purging || log_bytes_.load(std::memory_order_relaxed) < worth_it) return Status::Ok();
    if (purge_holds_.load() != 0) return Status::Ok();
    log_bytes_.store(0, std::memory_order_relaxed);
    return pinned_floor_ == 0 ? PurgeLog() : PurgeUnpinned();
  }());
}

// Gets everything out of the log that was written so far.
Status StoreEngine::EraseLog() {
  Span span(options_.tracing, "erase_log", nullptr);
  const Status status = [&]() -> Status {
    std::lock_guard purging(purge_mutex_);
    PIGMENT_RETURN_IF_ERROR(log_->Rotate());
    purge_position_ = position();  // so that no collection is too young to be flushed
    log_bytes_.store(0, std::memory_order_relaxed);
    return PurgeLog();
  }();
  span.End(status);
  return status;
}

Status StoreEngine::PurgeLog() {
  // A cold collection whose few records have been in the log since before the last purge leaves it
  // now, so that it never pins more than two rounds of the log: to a shelf, or, where it is large
  // or in use, to a segment.
  const uint64_t cold = std::exchange(purge_position_, position());
  const uint64_t reached = purge_position_;
  PIGMENT_RETURN_IF_ERROR(ShelveCold(cold));
  for (const auto& state : AllStates()) {
    if (state->NeededAfter(reached) >= cold || !state->CheckWritable().ok()) continue;
    const Status status = state->FlushWithin();
    if (!status.ok() && !IsDeleted(*state)) return status;
  }
  return RaiseFloors(reached);
}

// Nobody needs the log up to the lowest position that somebody needs: so much is purged.
Status StoreEngine::RaiseFloors(uint64_t position) {
  const auto current = generation();
  const uint64_t floor = LowestNeeded(position);
  PIGMENT_RETURN_IF_ERROR(SecureLog());
  if (PIGMENT_PLANTED(kPurgeBeforeFloors)) PIGMENT_RETURN_IF_ERROR(log_->Purge(floor));
  PIGMENT_RETURN_IF_ERROR(current->catalog->RaiseFloors(floor));
  pinned_floor_ = floor;
  pinned_position_ = current->catalog->position();
  return PurgeUnpinned();
}

// A reader of an older catalog, whose floors are lower, may just be reading the log.
Status StoreEngine::PurgeUnpinned() {
  (void)environment_->removals.RemoveUnpinned();
  PIGMENT_ASSIGN_OR_RETURN(const bool is_pinned, environment_->files->IsPinnedBelow(
                                                     LockPath(directory()), pinned_position_));
  if (is_pinned) {
    // Looked for again each time that an eighth as much was written.
    log_bytes_.store(options_.log_file_bytes_max - options_.log_file_bytes_max / 8,
                     std::memory_order_relaxed);
    return Status::Ok();
  }
  return log_->Purge(std::exchange(pinned_floor_, 0));
}

// A floor beyond the durable end of the log would be a hole after a power cut.
Status StoreEngine::SecureLog() {
  if (PIGMENT_PLANTED(kAdministrationOvertakesLog)) return Status::Ok();
  return options_.sync_mode == SyncMode::kFull ? Status::Ok() : log_->Sync();
}

Status StoreEngine::Sync() {
  PIGMENT_RETURN_IF_ERROR(CheckOpen());
  return options_.read_only ? Status::Ok() : log_->Sync();
}

Status StoreEngine::Close() {
  if (is_forked()) return CheckOpen();
  if (is_closed_.exchange(true)) return Status::Ok();
  maintenance_.Cancel();  // first, because writers may wait for a merge
  std::unique_lock waiting_for_operations(operations_);
  maintenance_.Stop();
  { std::unique_lock waiting_for_loads(loading_mutex_); }  // none begins any more
  if (options_.read_only) return CatchOutOfMemory([this] { return CloseReader(); });
  Status first;
  const auto note = [&first](Status status) {
    if (first.ok()) first = std::move(status);
  };
  // A log of this size is emptied, so that the next open has little to read and the disk no second
  // copy of what segments hold; what is in a smaller one stays there.
  const bool is_log_large = log_->statistics().bytes >=
                            std::max<uint64_t>(options_.log_file_bytes_max / 16, uint64_t{1} << 20);
  // Whatever fails, for want of memory too: the log is closed and the lock let go.
  note(CatchOutOfMemory([&] { return FlushAtClose(is_log_large); }));
  (void)CatchOutOfMemory([&] { return ShelveAtClose(is_log_large); });  // everything is in the log
  note(CatchOutOfMemory([this] { return log_->Close(); }));
  note(CatchOutOfMemory([this] { return generation()->catalog->Seal(); }));
  lock_.reset();
  return first;
}

Status StoreEngine::CloseReader() {
  std::lock_guard refreshing(refresh_mutex_);
  // Handles may live on; the writer is not to wait for them.
  auto emptied = std::make_shared<Generation>();
  std::lock_guard lock(generation_mutex_);
  emptied->catalog = generation_->catalog;
  generation_.swap(emptied);
  return Status::Ok();
}

Status StoreEngine::FlushAtClose(bool is_log_large) {
  constexpr double kWorthASegment = 0.25;
  Status first;
  for (const auto& state : AllStates()) {
    if (!state->CheckWritable().ok()) continue;
    if (state->fullness() < kWorthASegment &&
        !(is_log_large && state->tail_bytes() > kShelvedBytesMax))
      continue;
    if (Status status = state->FlushWithin(); !status.ok() && first.ok()) first = std::move(status);
  }
  return first;
}

Status StoreEngine::ShelveAtClose(bool is_log_large) {
  std::lock_guard purging(purge_mutex_);
  const bool is_worth_a_shelf =
      is_log_large || UnflushedCollections() >= std::max<uint64_t>(1, options_.log_file_bytes_max >>
                                                                          kLogBytesPerTailShift);
  if (is_worth_a_shelf && ShelveCold(UINT64_MAX).ok()) {
    if (is_log_large) (void)log_->Rotate();  // only whole files are purged
    (void)RaiseFloors(position());
  } else if (pinned_floor_ != 0) {
    (void)PurgeUnpinned();
  }
  return environment_->removals.RemoveUnpinned();  // what stays goes at the next open
}

}  // namespace pigment
