// SPDX-License-Identifier: Apache-2.0
//
// The files below segments/ of a store: immutable segments, deletion bitmaps beside them, shelves.
// Writes, opens, shares and removes them; what belongs to which collection is the catalog's to say.
// An open segment owns its block source and keeps the file system alive, so a pinned version
// outlives the store. Any thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/base/disk_reserve.h"
#include "engine/base/files.h"
#include "engine/base/memory_budget.h"
#include "engine/base/reader_pins.h"
#include "engine/block/file_block_source.h"
#include "engine/catalog/catalog.h"
#include "engine/collection/row_bitmap.h"
#include "engine/collection/shelf_file.h"
#include "engine/collection/shelved_tail.h"
#include "engine/segment/segment.h"
#include "engine/segment/segment_writer.h"

namespace pigment {

// What everything of one open store shares and versions may outlive it with.
struct StoreEnvironment {
  StoreEnvironment(std::shared_ptr<FileSystem> files, std::string directory, uint64_t budget_bytes,
                   bool read_only, bool map_files = false, uint64_t reserve_bytes = 0)
      : files(std::move(files)),
        directory(std::move(directory)),
        read_only(read_only),
        map_files(map_files),
        budget("store", budget_bytes),
        merge_budget("merges of the store", budget_bytes / 4 * 3, &budget),
        removals(this->files.get(), LockPath(this->directory)),
        reserve(this->files.get(), this->directory, reserve_bytes) {
    if (budget_bytes != 0) cache.emplace(&budget);
  }

  const std::shared_ptr<FileSystem> files;
  const std::string directory;
  const bool read_only;
  const bool map_files;
  OwnerId store{};  // set once the catalog is open
  MemoryBudget budget;
  MemoryBudget merge_budget;  // of that: merges take long, and calls do not wait for them
  // What is not flushed, of all collections. Admission counts it (StoreEngine::AdmitBytes), the
  // budget does not: a flush needs room in there for what gives this back.
  MemoryBudget tails{"tails of the store"};
  PinnedRemovals removals;  // files that no catalog names any more, and readers may still need
  DiskReserve reserve;
  std::optional<BlockCache> cache;  // where the budget has a limit

  FileBlockOptions block_options() {
    return {.budget = &budget, .cache = cache ? &*cache : nullptr, .map = map_files};
  }
};

class SegmentStore {
 public:
  explicit SegmentStore(std::shared_ptr<StoreEnvironment> environment);

  // Whose edits drop what is removed. Set once, before anything is released; not for a store that
  // only reads.
  void SetCatalog(std::shared_ptr<const Catalog> catalog);

  // Opens and checks a segment that the catalog names. One that is open already (in a fork) is
  // shared.
  Result<std::shared_ptr<const Segment>> Open(const SegmentEntry& entry);
  // The deletions that the catalog names; null when it names none.
  Result<std::shared_ptr<const RowBitmap>> LoadDeletions(const SegmentEntry& entry) const;

  // Writes live records as segment `number` and makes the file durable; on failure no file is left
  // behind. REQUIRES: ordinals ascending, embeddings of `dimension`, at least one record.
  struct Contents {
    std::span<const Record* const> records;
    uint32_t dimension = 0;
    Metric metric = Metric::kL2;
    VectorElement vector_element = VectorElement::kF32;
    SegmentIndex index = {};  // without the memory for it the segment is flat
    SharedRules rules = nullptr;
    std::shared_ptr<const Analyzer> analyzer = nullptr;  // null: without a text index
    CallControl control = {};                            // asked every few rows
  };
  Result<SegmentEntry> Write(uint32_t number, const Contents& contents);
  // The same for rows that `fill` adds one by one, so that they need not be in memory together.
  struct Shape {
    uint32_t dimension = 0;
    Metric metric = Metric::kL2;
    VectorElement vector_element = VectorElement::kF32;
    SegmentOptions::Codes codes = SegmentOptions::Codes::kOfFlat;  // as SegmentOptions has them
    SegmentIndex index = {};
    uint32_t rows = 0;  // that will be added, at most
    uint32_t threads = 1;
    BuildPause pause = {};
    SharedRules rules = nullptr;  // what is indexed of records; null: everything
    // What the file will have, nearly. A large one takes its space first: a full disk then refuses
    // it at once, instead of being filled up by what fails in the end.
    uint64_t expected_bytes = 0;
    std::shared_ptr<const Analyzer> analyzer = nullptr;
    MemoryBudget* budget = nullptr;  // memory is charged here
  };
  using Fill = std::function<Status(SegmentWriter&)>;
  Result<SegmentEntry> WriteStreamed(uint32_t number, const Shape& shape, const Fill& fill);
  // Opens a segment to be read once from end to end, with little memory and apart from what readers
  // have loaded. One thread.
  Result<std::shared_ptr<const Segment>> OpenForMerge(const SegmentEntry& entry) const;
  // Writes `deleted` as version `version` of the deletions of `segment`, durable but for its name.
  Status WriteDeletions(uint32_t segment, uint64_t version, const RowBitmap& deleted);
  // Makes the names of what was written durable. A sync that fails may have dropped every name that
  // was made before it, also those of writers that go on, and a later one says nothing about them:
  // so a writer asks for the epoch before it makes its first file, and a sync of names from an
  // epoch that has failed since is refused (kUnavailable): what was written is to be written again.
  uint64_t names_epoch() const { return names_epoch_.load(std::memory_order_acquire); }
  Status SyncNames(uint64_t epoch);

