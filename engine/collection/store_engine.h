// SPDX-License-Identifier: Apache-2.0
//
// StoreEngine: one open store, whatever the number of handles to it. Owns the lock, catalog, log
// and collections, and joins them: a write goes through the log into its collection. Any thread;
// locking order in engine/collection/README.md.

#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/collection/backup.h"
#include "engine/collection/check.h"
#include "engine/collection/collection_state.h"
#include "engine/collection/maintenance.h"
#include "engine/collection/segment_store.h"
#include "engine/collection/store.h"
#include "engine/collection/write_gate.h"
#include "engine/log/log.h"

namespace pigment {

// A tail of more bytes than this is worth a segment of its own and goes on no shelf.
inline constexpr uint64_t kShelvedBytesMax = uint64_t{1} << 20;

struct FrozenStore;

class StoreEngine {
 public:
  // `files` lives as long as anything that reads from it. `holder`: what the lock tells others about
  // who writes here.
  static Result<std::shared_ptr<StoreEngine>> Open(std::shared_ptr<FileSystem> files,
                                                   const std::string& directory,
                                                   const StoreOptions& options,
                                                   const std::string& holder);

  // Waits for running operations, then refuses all; lets go of the directory whatever fails, and
  // throws nothing. Large tails become segments; small ones stay in
  // the log, which is made durable, so that opening and closing does not litter segments.
  Status Close();
  // Makes everything acknowledged so far durable, whatever the sync mode.
  Status Sync();

  // Ok, or kForked, or kClosed.
  Status CheckOpen() const;
  Status CheckWritable() const;  // and kReadOnly
  bool is_forked() const;
  uint64_t position() const { return applied_.load(std::memory_order_acquire); }
  const StoreOptions& options() const { return options_; }
  const std::string& directory() const { return environment_->directory; }

  std::shared_ptr<Catalog> catalog() const;
  // Loads the collection when it is used for the first time. kNotFound when there is no such
  // collection (any more); `name` is for the message.
  Result<std::shared_ptr<CollectionState>> Find(const Uuid& id, const std::string& name);
  // The dimension as of now, without loading; `stored` is what the catalog says.
  uint32_t DimensionOf(const Uuid& id, uint32_t stored) const;
  Result<LoadingStatistics> loading() const;

  Result<WriteOutcome> Write(const Uuid& id, const std::string& name, const WriteBatch& batch);
  Result<WriteOutcome> DeleteSelected(const Uuid& id, const std::string& name,
                                      const Collection::Select& select);
  Status FlushCollection(const Uuid& id, const std::string& name, const CallControl& control);
  Status FlushAll(const CallControl& control);
  Result<CompactionResult> CompactCollection(const Uuid& id, const std::string& name,
                                             const CallControl& control);
  Result<CompactionResult> CompactAll(const CallControl& control);
  Result<MaintenanceStatistics> maintenance() const;
  // For who is about to search: has a thread see whether what might hang on another segment is
  // searched, if it is time for it.
  void LookForGrafts(const std::shared_ptr<CollectionState>& state);

  Result<CollectionEntry> CreateCollection(CollectionEntry entry);
  Result<CollectionEntry> ForkCollection(const Uuid& source, const std::string& new_name);
  Status ModifyCollection(const Uuid& id, const std::function<Status(CollectionEntry&)>& change);
  Status DeleteCollection(const Scope& scope, const std::string& name);
  Status DeleteDatabase(const std::string& tenant, const std::string& name);
  Status DeleteTenant(const std::string& name);

  // Tenants and databases; here so that a copy's catalog and position belong together.
  Status CreateTenant(const std::string& name);
  Result<Catalog::DatabaseEntry> CreateDatabase(const std::string& tenant, const std::string& name);

  Result<BackupSummary> WriteBackupTo(const std::string& path, const BackupOptions& options);
  Result<CheckReport> Check(const CheckOptions& options);
  Result<StoreCondition> Condition() const;

