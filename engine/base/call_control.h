// SPDX-License-Identifier: Apache-2.0
//
// Cancellation, deadline and progress of one call. A CancelToken is sticky: once set it stays set,
// and any number of calls may share it. Loops ask CallControl::Check() at least once per
// millisecond of work. Any thread.

#pragma once

#include <atomic>
#include <cstdint>

#include "engine/base/progress.h"
#include "engine/base/status.h"

namespace pigment {

class CancelToken {
 public:
  void Set() { set_.store(true, std::memory_order_release); }
  bool is_set() const { return set_.load(std::memory_order_acquire); }

  // Of the call that was given the token and told last how far it is.
  Progress& progress() const { return progress_; }

 private:
  std::atomic<bool> set_{false};
  mutable Progress progress_;
};

// Nanoseconds of the monotonic clock, the unit and origin of deadlines.
int64_t MonotonicNow();
// Nanoseconds of a core that the calling thread has had.
int64_t ThreadTimeNow();

struct CallControl {
  const CancelToken* cancel = nullptr;  // borrowed for the call; may be null
  int64_t deadline_ns = 0;              // absolute, monotonic; 0: none

  // Ok, kCancelled or kDeadlineExceeded.
  Status Check() const;

  // As Progress has them; nothing without a token.
  void BeginPhase(const char* phase, const char* unit, uint64_t total) const {
    if (cancel != nullptr) cancel->progress().Begin(phase, unit, total);
  }
  void Advance(uint64_t units) const {
    if (cancel != nullptr) cancel->progress().Advance(units);
  }
};

// Asks a call's control once in some steps: for loops whose steps are shorter than a look at the
// clock.
class PacedCheck {
 public:
  explicit PacedCheck(const CallControl& control) : control_(control) {}
  Status Step() { return ++steps_ % kStepsPerCheck == 0 ? control_.Check() : Status::Ok(); }

 private:
  static constexpr uint32_t kStepsPerCheck = 256;
  const CallControl& control_;
  uint32_t steps_ = 0;
};

}  // namespace pigment
