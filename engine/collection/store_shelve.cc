// SPDX-License-Identifier: Apache-2.0
//
// StoreEngine: cold collections go on a shelf together. The order makes it safe, as in flush.cc:
// the shelf file is durable, then its name, then one group of edits names it and raises the floors,
// each edit for itself; memory follows. Who is on the shelf is not loaded any more.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/base/out_of_memory.h"
#include "engine/base/planted_bugs.h"
#include "engine/collection/store_engine.h"

namespace pigment {

namespace {

// A larger tail is worth a segment.
constexpr double kShelvedFullnessMax = 0.25;

// Records of one shelf file that entries name.
struct ShelfUse {
  std::map<uint64_t, uint32_t> records;  // offset, length
  uint64_t bytes = 0;
};

}  // namespace

Status StoreEngine::ShelveCold(uint64_t cold) {
  std::unique_lock loading(loading_mutex_);
  const std::shared_ptr<Generation> current = generation();
  std::vector<ColdCollection> taken;
  const Status status = CatchOutOfMemory([&] {
    TakeCold(*current, cold, taken);
    return taken.empty() ? Status::Ok() : WriteShelf(*current, taken);
  });
  std::lock_guard lock(generation_mutex_);
  if (!status.ok()) {
    for (ColdCollection& one : taken) PutBackLocked(*current, one);
    return status;
  }
  for (ColdCollection& one : taken) {
    one.state->Unload();
    const auto found = current->slots.find(one.id);
    ForgetBatches(found->second);
    current->slots.erase(found);
  }
  return Status::Ok();
}

// Those that are loaded are marked, so that nobody can reach them and yet everybody sees what they
// need of the log; the batches of the others stay where they are. `taken` is right at every moment.
// REQUIRES: loading_mutex_ is held alone, so nobody comes to one of them anew.
void StoreEngine::TakeCold(Generation& generation, uint64_t cold,
                           std::vector<ColdCollection>& taken) {
  std::vector<std::pair<Uuid, std::span<const LogBatch>>> waiting;
  {
    std::lock_guard lock(generation_mutex_);
    for (auto& [id, slot] : generation.slots) {
      // Whoever writes, reads or merges holds the state as well.
      if (slot.state && slot.state.use_count() == 1 && slot.state->CheckWritable().ok() &&
          slot.state->NeededAfter(position()) < std::min(cold, position()) &&
          slot.state->fullness() < kShelvedFullnessMax) {
        taken.push_back(
            {.id = id, .state = slot.state, .was_loaded = true, .shelving = {}, .place = {}});
        slot.is_leaving = true;
      }
      if (!slot.state && !slot.batches.empty() && slot.batches.front().position <= cold &&
          !PIGMENT_PLANTED(kPurgeForgetsUnused))
        waiting.emplace_back(id, slot.batches);
    }
  }
  for (const auto& [id, batches] : waiting) {
    const Result<CollectionEntry> entry = generation.catalog->GetCollectionById(id);
    if (!entry.ok()) continue;
    Result<std::shared_ptr<CollectionState>> state = MakeState(generation, *entry, batches);
    if (!state.ok()) continue;  // its batches stay in the log for it
    taken.push_back(
        {.id = id, .state = *std::move(state), .was_loaded = false, .shelving = {}, .place = {}});
  }
  // Damaged or too large: not for a shelf.
  const auto middle = std::partition(taken.begin(), taken.end(), [](ColdCollection& one) {
    Result<CollectionState::Shelving> shelving =
        CatchOutOfMemory([&one] { return one.state->PrepareShelf(); });
    const bool fits = shelving.ok() && one.state->fullness() < kShelvedFullnessMax &&
                      shelving->bytes.size() <= kShelvedBytesMax;
    if (fits) one.shelving = *std::move(shelving);
    return fits;
  });
  std::lock_guard lock(generation_mutex_);
  for (auto one = middle; one != taken.end(); ++one) KeepLoadedLocked(generation, *one);
  taken.erase(middle, taken.end());
}

void StoreEngine::KeepLoadedLocked(Generation& generation, ColdCollection& one) noexcept {
  Slot& slot = generation.slots.find(one.id)->second;
  slot.state = std::move(one.state);
  slot.is_leaving = false;
  ForgetBatches(slot);
}

void StoreEngine::PutBackLocked(Generation& generation, ColdCollection& one) noexcept {
  if (one.was_loaded) {
    KeepLoadedLocked(generation, one);
  } else {
    one.state->Unload();
  }
}

Status StoreEngine::WriteShelf(Generation& generation, std::vector<ColdCollection>& taken) {
  const uint64_t position = this->position();
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t file, generation.catalog->NextSegment());
  const uint64_t epoch = segments_.names_epoch();
  ShelfWriter shelf(environment_->store, file);
  for (ColdCollection& one : taken) {
    if (one.shelving.bytes.empty()) continue;
    PIGMENT_ASSIGN_OR_RETURN(one.place, shelf.Add(one.shelving.bytes));
    one.shelving.bytes = {};
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<MovedShelf> moved,
                           MoveMostlyDead(*generation.catalog, taken, shelf));
  const auto name = [&] { return NameShelf(*generation.catalog, taken, moved, position); };
  if (PIGMENT_PLANTED(kShelfNamedBeforeWritten)) PIGMENT_RETURN_IF_ERROR(name());
  if (!shelf.is_empty()) {
    PIGMENT_RETURN_IF_ERROR(segments_.WriteShelf(file, shelf));
    Status status = PIGMENT_PLANTED(kShelfForgetsName) ? Status::Ok() : segments_.SyncNames(epoch);
    if (!status.ok()) {
      segments_.DiscardShelf(file);
      return status;
    }
  }
  if (PIGMENT_PLANTED(kShelfNamedBeforeWritten)) return Status::Ok();
  Status status = SecureLog();
  // After a full disk the edits are not there; after any other failure they may be.
  bool is_named_nowhere = !status.ok();
  if (status.ok()) {
    status = CatchOutOfMemory(name);
    is_named_nowhere = status.detail() == Detail::kDiskFull;
  }
  if (is_named_nowhere && !shelf.is_empty()) segments_.DiscardShelf(file);
  return status;
}

