// SPDX-License-Identifier: Apache-2.0
//
// PinnedRemovals: see the header.

#include "engine/base/reader_pins.h"

#include <utility>

namespace pigment {

std::string LockPath(const std::string& directory) { return directory + "/LOCK"; }

PinnedRemovals::PinnedRemovals(FileSystem* files, std::string lock_path)
    : files_(files), lock_path_(std::move(lock_path)) {}

Status PinnedRemovals::Remove(std::vector<std::string> paths, uint64_t position) {
  std::lock_guard lock(mutex_);
  for (std::string& path : paths) waiting_.emplace(position, std::move(path));
  return RemoveUnpinnedLocked();
}

Status PinnedRemovals::RemoveUnpinned() {
  std::lock_guard lock(mutex_);
  return RemoveUnpinnedLocked();
}

size_t PinnedRemovals::waiting() const {
  std::lock_guard lock(mutex_);
  return waiting_.size();
}

bool PinnedRemovals::IsFree(uint64_t position) const {
  const Result<bool> is_pinned = files_->IsPinnedBelow(lock_path_, position);
  return is_pinned.ok() && !*is_pinned;
}

Status PinnedRemovals::RemoveUnpinnedLocked() {
  if (waiting_.empty()) return Status::Ok();
  Status first;
  // Usually nobody is pinned at all, and one look is enough for the whole list.
  const bool is_all_free = IsFree(waiting_.rbegin()->first);
  uint64_t free_position = 0;
  while (!waiting_.empty()) {
    const auto next = waiting_.begin();
    if (!is_all_free && next->first > free_position) {
      if (!IsFree(next->first)) break;
      free_position = next->first;
    }
    Status status = files_->Remove(next->second);
    if (!status.ok() && first.ok()) first = std::move(status);
    waiting_.erase(next);
  }
  return first;
}

}  // namespace pigment
