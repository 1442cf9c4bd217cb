// SPDX-License-Identifier: Apache-2.0
//
// Backup: one moment of a store, copied into another directory while the store goes on. Every file
// is verified on its way, everything is durable before the catalog of the copy appears, and until
// then the copy does not open: a marker in it says that it is unfinished, and the next attempt may
// use the place again. One thread.
//
//   copy/BACKUP      present from before the first file until after the catalog
//   copy/log/1       the batches between the lowest floor and the position, in one file
//   copy/segments/   what the catalog names, and nothing else
//   copy/CATALOG     last

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/call_control.h"
#include "engine/base/files.h"
#include "engine/base/status.h"
#include "engine/base/uuid.h"

namespace pigment {

struct FrozenStore;

inline constexpr char kBackupMarker[] = "BACKUP";

struct BackupOptions {
  FileSystem* files = nullptr;  // of the target; null: the disk
  CallControl control;          // asked at each chunk of a file
};

struct BackupSummary {
  uint64_t position = 0;  // the copy is the store as of this log position
  uint64_t collections = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// Copies `source` to `path`: missing, empty, or left by a backup that did not finish. A store
// there: kAlreadyExists; anything else: kFailedPrecondition. Damage in the source: kDataLoss naming
// the file. After a failure the target does not open as a store.
Result<BackupSummary> WriteBackup(FrozenStore& source, const std::string& path,
                                  const BackupOptions& options);

// Begins an empty store in `path` for a copy: checks the place, takes its lock, leaves the marker.
// Finish publishes the catalog; without it the place stays unfinished. For backup and repair.
class CopyTarget {
 public:
  static Result<std::unique_ptr<CopyTarget>> Begin(FileSystem* files, const std::string& path);
  ~CopyTarget();  // without Finish: removes what was copied, as far as that is possible

  FileSystem* files() const { return files_; }
  const std::string& path() const { return path_; }
  std::string log() const { return path_ + "/log"; }
  std::string segments() const { return path_ + "/segments"; }

  // REQUIRES: every file is synced.
  Status Finish(const Uuid& store, const std::string& catalog_bytes);

 private:
  CopyTarget(FileSystem* files, std::string path) : files_(files), path_(std::move(path)) {}
  Status Prepare();
  Status CheckPlace(bool* has_marker) const;
  Status RemoveCopied();

  FileSystem* const files_;
  const std::string path_;
  std::unique_ptr<FileLock> lock_;
  bool is_prepared_ = false;
  bool is_finished_ = false;
};

}  // namespace pigment