  // A read-only store reads what the writer made durable since; any other is up to date.
  Result<uint64_t> Refresh();

  StoreEngine(std::shared_ptr<StoreEnvironment> environment, const StoreOptions& options);

 private:
  struct UuidHash {
    size_t operator()(const Uuid& id) const;
  };
  // A collection that is in use, or that has something in the log. The others are their entries in
  // the catalog and nothing else.
  struct LogBatch {
    uint64_t position = 0;
    std::string payload;  // an encoded WriteBatch
  };
  struct Slot {
    std::shared_ptr<CollectionState> state;  // null before the first use
    std::vector<LogBatch> batches;           // above the floor, until then
    uint32_t dimension = 0;                  // that the batches insert
    bool is_leaving = false;                 // for a shelf: nobody may come to `state`
  };
  // A catalog with the collections that it names. A store that writes has one for life; each
  // refresh of a read-only store makes another, and whoever uses an old one keeps it.
  struct Generation {
    std::shared_ptr<Catalog> catalog;
    // Of a read-only store, on the catalog's position; null where there is no LOCK to pin in.
    std::shared_ptr<const FileLock> pin;
    uint64_t position = 0;  // of the log when it was made
    std::unordered_map<Uuid, Slot, UuidHash> slots;
  };
  static constexpr int kBackupAttempts = 20;  // of a reader beside a writer
  // One operation under way; Close waits for all.
  using Operation = std::shared_lock<WriteGate>;

  Status Prepare(const std::string& holder);
  Status CheckDirectory();
  Status Load();
  Result<std::shared_ptr<Generation>> OpenGeneration();
  Status OpenPinnedCatalog(Generation* generation);
  Result<std::shared_ptr<const FileLock>> PinPosition(uint64_t position);
  uint64_t Publish(std::shared_ptr<Generation> fresh, uint64_t reached);
  Result<std::shared_ptr<Generation>> ReplayGeneration(std::unique_ptr<Log>* log,
                                                       uint64_t* position);
  CollectionContext ContextFor(Generation& generation);
  Result<Operation> Begin() const;
  Result<Operation> BeginRead() const;  // also of a read-only store
  Result<std::unique_ptr<FrozenStore>> Freeze();
  std::shared_ptr<Generation> generation() const;
  std::vector<std::shared_ptr<CollectionState>> AllStates() const;  // that are loaded

  // Loading: store_load.cc.
  void RetainAll(const Generation& generation);
  void KeepForLater(Generation& generation, const Uuid& id, uint64_t position,
                    std::span<const std::byte> batch);
  Result<std::shared_ptr<CollectionState>> LoadCollection(const Uuid& id, const std::string& name);
  Result<std::shared_ptr<CollectionState>> MakeState(Generation& generation,
                                                     const CollectionEntry& entry,
                                                     std::span<const LogBatch> batches);
  std::shared_ptr<CollectionState> FindLoaded(const Uuid& id) const;
  void ForgetBatches(Slot& slot) noexcept;
  bool IsDeleted(const CollectionState& state) const;
  Status FlushOneOfMany(CollectionState& state, const CallControl& control);
  // Loads what has something in the log, or segments.
  Status LoadUnflushed();
  Status LoadSegmented();

  // Shelves: store_shelve.cc.
  struct ColdCollection {
    Uuid id;
    std::shared_ptr<CollectionState> state;
    bool was_loaded = false;
    CollectionState::Shelving shelving;
    ShelfPlace place;
  };
  struct MovedShelf {
    Uuid id;
    ShelfPlace from;
    ShelfPlace to;
  };
  // Puts collections on a shelf that have something in the log from before `cold`, are small, and
  // that nobody uses; they are unloaded by that.
  Status ShelveCold(uint64_t cold);
  void TakeCold(Generation& generation, uint64_t cold, std::vector<ColdCollection>& taken);
  // REQUIRE: generation_mutex_.
  void PutBackLocked(Generation& generation, ColdCollection& one) noexcept;
  void KeepLoadedLocked(Generation& generation, ColdCollection& one) noexcept;
  Status WriteShelf(Generation& generation, std::vector<ColdCollection>& taken);
  Result<std::vector<MovedShelf>> MoveMostlyDead(const Catalog& catalog,
                                                 const std::vector<ColdCollection>& taken,
                                                 ShelfWriter& shelf);
  Status NameShelf(Catalog& catalog, const std::vector<ColdCollection>& taken,
                   const std::vector<MovedShelf>& moved, uint64_t position);
  size_t UnflushedCollections() const;  // that have something in the log
  uint64_t LowestNeeded(uint64_t position) const;
  Status RaiseFloors(uint64_t position);