// Copies what is left of shelves that are mostly dead, so that these can go. A collection of them
// may be in use meanwhile: only the place of its record changes.
Result<std::vector<StoreEngine::MovedShelf>> StoreEngine::MoveMostlyDead(
    const Catalog& catalog, const std::vector<ColdCollection>& taken, ShelfWriter& shelf) {
  std::set<Uuid> leaving;
  for (const ColdCollection& one : taken) leaving.insert(one.id);
  std::map<uint32_t, ShelfUse> uses;
  std::vector<MovedShelf> moved;
  catalog.VisitCollections([&](const CollectionEntry& entry) {
    if (entry.shelf.file == 0 || leaving.contains(entry.id)) return;
    ShelfUse& use = uses[entry.shelf.file];
    if (use.records.emplace(entry.shelf.offset, entry.shelf.length).second)
      use.bytes += entry.shelf.length;
    moved.push_back({.id = entry.id, .from = entry.shelf, .to = {}});
  });
  std::map<std::pair<uint32_t, uint64_t>, ShelfPlace> places;
  for (const auto& [file, use] : uses) {
    PIGMENT_ASSIGN_OR_RETURN(const auto opened,
                             environment_->files->Open(segments_.ShelfPath(file), OpenMode::kRead));
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, opened->Size());
    if (use.bytes >= size / 2) continue;
    for (const auto& [offset, length] : use.records) {
      PIGMENT_ASSIGN_OR_RETURN(const std::string bytes,
                               segments_.ReadShelfBytes({file, offset, length}));
      PIGMENT_ASSIGN_OR_RETURN((places[{file, offset}]), shelf.Add(bytes));
    }
  }
  std::erase_if(moved, [&places](MovedShelf& one) {
    const auto found = places.find({one.from.file, one.from.offset});
    if (found == places.end()) return true;
    one.to = found->second;
    return false;
  });
  return moved;
}

Status StoreEngine::NameShelf(Catalog& catalog, const std::vector<ColdCollection>& taken,
                              const std::vector<MovedShelf>& moved, uint64_t position) {
  std::lock_guard lock(entry_mutex_);
  std::vector<CollectionEntry> entries;
  std::vector<uint32_t> dropped;
  for (const ColdCollection& one : taken) {
    PIGMENT_ASSIGN_OR_RETURN(CollectionEntry entry, catalog.GetCollectionById(one.id));
    dropped.push_back(entry.shelf.file);
    entry.shelf = one.place;
    entry.floor = position;
    entry.next_ordinal = one.shelving.next_ordinal;
    entry.dimension = one.shelving.dimension;
    entries.push_back(std::move(entry));
  }
  for (const MovedShelf& one : moved) {
    PIGMENT_ASSIGN_OR_RETURN(CollectionEntry entry, catalog.GetCollectionById(one.id));
    if (entry.shelf != one.from) continue;  // flushed meanwhile
    dropped.push_back(entry.shelf.file);
    entry.shelf = one.to;
    entries.push_back(std::move(entry));
  }
  Retention retention(segments_);  // before the edit: behind it nothing may fail
  for (const CollectionEntry& entry : entries) retention.AddShelf(entry.shelf.file);
  PIGMENT_RETURN_IF_ERROR(catalog.UpdateCollections(entries));
  retention.Keep();
  for (const uint32_t file : dropped) segments_.ReleaseShelf(file);
  return Status::Ok();
}

size_t StoreEngine::UnflushedCollections() const {
  size_t collections = 0;
  std::lock_guard lock(generation_mutex_);
  for (const auto& [id, slot] : generation_->slots) {
    const bool is_unflushed =
        slot.state ? slot.state->NeededAfter(position()) < position() : !slot.batches.empty();
    collections += is_unflushed;
  }
  return collections;
}

// Log positions above this are needed by somebody; `position` when none is.
uint64_t StoreEngine::LowestNeeded(uint64_t position) const {
  uint64_t lowest = position;
  std::lock_guard lock(generation_mutex_);
  for (const auto& [id, slot] : generation_->slots) {
    if (slot.state) {
      lowest = std::min(lowest, slot.state->NeededAfter(position));
    } else if (!slot.batches.empty() && !PIGMENT_PLANTED(kPurgeForgetsUnused)) {
      lowest = std::min(lowest, slot.batches.front().position - 1);
    }
  }
  return lowest;
}

}  // namespace pigment
