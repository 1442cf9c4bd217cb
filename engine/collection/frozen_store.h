// SPDX-License-Identifier: Apache-2.0
//
// FrozenStore: one moment of an open store, held still on disk for as long as it lives: a catalog
// state, the log position that belongs to it, and a promise that no file that either needs is
// removed. Writers, flushes and merges go on meanwhile; nobody waits for it beyond the moment it is
// made. For backup and check. Used by one thread; the store outlives it.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/files.h"
#include "engine/base/uuid.h"
#include "engine/catalog/catalog_state.h"
#include "engine/collection/segment_store.h"

namespace pigment {

struct FrozenStore {
  FrozenStore() = default;
  FrozenStore(const FrozenStore&) = delete;
  FrozenStore& operator=(const FrozenStore&) = delete;
  ~FrozenStore() {
    ReleaseLog();
    if (release_files) release_files();
  }

  // The log may be purged again; what was read of it is the caller's.
  void ReleaseLog() {
    if (auto release = std::exchange(release_log, nullptr)) release();
  }

  FileSystem* files = nullptr;
  std::string directory;
  Uuid store;
  std::string catalog_bytes;  // as Catalog::EncodeState gives them
  CatalogState catalog;       // the same, decoded
  uint64_t position = 0;      // of the last batch that belongs to this moment
  SegmentStore* segments = nullptr;

  std::function<void()> release_log;
  std::function<void()> release_files;
};

// Log positions above this are needed to rebuild what the segments of `catalog` do not hold;
// `position` when nothing is.
uint64_t LowestFloor(const CatalogState& catalog, uint64_t position);

}  // namespace pigment
