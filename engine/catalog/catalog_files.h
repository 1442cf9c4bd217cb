// SPDX-License-Identifier: Apache-2.0
//
// CatalogFiles: the catalog on disk: a snapshot that is replaced whole, and a file of edits since.
// Not thread-safe: the catalog's edit mutex orders its callers. Bytes: README.md.

#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "engine/base/files.h"
#include "engine/base/reader_pins.h"
#include "engine/base/record_appender.h"
#include "engine/base/uuid.h"
#include "engine/catalog/catalog_state.h"

namespace pigment {

inline constexpr uint32_t kCatalogVersion = 2;
inline constexpr char kCatalogName[] = "CATALOG";

// "CATALOG.edits.0000000042"
std::string CatalogEditsName(uint64_t number);

class CatalogFiles {
 public:
  CatalogFiles(FileSystem* files, std::string directory)
      : files_(files), directory_(std::move(directory)), removals_(files, LockPath(directory_)) {}

  // Whether there is a catalog. None, but something that only one with contents leaves behind:
  // kDataLoss, Detail::kMissing.
  Result<bool> Find();

  // Makes a new catalog that holds `state`.
  Status Create(const CatalogState& state);

  // The same for a store that has its identity already: a copy.
  Status CreateFor(const Uuid& store, const CatalogState& state);

  // Reads what is there into an empty `state`.
  Status Load(CatalogState* state);

  // After Load: makes sure that everything loaded is durable and that edits can follow, removes
  // what is left over. `is_changed`: `state` is not what was loaded any more.
  Status BecomeWriter(const CatalogState& state, bool is_changed);

  // Makes edits durable with one sync; `state` is that before them. When it fails, nothing was
  // written, unless is_broken().
  Status Append(std::span<const std::span<const std::byte>> edits, const CatalogState& state);

  // Replaces the snapshot and begins a new file of edits. A failure keeps the old ones, unless
  // is_broken().
  Status Checkpoint(const CatalogState& state);

  bool is_broken() const { return is_broken_ || appender_.is_broken(); }
  bool wants_checkpoint() const;
  uint64_t bytes() const { return snapshot_bytes_ + appender_.end(); }  // of snapshot and edits
  bool has_edits() const;  // written since the snapshot, by this process
  // Notes, where there are no edits, that all of the catalog is durable. Evidence alone: without it
  // the next writer proves it again. No edit follows without a checkpoint.
  void Mark();
  const Uuid& store() const { return store_; }
  uint64_t next_position() const { return next_position_; }

 private:
  std::string PathOf(const std::string& name) const { return directory_ + "/" + name; }
  Status ReadSnapshot(FramedHeader* header, CatalogState* state);
  Status ReadEdits(const FramedHeader& snapshot, CatalogState* state);
  Status PublishSnapshot(uint64_t number, const CatalogState& state);
  Status RemoveLeftovers();

  FileSystem* const files_;
  const std::string directory_;
  Uuid store_;
  uint64_t number_ = 0;         // of the snapshot and its edits
  uint64_t next_position_ = 1;  // of the next edit
  uint64_t snapshot_bytes_ = 0;
  FramedHeader edits_header_;
  bool has_clean_edits_ = false;  // the file of edits holds none yet: it can be gone on with
  bool is_marked_ = false;        // and whoever closed it knew all of the catalog to be durable
  uint64_t edits_end_ = 0;        // of that file, where it is clean
  RecordAppender appender_;  // without a file until it is certain that everything before is durable
  bool is_broken_ = false;
  PinnedRemovals removals_;  // files of edits that readers may still be looking at
};

}  // namespace pigment
