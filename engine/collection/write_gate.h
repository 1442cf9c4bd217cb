// SPDX-License-Identifier: Apache-2.0
//
// WriteGate: many writers, or one who excludes them all (DeleteSelected, fork, deletion of the
// collection). The excluder goes first: writers that come while one waits are held back, which
// std::shared_mutex does not promise. A lockable for std::unique_lock and std::shared_lock; any
// thread.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace pigment {

class WriteGate {
 public:
  void lock() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [this] { return !is_excluded_ && writers_ == 0; });
    --waiting_;
    is_excluded_ = true;
  }
  void unlock() {
    std::lock_guard lock(mutex_);
    is_excluded_ = false;
    changed_.notify_all();
  }
  void lock_shared() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_excluded_ && waiting_ == 0; });
    ++writers_;
  }
  void unlock_shared() {
    std::lock_guard lock(mutex_);
    if (--writers_ == 0) changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t writers_ = 0;
  uint32_t waiting_ = 0;
  bool is_excluded_ = false;
};

}  // namespace pigment