  // Shelves: shelf_file.h. A record that the catalog names; writing one file, durable but for its
  // name, of which nothing is left on failure.
  Result<ShelvedTail> LoadShelf(const ShelfPlace& place) const;
  Result<std::string> ReadShelfBytes(const ShelfPlace& place) const;
  Status WriteShelf(uint32_t file, const ShelfWriter& shelf);

  // Counts how many collections name the files of an entry. A file that none names any more is
  // removed as soon as no reader of another process is pinned below the present position of the
  // catalog: Release follows the edit that drops it. A read-only store counts and removes nothing.
  // Retain throws std::bad_alloc and counts nothing then; what an edit will name is retained before
  // it, and Unretain takes that back when the edit fails, without removing anything. Letting go
  // always succeeds: without memory to remove a file, the next open does it.
  void Retain(const SegmentEntry& entry);
  void Unretain(const SegmentEntry& entry) noexcept;
  void Release(const SegmentEntry& entry) noexcept;
  // Keeps the files of an entry while a merge reads them, whatever becomes of the collections.
  void Hold(const SegmentEntry& entry);
  void LetGo(const SegmentEntry& entry) noexcept;
  // True when more than one collection names the segment.
  bool IsShared(uint32_t segment) const;
  // Removes the files of a failed flush that no entry names, and no reader ever knew.
  void Discard(const SegmentEntry& entry) noexcept;
  // Removes files of ours that nobody retains; called once at open, before anything is written.
  Status RemoveUnreferenced();

  MemoryBudget* merge_budget() const { return &environment_->merge_budget; }
  // For indexes that have no room in it; empty where the file system has none.
  ScratchSource scratch() const { return environment_->files->ScratchIn(directory_); }
  // For what may outlive the store.
  std::shared_ptr<MemoryBudget> shared_budget() const {
    return {environment_, &environment_->budget};
  }
  // The same for a shelf; `file` 0 is none.
  void RetainShelf(uint32_t file);
  void UnretainShelf(uint32_t file) noexcept;
  void ReleaseShelf(uint32_t file) noexcept;
  void DiscardShelf(uint32_t file) noexcept;

  std::string SegmentPath(uint32_t segment) const;
  std::string ShelfPath(uint32_t file) const;
  std::string DeletionsPath(uint32_t segment, uint64_t version) const;

 private:
  enum class FileKind { kSegment, kDeletions, kShelf };
  struct FileKey {
    FileKind kind = FileKind::kSegment;
    uint32_t number = 0;   // of the segment or shelf
    uint64_t version = 0;  // of the deletions
    auto operator<=>(const FileKey&) const = default;
  };
  static FileKey SegmentKey(const SegmentEntry& entry) {
    return {.kind = FileKind::kSegment, .number = entry.segment, .version = 0};
  }
  static FileKey DeletionsKey(const SegmentEntry& entry) {
    return {.kind = FileKind::kDeletions, .number = entry.segment, .version = entry.deletions};
  }
  static FileKey ShelfKey(uint32_t file) {
    return {.kind = FileKind::kShelf, .number = file, .version = 0};
  }
  std::string PathOf(const FileKey& key) const;
  void Count(const FileKey& key);
  bool Uncount(const FileKey& key) noexcept;  // true: nobody names it any more
  void DropReference(const FileKey& key) noexcept;

  const std::shared_ptr<StoreEnvironment> environment_;
  const std::string directory_;
  std::shared_ptr<const Catalog> catalog_;  // null while opening and in a read-only store
  std::atomic<uint64_t> names_epoch_{0};    // counts failed syncs of names
  std::mutex names_mutex_;    // held during a sync of names; nothing is taken under it
  mutable std::mutex mutex_;  // guards the members below; nothing is called while it is held
  std::map<uint32_t, std::weak_ptr<const Segment>> open_;
  size_t open_max_ = 0;  // where those that are gone are taken out
  std::map<FileKey, uint32_t> references_;
  std::map<uint32_t, uint32_t> holds_;  // by segment; each is a reference too
};

// Retains what an edit will name, and takes it back unless the edit was made.
class Retention {
 public:
  explicit Retention(SegmentStore& store) : store_(store) {}
  ~Retention() {
    for (const SegmentEntry& segment : segments_) store_.Unretain(segment);
    for (const uint32_t file : shelves_) store_.UnretainShelf(file);
  }
  Retention(const Retention&) = delete;
  Retention& operator=(const Retention&) = delete;

  void Add(const SegmentEntry& segment) {
    segments_.push_back(segment);
    try {
      store_.Retain(segment);
    } catch (const std::bad_alloc&) {
      segments_.pop_back();
      throw;
    }
  }
  void AddShelf(uint32_t file) {
    shelves_.push_back(file);
    try {
      store_.RetainShelf(file);
    } catch (const std::bad_alloc&) {
      shelves_.pop_back();
      throw;
    }
  }
  void Keep() noexcept {
    segments_.clear();
    shelves_.clear();
  }
  // The same for the segments, which are the caller's to release from here on.
  std::vector<SegmentEntry> TakeSegments() noexcept { return std::exchange(segments_, {}); }

 private:
  SegmentStore& store_;
  std::vector<SegmentEntry> segments_;
  std::vector<uint32_t> shelves_;
};

}  // namespace pigment
