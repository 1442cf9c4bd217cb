// SPDX-License-Identifier: Apache-2.0
//
// Clock: the machine's and the test's.

#include "engine/base/clock.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "engine/base/call_control.h"

namespace pigment {
namespace {

class MachineClock final : public Clock {
 public:
  int64_t MonotonicNow() const override { return pigment::MonotonicNow(); }

  int64_t WallNow() const override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }

  void WaitUntil(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                 int64_t deadline_ns) override {
    const std::chrono::steady_clock::time_point deadline{std::chrono::nanoseconds(deadline_ns)};
    condition.wait_until(lock, deadline);
  }
};

}  // namespace

Clock* SystemClock() {
  static MachineClock clock;
  return &clock;
}

void ManualClock::WaitUntil(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                            int64_t deadline_ns) {
  if (MonotonicNow() >= deadline_ns) return;
  // Advance() does not know who waits on what, so the waiter looks again every millisecond of real
  // time.
  condition.wait_for(lock, std::chrono::milliseconds(1));
}

std::string FormatWallTime(int64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace pigment
