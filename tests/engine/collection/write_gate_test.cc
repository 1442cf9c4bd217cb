// SPDX-License-Identifier: Apache-2.0

#include "engine/collection/write_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace pigment {
namespace {

TEST(WriteGate, LetsWritersTogetherAndTheExcluderAlone) {
  WriteGate gate;
  std::atomic<int> writers{0};
  std::atomic<int> excluders{0};
  std::atomic<int> breaches{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        std::shared_lock lock(gate);
        ++writers;
        if (excluders != 0) ++breaches;
        --writers;
      }
    });
  }
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        std::unique_lock lock(gate);
        if (++excluders != 1 || writers != 0) ++breaches;
        --excluders;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(breaches, 0);
}

TEST(WriteGate, ExcluderIsNotStarvedByWritersThatKeepComing) {
  WriteGate gate;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        std::shared_lock lock(gate);
        std::this_thread::yield();
      }
    });
  }
  for (int round = 0; round < 100; ++round) std::unique_lock lock(gate);  // would hang
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace pigment
