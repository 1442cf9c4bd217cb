// SPDX-License-Identifier: Apache-2.0
//
// MemoryBudget: charging with a limit.

#include "engine/base/memory_budget.h"

#include <fmt/format.h>

namespace pigment {

Status MemoryBudget::Charge(uint64_t bytes) {
  uint64_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    while (limit_bytes_ != 0 && (used > limit_bytes_ || bytes > limit_bytes_ - used)) {
      // Others may take what was given back: as long as there is something, there is hope.
      if (reclaim_ && bytes <= limit_bytes_ && reclaim_(used + bytes - limit_bytes_) != 0) {
        used = used_bytes_.load(std::memory_order_relaxed);
        continue;
      }
      return ResourceExhausted(
          Detail::kMemory,
          fmt::format("memory budget \"{}\" of {} bytes is used up: {} in use, {} asked for", name_,
                      limit_bytes_, used, bytes));
    }
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  if (whole_ == nullptr) return Status::Ok();
  Status status = whole_->Charge(bytes);
  if (!status.ok()) used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  return status;
}

void MemoryBudget::ChargeAlways(uint64_t bytes) {
  if (Charge(bytes).ok()) return;
  used_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if (whole_ != nullptr) whole_->ChargeAlways(bytes);
}

bool MemoryBudget::MakeRoom(uint64_t bytes) {
  for (;;) {
    const uint64_t used = used_bytes();
    if (limit_bytes_ == 0 || used + bytes <= limit_bytes_) return true;
    // Others may take what was given back, as in Charge.
    if (!reclaim_ || bytes > limit_bytes_ || reclaim_(used + bytes - limit_bytes_) == 0)
      return false;
  }
}

void MemoryBudget::Release(uint64_t bytes) {
  used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  if (whole_ != nullptr) whole_->Release(bytes);
}

}  // namespace pigment
