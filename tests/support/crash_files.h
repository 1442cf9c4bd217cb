// SPDX-License-Identifier: Apache-2.0
//
// CrashFileSystem: a file system in memory that records every changing operation. It begins with a
// CrashTree, which counts as durable; what a power cut may leave of tree and trace is for
// CrashStates (crash_states.h) to say. One sync or write may be made to fail. Used by one thread at a time;
// must outlive its files and locks.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/files.h"
#include "tests/support/crash_bytes.h"

namespace pigment {

// What a disk holds: contents by path; null is a directory.
struct CrashTree {
  std::map<std::string, std::shared_ptr<const CrashBytes>, std::less<>> names;

  Hash128 Hash() const;
  uint64_t bytes() const;
};

struct CrashOperation {
  enum class Kind {
    kCreate,
    kMakeDirectory,
    kRename,
    kRemove,
    kSyncDirectory,
    kWrite,
    kResize,
    kSync
  } kind;
  bool failed = false;  // a sync that reported an error
  uint64_t inode = 0;   // of a file; 0: a directory
  std::string path;
  std::string to;  // of a rename
  uint64_t offset = 0;
  uint64_t size = 0;                   // of a resize
  std::vector<std::byte> bytes;        // of a write

  std::string ToString() const;
};

class CrashFileSystem final : public FileSystem {
 public:
  explicit CrashFileSystem(const CrashTree& tree);

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status MakeDirectory(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& directory) override;
  Result<bool> Exists(const std::string& path) override;
  Status SyncDirectory(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path, std::string_view holder) override;
  Result<std::unique_ptr<FileLock>> PinPosition(const std::string& path,
                                                uint64_t position) override;
  Result<bool> IsPinnedBelow(const std::string& path, uint64_t position) override;

  const std::vector<CrashOperation>& trace() const { return trace_; }
  // The inode that a name of the first tree has; later ones are in the trace.
  const std::map<std::string, uint64_t, std::less<>>& first_inodes() const { return first_inodes_; }

  // What is there now, as a process would see it: all of the trace.
  CrashTree Now() const;

  // Called once, when the next segment file is created, before that call returns.
  void OnSegment(std::function<void()> hook) { hook_ = std::move(hook); }

  // While it is cut off nothing changes and nothing is recorded: each operation that would change
  // something fails, as it would never come from a process that was killed.
  void CutOff(bool is_cut_off) { is_cut_off_ = is_cut_off; }

  // The at-th sync of a file or directory from now on fails once; 0: none.
  void FailSync(uint64_t at) { syncs_until_failure_ = at; }
  uint64_t syncs() const { return syncs_; }
  // The at-th write from now on fails once and changes nothing; 0: none.
  void FailWrite(uint64_t at) { writes_until_failure_ = at; }
  uint64_t writes() const { return writes_; }

 private:
  friend class CrashFile;
  friend class CrashLock;
  friend class CrashPin;

  struct Inode {
    uint64_t number = 0;
    std::shared_ptr<const CrashBytes> bytes;
  };
  using InodeRef = std::shared_ptr<Inode>;  // null: a directory

  void Record(CrashOperation operation) { trace_.push_back(std::move(operation)); }
  Status CheckReached(std::string_view operation, const std::string& path) const;
  Status CheckParent(const std::string& path, std::string_view operation) const;
  Status Sync(CrashOperation operation);

  std::map<std::string, InodeRef, std::less<>> names_;
  std::map<std::string, uint64_t, std::less<>> first_inodes_;
  std::set<std::string> locks_;
  std::multiset<std::pair<std::string, uint64_t>> pins_;
  std::vector<CrashOperation> trace_;
  std::function<void()> hook_;
  uint64_t next_inode_ = 1;
  uint64_t syncs_ = 0;
  uint64_t syncs_until_failure_ = 0;
  uint64_t writes_ = 0;
  uint64_t writes_until_failure_ = 0;
  bool is_cut_off_ = false;
};

// The directory of a path of the harness: these are normal already, and relative.
std::string CrashParentOf(const std::string& path);

}  // namespace pigment
