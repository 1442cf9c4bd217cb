// SPDX-License-Identifier: Apache-2.0
//
// Promises against the standard library's heap.

#include "engine/vector/promises.h"

#include <gtest/gtest.h>

#include <functional>
#include <queue>
#include <vector>

#include "engine/vector/seeded_random.h"

namespace pigment {
namespace {

using Heap = std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>>;

// Pushes and pops by chance, `pushes` in a hundred steps, distances below `below`. The number that
// comes with one says when it came.
void GoOn(Promises& promises, Heap& heap, size_t steps, uint32_t pushes, uint32_t below,
          SeededRandom& random, uint32_t& number) {
  for (size_t i = 0; i < steps; ++i) {
    ASSERT_EQ(promises.empty(), heap.empty());
    if (random.Below(100) < pushes || heap.empty()) {
      const uint64_t promise = uint64_t{random.Below(below)} << 32 | number++;
      promises.Push(promise);
      heap.push(promise);
    } else {
      ASSERT_EQ(promises.least(), heap.top());
      ASSERT_EQ(promises.Pop(), heap.top());
      heap.pop();
    }
  }
}

TEST(Promises, AreGivenInOrderHoweverTheyCome) {
  SeededRandom random(20261125);
  Promises promises;
  for (const uint32_t below : {2u, 1000u, 1u << 31}) {
    Heap heap;
    uint32_t number = 0;
    promises.Clear();
    GoOn(promises, heap, 300, 60, below, random, number);
    GoOn(promises, heap, 30000, 75, below, random, number);
    EXPECT_GT(heap.size(), 64u * 64u);
    GoOn(promises, heap, 40000, 20, below, random, number);
    while (!heap.empty()) GoOn(promises, heap, 1, 0, below, random, number);
    EXPECT_TRUE(promises.empty());
  }
}

TEST(Promises, ThatAreEqualAreKeptApart) {
  constexpr uint64_t kSeven = uint64_t{7} << 32 | 7;
  Promises promises;
  for (int i = 0; i < 600; ++i) promises.Push(kSeven);
  for (int i = 0; i < 600; ++i) ASSERT_EQ(promises.Pop(), kSeven);
  EXPECT_TRUE(promises.empty());
}

TEST(Promises, OfOneDistanceComeInTheOrderInWhichTheyCame) {
  Promises promises;
  for (uint64_t i = 0; i < 600; ++i) promises.Push(uint64_t{i % 3} << 32 | (1000 - i));
  for (uint64_t i = 0; i < 600; ++i)
    ASSERT_EQ(promises.Pop(), uint64_t{i / 200} << 32 | (1000 - i % 200 * 3 - i / 200));
  EXPECT_TRUE(promises.empty());
}

TEST(Promises, WithinABlockAndOverItsEnd) {
  for (const uint64_t count : {1, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, 65537}) {
    Promises promises;
    for (uint64_t i = count; i > 0; --i) promises.Push(i << 32);
    for (uint64_t i = 1; i <= count; ++i) ASSERT_EQ(promises.Pop(), i << 32);
    EXPECT_TRUE(promises.empty());
    promises.Push(5);
    EXPECT_EQ(promises.Pop(), 5u);
  }
}

}  // namespace
}  // namespace pigment
