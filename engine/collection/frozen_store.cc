// SPDX-License-Identifier: Apache-2.0
//
// Making a FrozenStore: the moment is one at which no edit of the catalog can happen, so that
// catalog and position belong together.

#include "engine/collection/frozen_store.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <set>

#include "engine/base/bytes.h"
#include "engine/base/planted_bugs.h"
#include "engine/catalog/catalog_state.h"
#include "engine/collection/store_engine.h"

namespace pigment {

Result<std::vector<CollectionEntry>> DecodeCollections(const std::string& catalog_bytes) {
  CatalogState state;
  PIGMENT_RETURN_IF_ERROR(state.ApplySnapshot(AsBytes(catalog_bytes)));
  std::vector<CollectionEntry> collections;
  collections.reserve(state.collection_count());
  state.VisitCollections([&](const CollectionEntry& entry) { collections.push_back(entry); });
  std::sort(collections.begin(), collections.end(),
            [](const CollectionEntry& a, const CollectionEntry& b) { return a.id < b.id; });
  return collections;
}

uint64_t LowestFloor(const std::vector<CollectionEntry>& collections, uint64_t position) {
  uint64_t lowest = position;
  uint64_t highest = 0;
  for (const CollectionEntry& entry : collections) {
    lowest = std::min(lowest, entry.floor);
    highest = std::max(highest, entry.floor);
  }
  return PIGMENT_PLANTED(kBackupHighestFloor) ? std::max(lowest, highest) : lowest;
}

uint64_t SegmentBytes(const std::vector<CollectionEntry>& collections) {
  std::set<uint32_t> seen;
  uint64_t bytes = 0;
  for (const CollectionEntry& entry : collections) {
    for (const SegmentEntry& segment : entry.segments) {
      if (seen.insert(segment.segment).second) bytes += segment.file_bytes;
    }
  }
  return bytes;
}

namespace {

// Both or neither: `list` has `item`, and `take` was done.
template <typename Item, typename Take>
void PushWith(std::vector<Item>& list, const Item& item, const Take& take) {
  list.push_back(item);
  try {
    take();
  } catch (const std::bad_alloc&) {
    list.pop_back();
    throw;
  }
}

}  // namespace

// REQUIRES: an operation is under way.
Result<std::unique_ptr<FrozenStore>> StoreEngine::Freeze() {
  auto frozen = std::make_unique<FrozenStore>();
  frozen->files = environment_->files.get();
  frozen->directory = directory();
  frozen->segments = &segments_;
  {
    std::lock_guard purging(purge_mutex_);  // one that is under way ends first
    purge_holds_.fetch_add(1);
  }
  frozen->release_log = [this] { purge_holds_.fetch_sub(1); };
  const auto current = generation();
  auto retained = std::make_shared<std::vector<SegmentEntry>>();
  auto shelves = std::make_shared<std::vector<uint32_t>>();
  // First: what is held from here on is let go, however far this comes.
  frozen->release_files = [this, retained, shelves, current] {
    for (const SegmentEntry& segment : *retained) segments_.LetGo(segment);
    for (const uint32_t shelf : *shelves) segments_.ReleaseShelf(shelf);
  };
  {
    std::lock_guard admin(admin_mutex_);
    std::lock_guard entries(entry_mutex_);
    frozen->store = current->catalog->store();
    frozen->catalog_bytes = current->catalog->EncodeState();
    frozen->position = position();
    current->catalog->VisitCollections([&](const CollectionEntry& entry) {
      for (const SegmentEntry& segment : entry.segments)
        PushWith(*retained, segment, [&] { segments_.Hold(segment); });
      PushWith(*shelves, entry.shelf.file, [&] { segments_.RetainShelf(entry.shelf.file); });
    });
  }
  PIGMENT_ASSIGN_OR_RETURN(frozen->collections, DecodeCollections(frozen->catalog_bytes));
  return frozen;
}

}  // namespace pigment
