// SPDX-License-Identifier: Apache-2.0
//
// MemoryBudget: charging with a limit.

#include "engine/base/memory_budget.h"

#include <fmt/format.h>

namespace pigment {

Status MemoryBudget::Charge(uint64_t bytes) {
  uint64_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    if (limit_bytes_ != 0 && (used > limit_bytes_ || bytes > limit_bytes_ - used)) {
      return ResourceExhausted(
          Detail::kMemory,
          fmt::format("memory budget \"{}\" of {} bytes is used up: {} in use, {} asked for", name_,
                      limit_bytes_, used, bytes));
    }
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return Status::Ok();
}

void MemoryBudget::Release(uint64_t bytes) {
  used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace pigment
