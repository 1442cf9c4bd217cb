// SPDX-License-Identifier: Apache-2.0
//
// An open store: a directory (or memory) with its catalog, log and collections. The engine's front
// door for the C ABI. Thread safety: every method from any thread. A store that was opened before
// fork() answers every call in the child with kFailedPrecondition, Detail::kForked.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/base/trace.h"
#include "engine/catalog/catalog.h"
#include "engine/collection/backup.h"
#include "engine/collection/check.h"
#include "engine/collection/collection.h"
#include "engine/collection/condition.h"
#include "engine/log/log.h"

namespace pigment {

struct StoreOptions {
  SyncMode sync_mode = SyncMode::kFull;
  uint32_t sync_interval_ms = 100;
  uint64_t memory_budget_bytes = 0;  // 0: no limit
  uint32_t flush_rows_max = 16384;   // a fuller tail is flushed to a segment
  uint64_t flush_bytes_max = 64ull << 20;
  uint64_t log_file_bytes_max = 64ull << 20;  // a fuller file of the log gives way to the next; as
                                              // many bytes of log are worth a purge
  // A merge of so many rows or more gives its output what the collection is configured for, a graph
  // or clusters.
  uint32_t index_rows_min = 8192;
  // A flush or a smaller merge of so many rows or more gives it clusters, which take little time.
  uint32_t cluster_rows_min = 1024;
  // Threads that merge segments, started when the first merge is due. 0: the writer that makes a
  // merge necessary does it before its call returns, in an order that only the calls decide.
  uint32_t background_threads = 1;
  // A collection is left alone when nothing was written for so long, or when ten times that went by
  // without a flush: what is written meanwhile is little. Then its threads do what is worth doing
  // once, not beside writes (merge_plan.h).
  uint32_t quiet_ms = 1000;
  // Kept on the disk in the file RESERVE and given back when the disk is full, so that deletions go
  // through; everything else that adds data is refused as long as there is no room for it. 0: none.
  // A store in memory has none.
  uint64_t reserve_bytes = 1ull << 20;
  // Log files are overwritten with zeros before they are removed, and each Flush and Compact
  // empties the log. Slower; what segments and the disk itself keep: engine/log/README.md.
  bool erase_log = false;
  bool read_only = false;
  bool create = true;  // make the directory when missing
  // Segments are mapped instead of read: shared with other processes and not counted in the budget;
  // but a disk that fails under a mapped page, or a file that somebody truncates, kills the process
  // by SIGBUS instead of giving an error. A store in memory has nothing to map and takes no notice.
  bool map_files = false;
  Tracing tracing = {};  // what it is told of is in engine/base/trace.h; off at first

  bool operator==(const StoreOptions&) const = default;
};

// What merges did since the store was opened. `running` and `waiting_writers` are as of now.
struct MaintenanceStatistics {
  uint64_t merges = 0;           // done, those of Compact included
  uint64_t failures = 0;         // tried again later; nothing is lost by one
  uint64_t rows = 0;             // written by merges
  uint64_t bytes = 0;            // of the files that merges wrote
  uint32_t running = 0;          // merges under way
  uint32_t queued = 0;           // collections that wait for a thread, or for another try
  uint32_t waiting_writers = 0;  // held back until a merge is done
  uint64_t writer_waits = 0;     // how often one was
  Status last_error;             // of the latest failure; stays when a later try succeeds
};

// What a store holds and has in memory.
struct LoadingStatistics {
  uint64_t collections = 0;
  uint64_t loaded_collections = 0;   // in use since the store was opened
  uint64_t shelved_collections = 0;  // with their tail on a shelf
  uint64_t shelved_bytes = 0;        // of these tails
  uint64_t waiting_batches = 0;      // of the log, of collections that nobody has used yet
  uint64_t catalog_bytes = 0;
};

struct Scope {
  std::string tenant{kDefaultTenant};
  std::string database{kDefaultDatabase};
};

class Store {
 public:
  // `path` absent: in memory, on a file system of its own, gone with the last handle. Two opens of
  // one directory in one process share one Store (compared by device and inode); other options on
  // the second open are refused by name. Another process that has it open for writing:
  // kFailedPrecondition, Detail::kLocked, within 100 ms, naming the holder. `files` is for tests;
  // null means the disk.
  static Result<std::shared_ptr<Store>> Open(const std::optional<std::string>& path,
                                             const StoreOptions& options,
                                             FileSystem* files = nullptr);
  virtual ~Store() = default;

  // Waits for running writes, refuses later calls with Detail::kClosed, syncs the log, and reports
  // errors. Tails that are at least a quarter full become segments; smaller ones stay in the synced
  // log, and the next open replays them. A store shared by several opens closes with the last one
  // (each open calls Close once). Close again: ok.
  virtual Status Close() = 0;

  virtual Result<Catalog*> catalog() = 0;  // tenants and databases; an error when closed or forked

  // `entry` carries everything but the id. kAlreadyExists when the name is taken, kNotFound when
  // tenant or database is missing.
  virtual Result<std::shared_ptr<Collection>> CreateCollection(CollectionEntry entry) = 0;
  virtual Result<std::shared_ptr<Collection>> GetCollection(const Scope& scope,
                                                            const std::string& name) = 0;
  virtual Result<std::shared_ptr<Collection>> GetCollectionById(const Uuid& id) = 0;
  // Changes name, metadata, configuration or embedding function: `change` edits a copy of the
  // entry, which is then stored durably.
  virtual Status ModifyCollection(const Uuid& id,
                                  const std::function<Status(CollectionEntry&)>& change) = 0;
  virtual Status DeleteCollection(const Scope& scope, const std::string& name) = 0;
  virtual Status DeleteDatabase(const std::string& tenant, const std::string& name) = 0;
  virtual Status DeleteTenant(const std::string& name) = 0;
  // A new collection with the same records as `source` has now; segments are shared, later writes
  // are not.
  virtual Result<std::shared_ptr<Collection>> ForkCollection(const Uuid& source,
                                                             const std::string& new_name) = 0;

  // Copies the store as it is at one moment into another directory (missing, empty, or left by a
  // backup that did not finish) while writers, flushes and merges go on. Also of a read-only store.
  virtual Result<BackupSummary> Backup(const std::string& path,
                                       const BackupOptions& options = {}) = 0;

  // Reads and compares everything, as CheckStore does of a directory, while writers go on.
  virtual Result<CheckReport> Check(const CheckOptions& options = {}) = 0;

  // Collection::Flush for every collection. One that is damaged does not keep the others from it;
  // a call that is stopped ends at once, and what it flushed before stays flushed.
  virtual Status Flush(const CallControl& control = {}) = 0;
  // Collection::Compact for every collection; sums. A collection that fails does not keep the
  // others from it; the first error is given in the end.
  virtual Result<CompactionResult> Compact(const CallControl& control = {}) = 0;
  virtual Result<MaintenanceStatistics> maintenance() const = 0;
  virtual uint64_t position() const = 0;  // last applied log position
  virtual Result<LoadingStatistics> loading() const = 0;
  virtual Result<StoreCondition> Condition() const = 0;  // log, catalog, memory, formats
  virtual Result<uint64_t>
  Refresh() = 0;  // read-only: catches up with the writer; returns the new position
};

}  // namespace pigment
