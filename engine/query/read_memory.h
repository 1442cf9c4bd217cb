// SPDX-License-Identifier: Apache-2.0
//
// Memory that a read takes while it lasts beside its answer: rows that are sorted, values that are
// counted. Charged to the budget of the version's store in steps, given back at the end of the
// read. One thread; the version is borrowed.

#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/collection/version.h"

namespace pigment {

class ReadMemory {
 public:
  explicit ReadMemory(const Version& version) : reservation_(version.budget.get()) {}

  // Beyond the budget: kResourceExhausted, Detail::kMemory, naming it.
  Status Take(uint64_t bytes) {
    used_ += bytes;
    if (used_ <= reservation_.bytes()) return Status::Ok();
    return reservation_.Grow(std::max(kStepBytes, used_ - reservation_.bytes()));
  }
  // For what is taken next.
  void GiveBack(uint64_t bytes) { used_ -= bytes; }

 private:
  static constexpr uint64_t kStepBytes = 16 << 10;

  Reservation reservation_;
  uint64_t used_ = 0;
};

}  // namespace pigment
