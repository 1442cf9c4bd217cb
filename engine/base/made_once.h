// SPDX-License-Identifier: Apache-2.0
//
// What is made of something when it is first asked for, and then kept as long as that is. Any
// thread; of several that make it at once one's is kept.

#pragma once

#include <atomic>
#include <memory>

namespace pigment {

template <typename T>
class MadeOnce {
 public:
  MadeOnce() = default;
  // A copy makes its own, and so does what another is assigned to, which nobody may use meanwhile.
  MadeOnce(const MadeOnce&) noexcept {}
  MadeOnce& operator=(const MadeOnce&) noexcept {
    delete made_.exchange(nullptr, std::memory_order_relaxed);
    return *this;
  }
  ~MadeOnce() { delete made_.load(std::memory_order_relaxed); }

  // Null before it was made.
  T* get() const { return made_.load(std::memory_order_acquire); }
  // Keeps it, unless another thread's came first; gives the one that is kept.
  T& Keep(std::unique_ptr<T> made) const {
    T* kept = nullptr;
    if (!made_.compare_exchange_strong(kept, made.get(), std::memory_order_acq_rel)) return *kept;
    return *made.release();
  }

 private:
  mutable std::atomic<T*> made_{nullptr};  // owned
};

}  // namespace pigment
