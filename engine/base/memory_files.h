// SPDX-License-Identifier: Apache-2.0
//
// MemoryFileSystem: a file system in memory, with the disk's semantics. In its volatile form it is
// what a store without a path lives in. In its simulated form it also remembers what is durable, so
// that tests can cut the power, and it injects faults. Any thread. The file system must outlive its
// files and locks.
//
// What is durable in the simulated form: a file's bytes and size as of its last Sync, names as of
// their directory's last SyncDirectory. A failed Sync drops the unsynced writes for good, as Linux
// does: reads still show them, a later Sync succeeds, and after a power cut they are gone.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/base/memory_inode.h"

namespace pigment {

// What a fault or a trace line can be about.
enum class FileOperation : uint32_t {
  kOpen = 1,  // existing files
  kCreate = 2,
  kRead = 4,
  kWrite = 8,
  kTruncate = 16,
  kSync = 32,
  kRename = 64,
  kRemove = 128,
  kMakeDirectory = 256,
  kSyncDirectory = 512,
  kList = 1024,  // List, Exists and Size
  kLock = 2048,  // and pins
  kAllocate = 4096,
};
inline constexpr uint32_t kAnyFileOperation = 8191;
// Those that change what a power cut would leave.
inline constexpr uint32_t kChangingFileOperations = 2 | 8 | 16 | 32 | 64 | 128 | 256 | 512 | 4096;

struct FileFault {
  uint32_t operations = kAnyFileOperation;  // bits of FileOperation
  uint64_t at = 1;                          // fails the at-th such operation from now on
  bool forever = false;                     // and every later one
  Status error = Status(Code::kUnavailable, "simulated input/output error");
  bool is_partial = false;  // a write leaves a prefix of its bytes
  int error_number = 0;     // instead of `error`: what the disk says for this errno, with the path
};

// What a power cut does to what was not synced. Every choice is drawn from `seed`.
struct PowerCut {
  enum class Keep {
    kNothing,     // all of it is gone
    kEverything,  // all of it is there: the death of a process, not of the machine
    kPrefix,      // writes of a file up to some point, the last one torn; names in order up to some
                  // point
    kRandom,  // any subset, writes torn at sectors, sizes without their bytes; any subset of names
  };
  Keep keep = Keep::kNothing;
  uint64_t seed = 0;
};

class MemoryFileSystem final : public FileSystem {
 public:
  enum class Kind { kVolatile, kSimulated };
  explicit MemoryFileSystem(Kind kind = Kind::kVolatile);

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

  // The rest is for tests. REQUIRES: kSimulated.

  // One fault at a time; nullopt removes it.
  void SetFault(std::optional<FileFault> fault);
  uint64_t faults_met() const;  // how often the present fault struck
  // Bytes that all files together may have; a write or allocation beyond leaves what fits and gives
  // kDiskFull. 0: no limit.
  void SetCapacity(uint64_t bytes);
  uint64_t used_bytes() const;
  // How many operations of these kinds there were so far.
  uint64_t CountOperations(uint32_t operations) const;

  // Everything from the at-th changing operation from now on fails, as if the machine stood still
  // there; that operation itself may have happened in part. Then CutPower().
  void StopAt(uint64_t at);
  bool is_stopped() const;
  // Files and locks that are open are dead from here on; the file system begins anew with what
  // survived.
  void CutPower(const PowerCut& cut);

  // One line per changing operation, such as "write db/log/1 64+100" or "sync db/log/1".
  void StartTrace();
  std::vector<std::string> TakeTrace();

 private:
  friend class MemoryFile;
  friend class MemoryLock;
  friend class MemoryPin;

  // A name is a file or, with a null inode, a directory.
  using Inode = std::shared_ptr<MemoryInode>;
  using Names = std::map<std::string, Inode, std::less<>>;
  struct NameChange {
    enum class Kind { kAdd, kRemove, kRename } kind;
    std::string path;
    std::string to;
    Inode inode;
  };
  // How an operation ends, and whether it has its effect: where the machine stops, both an error
  // and an effect.
  struct Verdict {
    Status status;
    bool has_effect = true;
    bool is_partial = false;
  };

  static void Apply(const NameChange& change, Names& names);
  Verdict Begin(FileOperation operation, const std::string& line);
  Verdict Judge(FileOperation operation, const std::string& line);
  Status CheckParent(const std::string& path, std::string_view operation) const;
  void Change(NameChange change);
  void KeepNames(const PowerCut& cut, std::mt19937_64& random);
  // The calls of a file; `boot` is the one it was opened in.
  Status Read(uint64_t boot, const MemoryInode& inode, const std::string& path, uint64_t offset,
              std::span<std::byte> out);
  Status Write(uint64_t boot, MemoryInode& inode, const std::string& path, uint64_t offset,
               std::span<const std::byte> bytes);
  Status Allocate(uint64_t boot, MemoryInode& inode, const std::string& path, uint64_t size);
  Status Resize(uint64_t boot, MemoryInode& inode, const std::string& path, uint64_t size);
  Status Sync(uint64_t boot, MemoryInode& inode, const std::string& path);
  Result<uint64_t> Size(uint64_t boot, const MemoryInode& inode, const std::string& path);
  Status CheckBoot(uint64_t boot) const;
  void Unlock(const std::string& path, uint64_t boot);
  void Unpin(const std::string& path, uint64_t position, uint64_t boot);
  uint64_t UsedBytes() const;

  const bool is_simulated_;
  mutable std::mutex mutex_;  // guards everything below; taken before an inode's own
  Names names_;
  Names durable_names_;
  std::map<std::string, std::vector<NameChange>> name_changes_;  // not durable yet, by directory
  std::map<std::string, std::string> locks_;
  std::map<std::string, std::multiset<uint64_t>> pins_;
  std::array<uint64_t, 13> counts_{};  // by bit of FileOperation
  std::optional<FileFault> fault_;
  uint64_t fault_candidates_ = 0;
  uint64_t faults_met_ = 0;
  uint64_t capacity_bytes_ = 0;
  uint64_t changes_until_stop_ = 0;  // 0: does not stop
  bool is_stopped_ = false;
  uint64_t boot_ = 0;
  bool is_tracing_ = false;
  std::vector<std::string> trace_;
};

}  // namespace pigment
