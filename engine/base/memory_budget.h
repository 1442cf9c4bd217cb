// SPDX-License-Identifier: Apache-2.0
//
// MemoryBudget: bytes that one store (or one build inside a host) may use, or a part of it.
// Thread-safe, lock-free where it need not reclaim.
// The holder of a Reservation gives its bytes back when it dies.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "engine/base/status.h"

namespace pigment {

class MemoryBudget {
 public:
  // `limit_bytes` 0 means no limit. `name` appears in errors. What is charged to a part is charged
  // to its `whole` (borrowed) too, and must fit into both.
  explicit MemoryBudget(std::string name, uint64_t limit_bytes = 0, MemoryBudget* whole = nullptr)
      : name_(std::move(name)), limit_bytes_(limit_bytes), whole_(whole) {}

  // Over the limit, also after the reclaimer did what it can: kResourceExhausted, Detail::kMemory,
  // naming budget, limit, use and request; nothing is charged.
  Status Charge(uint64_t bytes);
  // For what cannot be refused any more: goes beyond the limit where there is no room in it.
  void ChargeAlways(uint64_t bytes);
  void Release(uint64_t bytes);
  // Has the reclaimer give back what `bytes` more need within the limit; false: there is not enough.
  bool MakeRoom(uint64_t bytes);

  // `reclaim(bytes)` gives back what is held without need, and returns how much. Set before the
  // first charge and ended after the last; it is called from any thread that charges.
  void SetReclaimer(std::function<uint64_t(uint64_t bytes)> reclaim) {
    reclaim_ = std::move(reclaim);
  }

  uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  uint64_t limit_bytes() const { return limit_bytes_; }

 private:
  const std::string name_;
  const uint64_t limit_bytes_;
  MemoryBudget* const whole_;
  std::function<uint64_t(uint64_t)> reclaim_;
  std::atomic<uint64_t> used_bytes_{0};
};

// Bytes charged to a budget (or to none), given back at destruction. Move-only.
class Reservation {
 public:
  Reservation() = default;
  explicit Reservation(MemoryBudget* budget) : budget_(budget) {}
  Reservation(Reservation&& other) noexcept { *this = std::move(other); }
  Reservation& operator=(Reservation&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Reservation() {
    if (budget_) budget_->Release(bytes_);
  }

  Status Grow(uint64_t bytes) {
    if (budget_) PIGMENT_RETURN_IF_ERROR(budget_->Charge(bytes));
    bytes_ += bytes;
    return Status::Ok();
  }
  uint64_t bytes() const { return bytes_; }

 private:
  MemoryBudget* budget_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace pigment
