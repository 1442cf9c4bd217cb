// SPDX-License-Identifier: Apache-2.0
//
// Progress: see the header.

#include "engine/base/progress.h"

#include <algorithm>

namespace pigment {

void Progress::Begin(const char* phase, const char* unit, uint64_t total) {
  std::lock_guard lock(mutex_);
  state_ = {.phase = phase, .unit = unit, .done = 0, .total = total};
}

void Progress::Advance(uint64_t units) {
  std::lock_guard lock(mutex_);
  state_.done += units;
  if (state_.total != 0) state_.done = std::min(state_.done, state_.total);
}

Progress::State Progress::state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace pigment
