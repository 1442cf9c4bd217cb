// SPDX-License-Identifier: Apache-2.0
//
// Histories of a store for the crash harness: a model of a whole store, the operations that
// workloads are made of, and a run of them that notes, for every moment of the trace, which models
// a power cut may leave. Errors are texts; empty is none. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/collection/store.h"
#include "tests/support/crash_files.h"
#include "tests/support/store_model.h"

namespace pigment {

// A store as its user sees it: collections by name with metadata and records.
class StoreModel {
 public:
  struct Collection {
    std::string metadata_json;  // empty: none
    CollectionModel records;
  };
  std::map<std::string, Collection> collections;

  // A fingerprint of everything that can be asked: each collection's metadata, all records in
  // order, an exact query, a filter. Equal to that of a store that answers alike.
  const Hash128& digest() const;
  std::string ToString() const;

 private:
  mutable std::optional<Hash128> digest_;
};
using StoreModelRef = std::shared_ptr<const StoreModel>;

// Asks an open store for everything, checks every block of every segment, and returns the
// fingerprint.
Result<Hash128> DigestOfStore(Store& store, bool verifies = true);
// The first difference between a store and a model, for messages; empty: none.
std::string DifferenceOfStore(Store& store, const StoreModel& model);

enum class StoreOperation : uint8_t {
  kAdd,
  kUpsert,
  kUpdate,
  kDelete,
  kFlush,
  kCompact,
  kCompactBusy,  // writes and a flush come while it merges
  kCreate,
  kRename,
  kModify,
  kDeleteCollection,
  kFork,
  kCheckpoint,
  kReopen,
  kKill,  // the process dies, and another one opens the store
};
inline constexpr size_t kStoreOperations = 15;
const char* NameOf(StoreOperation operation);
std::string NameOf(const std::vector<StoreOperation>& operations);

// What a power cut may leave from one operation of the trace on.
struct HistoryPoint {
  size_t trace_begin = 0;
  std::vector<StoreModelRef> allowed;
  std::string what;
};

// One life of a store over a CrashFileSystem.
class StoreRun {
 public:
  // `candidates`: what may be there. `seed` decides what is written.
  StoreRun(CrashFileSystem* files, const StoreOptions& options,
           std::vector<StoreModelRef> candidates, uint64_t seed);

  // Opens the store and finds out which candidate it is.
  std::string Open();
  // Does one operation; nothing to do it on (no collection is left) is none. Until TolerateFailure,
  // any error of the store is one here.
  std::string Do(StoreOperation operation);
  std::string Close();

  // From here on the store may report failures: the operation that did may or may not be there, and
  // the store is opened anew before the next one.
  void TolerateFailure() { is_failure_tolerated_ = true; }
  bool has_failed() const { return has_failed_; }

  const std::vector<HistoryPoint>& points() const { return points_; }
  size_t opened_at() const { return opened_at_; }  // where in the trace the first open returned
  StoreModelRef model() const { return models_.back(); }
  std::shared_ptr<Store> store() const { return store_; }

 private:
  std::string OpenUnread();
  void Kill();
  Status FlushEverything();
  std::string WriteAfterFailure();
  std::string CompactBusy();
  Status Attempt(StoreOperation operation, StoreModel* after, bool* is_applicable);
  std::string Largest(const StoreModel& model) const;
  Status Write(WriteKind kind, StoreModel* after);
  WriteBatch MakeBatch(WriteKind kind, const CollectionModel& records);
  Status Create(StoreModel* after);
  Status Change(StoreOperation operation, StoreModel* after);
  Status Fork(StoreModel* after);
  void Note(const std::string& what);
  std::vector<StoreModelRef> Allowed() const;

  CrashFileSystem* const files_;
  const StoreOptions options_;
  BatchMaker maker_;
  std::shared_ptr<Store> store_;
  std::vector<StoreModelRef> models_;  // what may be there now: the last is what was issued last
  std::vector<HistoryPoint> points_;
  size_t opened_at_ = 0;
  std::string newest_;  // the collection that this run made last
  uint32_t step_ = 0;
  bool is_failure_tolerated_ = false;
  bool has_failed_ = false;
};

}  // namespace pigment
