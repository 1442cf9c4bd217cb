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
#include "engine/catalog/catalog.h"
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
  std::vector<CollectionEntry> collections;  // the same, decoded
  uint64_t position = 0;      // of the last batch that belongs to this moment
  SegmentStore* segments = nullptr;

  std::function<void()> release_log;
  std::function<void()> release_files;
};

// Collections of a catalog's state as Catalog::EncodeState gives it.
Result<std::vector<CollectionEntry>> DecodeCollections(const std::string& catalog_bytes);

// Log positions above this are needed to rebuild what the segments of `collections` do not hold;
// `position` when nothing is.
uint64_t LowestFloor(const std::vector<CollectionEntry>& collections, uint64_t position);

// Of the files of their segments, each once.
uint64_t SegmentBytes(const std::vector<CollectionEntry>& collections);

}  // namespace pigment