  Status Apply(Generation& generation, uint64_t position, std::span<const std::byte> payload,
               bool is_live);
  Result<WriteOutcome> WriteGated(CollectionState& state, const WriteBatch& batch);
  Result<Reservation> AdmitBytes(CollectionState& state, uint64_t bytes);
  Result<WriteOutcome> TakeOutcome(uint64_t position);
  Status RemoveCollections(const std::function<bool(const CollectionEntry&)>& is_removed,
                           const std::function<Status(Catalog&)>& edit);
  // Has the merges done that are due after a flush, here or by a thread; waits where these are far
  // behind. Failures are kept for the statistics: the write that came here is acknowledged.
  void Maintain(const std::shared_ptr<CollectionState>& state);
  // Has threads do what was due when the store was closed, once the collection is used.
  void GoOnMerging(const std::shared_ptr<CollectionState>& state);
  // What a write makes necessary. The write is acknowledged whatever comes of it.
  void TidyUpAfterWrite(const std::shared_ptr<CollectionState>& state);
  Result<CompactionResult> CompactState(CollectionState& state, const CallControl& control);
  Status CloseReader();
  Status FlushAtClose(bool is_log_large);
  Status ShelveAtClose(bool is_log_large);
  Status SecureLog();
  void PurgeLogIfLarge();
  Status PurgeLog();
  Status PurgeUnpinned();
  Status EraseLog();

  const std::shared_ptr<StoreEnvironment> environment_;
  const StoreOptions options_;
  const pid_t pid_;
  SegmentStore segments_;
  std::unique_ptr<FileLock> lock_;
  std::atomic<bool> is_closed_{false};
  mutable WriteGate operations_;

  std::mutex admin_mutex_;  // creation, fork and deletion of collections
  // Shared by whoever loads a collection, alone by who must not meet that: deletion, shelving,
  // closing. And one thread at a time loads one collection.
  mutable std::shared_mutex loading_mutex_;
  std::array<std::mutex, 16> load_mutexes_;
  std::mutex entry_mutex_;  // read-modify-write of a catalog entry
  std::mutex refresh_mutex_;
  std::mutex admission_turn_mutex_;  // writes that need a flush to fit into memory
  std::mutex admission_mutex_;       // what is admitted is counted
  std::mutex purge_mutex_;
  std::atomic<uint32_t> purge_holds_{0};  // raised under purge_mutex_: the log stays as it is
  // Guarded by purge_mutex_: position at the last purge; what of the log readers keep from being
  // purged, and the position of the catalog that readers must have reached before that.
  uint64_t purge_position_ = 0;
  uint64_t pinned_floor_ = 0;
  uint64_t pinned_position_ = 0;
  std::atomic<uint64_t> log_bytes_{0};  // written since the last purge, nearly

  std::atomic<uint64_t> applied_{0};
  mutable std::mutex generation_mutex_;  // guards the pointer and the map behind it
  std::shared_ptr<Generation> generation_;
  std::mutex outcomes_mutex_;
  struct Outcome {
    Status status;
    WriteCounts counts;
  };
  std::unordered_map<uint64_t, Outcome>
      outcomes_;  // applied, and not yet taken by the writer that waits

  std::unique_ptr<Log> log_;  // behind what its threads use
  Maintenance maintenance_;   // last, so that its threads end first
};

}  // namespace pigment
