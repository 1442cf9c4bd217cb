// SPDX-License-Identifier: Apache-2.0
//
// DiskFileSystem: files of the operating system. Files are made 0600 and directories 0700;
// descriptors are closed on exec. Locks are OFD locks: they conflict between two openers of one
// process as well, and die with the process. Stateless; any thread.

#pragma once

#include <string>
#include <string_view>

#include "engine/base/files.h"

namespace pigment {

class DiskFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status MakeDirectory(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& directory) override;
  Result<bool> Exists(const std::string& path) override;
  Status SyncDirectory(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path, std::string_view holder) override;
  ScratchSource ScratchIn(const std::string& directory) override;
  Result<std::unique_ptr<FileLock>> PinPosition(const std::string& path,
                                                uint64_t position) override;
  Result<bool> IsPinnedBelow(const std::string& path, uint64_t position) override;
};

// The disk; lives for ever.
FileSystem* DiskFiles();

// Scratch in the file of this descriptor, which is empty, has no name, and is closed in any case.
Result<std::unique_ptr<Scratch>> MapScratch(int descriptor, uint64_t bytes);

// "pid 4711 (python3) since 2026-11-21T14:05:09Z": what this process writes into a lock.
std::string DescribeThisProcess();

// The status of a failed system call: disk full, permission, missing, … or kUnavailable for an
// input/output error. `operation` is a verb: "cannot write /db/CATALOG: no space left on device".
Status ErrnoStatus(int error, std::string_view operation, const std::string& path);

}  // namespace pigment
