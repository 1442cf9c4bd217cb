// SPDX-License-Identifier: Apache-2.0
//
// The clock seam: who must wait or stamp takes a Clock, so that tests decide when time passes. Wall
// time is for people only; nothing is ordered by it. Any thread.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

namespace pigment {

class Clock {
 public:
  virtual ~Clock() = default;

  virtual int64_t MonotonicNow()
      const = 0;                        // nanoseconds, unit and origin as pigment::MonotonicNow
  virtual int64_t WallNow() const = 0;  // nanoseconds since 1970-01-01 UTC

  // Waits on `condition` until it is notified or `deadline_ns` (monotonic) has come, or for no
  // reason: the caller looks at its state again. REQUIRES: `lock` is held.
  virtual void WaitUntil(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                         int64_t deadline_ns) = 0;
};

// The machine's clock; lives for ever.
Clock* SystemClock();

// Stands still until told otherwise.
class ManualClock final : public Clock {
 public:
  void Advance(int64_t nanoseconds) { now_.fetch_add(nanoseconds, std::memory_order_acq_rel); }

  int64_t MonotonicNow() const override { return now_.load(std::memory_order_acquire); }
  int64_t WallNow() const override { return MonotonicNow(); }
  void WaitUntil(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                 int64_t deadline_ns) override;

 private:
  std::atomic<int64_t> now_{1};  // not 0, which means "no deadline" elsewhere
};

// "2026-11-21T14:05:09Z"
std::string FormatWallTime(int64_t wall_ns);

}  // namespace pigment
