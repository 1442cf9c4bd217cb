// SPDX-License-Identifier: Apache-2.0
//
// Readers of other processes pin a position of the catalog (files.h, PinPosition), and the writer
// removes a file only when nobody is pinned below the edit that dropped it. PinnedRemovals is the
// writer's list of files that wait for that. Any thread; borrows the file system, which outlives
// it.
//
// Why no file is removed too early: a reader holds kLookingPosition before it reads the catalog and
// until it holds the position of what it read. The writer's edit is on disk before it looks for
// pins. So a reader that the writer does not see reads a catalog that has the edit.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/base/status.h"

namespace pigment {

// What a reader holds that does not know yet which position it will read: below every position.
inline constexpr uint64_t kLookingPosition = 0;
// Below this are only readers that are still looking.
inline constexpr uint64_t kFirstPosition = 1;

// The file of a store that its one writer locks and its readers pin.
std::string LockPath(const std::string& directory);

class PinnedRemovals {
 public:
  PinnedRemovals(FileSystem* files, std::string lock_path);

  // Removes `paths`, which nothing at or above `position` of the catalog names: now, or at a later
  // call when nobody is pinned below any more. What is still waiting when the store closes is found
  // and removed by the next open for writing. The first error of a removal, after all were tried;
  // where it cannot be found out who is pinned, the files wait.
  Status Remove(std::vector<std::string> paths, uint64_t position);
  // Looks again.
  Status RemoveUnpinned();

  size_t waiting() const;

 private:
  Status RemoveUnpinnedLocked();
  bool IsFree(uint64_t position) const;

  FileSystem* const files_;
  const std::string lock_path_;
  mutable std::mutex mutex_;  // guards the list; held while files are removed
  std::multimap<uint64_t, std::string> waiting_;  // by position
};

}  // namespace pigment
