// SPDX-License-Identifier: Apache-2.0
//
// StoreEngine: collections are loaded at their first use. Until then one is its entry in the
// catalog, its place on a shelf, and the raw batches of the log above its floor.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/planted_bugs.h"
#include "engine/collection/store_engine.h"

namespace pigment {

// Counts who names which files, also for collections that nobody uses.
void StoreEngine::RetainAll(const Generation& generation) {
  generation.catalog->VisitCollections([this](const CollectionEntry& entry) {
    for (const SegmentEntry& segment : entry.segments) segments_.Retain(segment);
    segments_.RetainShelf(entry.shelf.file);
  });
}

void StoreEngine::KeepForLater(Generation& generation, const Uuid& id, uint64_t position,
                               std::span<const std::byte> batch) {
  const std::optional<uint64_t> floor = generation.catalog->FloorOf(id);
  if (!floor || position <= *floor) return;
  Slot& slot = generation.slots[id];
  slot.batches.push_back({position, std::string(AsText(batch))});
  if (slot.dimension == 0) slot.dimension = InsertedDimension(batch);
  environment_->tails.ChargeAlways(batch.size());
}

void StoreEngine::ForgetBatches(Slot& slot) noexcept {
  uint64_t bytes = 0;
  for (const LogBatch& batch : slot.batches) bytes += batch.payload.size();
  environment_->tails.Release(bytes);
  slot.batches = {};
  slot.dimension = 0;
}

std::shared_ptr<CollectionState> StoreEngine::FindLoaded(const Uuid& id) const {
  std::lock_guard lock(generation_mutex_);
  const auto found = generation_->slots.find(id);
  if (found == generation_->slots.end() || found->second.is_leaving) return nullptr;
  return found->second.state;
}

Result<std::shared_ptr<CollectionState>> StoreEngine::Find(const Uuid& id,
                                                           const std::string& name) {
  if (auto state = FindLoaded(id)) return state;
  return LoadCollection(id, name);
}

Result<std::shared_ptr<CollectionState>> StoreEngine::LoadCollection(
    const Uuid& id, const std::string& name) {
  std::shared_lock loading(loading_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckOpen());
  std::lock_guard alone(load_mutexes_[UuidHash()(id) % load_mutexes_.size()]);
  const std::shared_ptr<Generation> current = generation();
  std::span<const LogBatch> batches;
  {
    std::lock_guard lock(generation_mutex_);
    if (const auto found = current->slots.find(id); found != current->slots.end()) {
      if (found->second.state) return found->second.state;
      batches = found->second.batches;  // changed only by who holds loading_mutex_ alone, or `alone`
    }
  }
  const Result<CollectionEntry> entry = current->catalog->GetCollectionById(id);
  if (!entry.ok()) {
    return NotFound(
        fmt::format("collection \"{}\" does not exist", name.empty() ? id.ToString() : name));
  }
  PIGMENT_ASSIGN_OR_RETURN(const auto state, MakeState(*current, *entry, batches));
  {
    std::lock_guard lock(generation_mutex_);
    Slot& slot = current->slots[id];
    slot.state = state;
    ForgetBatches(slot);
  }
  GoOnMerging(state);
  return state;
}

// What is damaged is a state that says so. What failed for a reason that may pass is an error, and
// the next use tries again.
Result<std::shared_ptr<CollectionState>> StoreEngine::MakeState(Generation& generation,
                                                                const CollectionEntry& entry,
                                                                std::span<const LogBatch> batches) {
  auto state = std::make_shared<CollectionState>(ContextFor(generation), entry);
  if (PIGMENT_PLANTED(kFirstUseLosesABatch) && batches.size() > 1) batches = batches.subspan(1);
  for (const LogBatch& batch : batches) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(batch.payload));
    Result<WriteBatch> decoded = DecodeWriteBatch(bytes);
    if (!decoded.ok()) {
      state->FailReplay(decoded.status());
      break;
    }
    if (!state->Apply(batch.position, *decoded).ok()) break;
  }
  const uint64_t position =
      options_.read_only ? generation.position : std::max(generation.position, this->position());
  state->FinishReplay(position);
  if (Status failure = state->PassingFailure(); !failure.ok()) {
    state->Unload();
    return failure;
  }
  return state;
}

uint32_t StoreEngine::DimensionOf(const Uuid& id, uint32_t stored) const {
  std::shared_ptr<CollectionState> state;
  {
    std::lock_guard lock(generation_mutex_);
    const auto found = generation_->slots.find(id);
    if (found == generation_->slots.end()) return stored;
    if (!found->second.state) return stored != 0 ? stored : found->second.dimension;
    state = found->second.state;
  }
  return state->dimension();
}

Status StoreEngine::LoadUnflushed() {
  std::vector<Uuid> ids;
  {
    std::lock_guard lock(generation_mutex_);
    for (const auto& [id, slot] : generation_->slots) {
      if (!slot.state) ids.push_back(id);
    }
  }
  Status first;
  for (const Uuid& id : ids) {
    const Status status = Find(id, "").status();
    if (!status.ok() && status.code() != Code::kNotFound && first.ok()) first = status;
  }
  return first;
}

Status StoreEngine::LoadSegmented() {
  std::vector<Uuid> ids;
  catalog()->VisitCollections([&ids](const CollectionEntry& entry) {
    if (!entry.segments.empty()) ids.push_back(entry.id);
  });
  Status first;
  for (const Uuid& id : ids) {
    const Status status = Find(id, "").status();
    if (!status.ok() && status.code() != Code::kNotFound && first.ok()) first = status;
  }
  return first;
}

Result<LoadingStatistics> StoreEngine::loading() const {
  PIGMENT_RETURN_IF_ERROR(CheckOpen());
  const std::shared_ptr<Generation> current = generation();
  LoadingStatistics statistics;
  const Catalog::Statistics catalog = current->catalog->statistics();
  statistics.collections = catalog.collections;
  statistics.catalog_bytes = catalog.bytes;
  std::set<std::pair<uint32_t, uint64_t>> records;  // forks share them
  current->catalog->VisitCollections([&](const CollectionEntry& entry) {
    if (entry.shelf.file == 0) return;
    ++statistics.shelved_collections;
    if (records.emplace(entry.shelf.file, entry.shelf.offset).second)
      statistics.shelved_bytes += entry.shelf.length;
  });
  std::lock_guard lock(generation_mutex_);
  for (const auto& [id, slot] : current->slots) {
    statistics.loaded_collections += slot.state != nullptr;
    statistics.waiting_batches += slot.batches.size();
  }
  return statistics;
}

}  // namespace pigment
