// SPDX-License-Identifier: Apache-2.0
//
// Kills a child that acknowledges its work through a pipe, at a random moment. For the tests of
// kill -9; header only, one thread. The caller owns the pipe and waits for the child.

#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <thread>

namespace pigment {

// Every other life is killed at a random moment from its start on, the others (those of an even
// number) when they have acknowledged something and a random time has passed, so that a slow
// machine kills workers as well.
inline void KillSoon(pid_t child, int pipe, uint64_t life, std::chrono::microseconds delay_max,
                     std::mt19937_64& random) {
  if (life % 2 == 0) {
    pollfd waiting{.fd = pipe, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&waiting, 1, 20'000), 1) << "the child does nothing";
  }
  const auto delay_us = random() % static_cast<uint64_t>(delay_max.count());
  std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
  kill(child, SIGKILL);
}

// How long a test of kills goes on: for a time, and on a slow machine up to a minute more until it
// has killed enough to mean something.
class Patience {
 public:
  explicit Patience(std::chrono::seconds time) : end_(Clock::now() + time) {}

  bool Lasts(bool enough) const {
    const auto now = Clock::now();
    return now < end_ || (!enough && now < end_ + std::chrono::seconds(60));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

}  // namespace pigment
