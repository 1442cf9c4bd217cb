// SPDX-License-Identifier: Apache-2.0
//
// Clock: the machine's moves, the manual one moves only when told, waiting ends with the deadline
// or a notification.

#include "engine/base/clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/base/call_control.h"

namespace pigment {
namespace {

TEST(Clock, TheMachinesTimeNeverGoesBackAndIsThatOfDeadlines) {
  int64_t last = SystemClock()->MonotonicNow();
  for (int i = 0; i < 1000; ++i) {
    const int64_t now = i % 2 == 0 ? MonotonicNow() : SystemClock()->MonotonicNow();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(Clock, AWaitEndsWithItsDeadline) {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  const int64_t begin = MonotonicNow();
  while (MonotonicNow() < begin + 5'000'000)
    SystemClock()->WaitUntil(condition, lock, begin + 5'000'000);
  EXPECT_GE(MonotonicNow() - begin, 5'000'000);
  EXPECT_LT(MonotonicNow() - begin, 5'000'000'000);
}

TEST(Clock, TheManualClockMovesOnlyWhenToldAndWakesWhoWaits) {
  ManualClock clock;
  const int64_t begin = clock.MonotonicNow();
  EXPECT_EQ(clock.MonotonicNow(), begin);
  std::mutex mutex;
  std::condition_variable condition;
  std::atomic<bool> is_over{false};
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    while (clock.MonotonicNow() < begin + 1000) clock.WaitUntil(condition, lock, begin + 1000);
    is_over = true;
  });
  clock.Advance(999);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(is_over);
  clock.Advance(1);
  waiter.join();
  EXPECT_TRUE(is_over);
}

TEST(Clock, WallTimePrintsAsUtc) {
  EXPECT_EQ(FormatWallTime(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatWallTime(1'700'000'000'999'999'999), "2023-11-14T22:13:20Z");
}

}  // namespace
}  // namespace pigment
