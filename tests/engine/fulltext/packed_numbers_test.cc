// SPDX-License-Identifier: Apache-2.0
//
// Packed numbers of every width and count come back, on every SIMD target; sums of more than 32
// bits are told.

#include "engine/fulltext/packed_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/support/simd_targets.h"

namespace pigment {
namespace {

TEST(PackedNumbers, ComeBackOnEveryTarget) {
  std::mt19937 random(1);
  for (uint32_t bits = 0; bits <= kPackedBitsMax; ++bits) {
    for (size_t count = 1; count <= 40; ++count) {
      SCOPED_TRACE(testing::Message() << count << " of " << bits << " bits");
      std::vector<uint32_t> numbers(count);
      for (uint32_t& number : numbers)
        number = static_cast<uint32_t>(random() & ((uint64_t{1} << bits) - 1));
      std::string packed;
      AppendPacked(numbers, bits, packed);
      ASSERT_EQ(packed.size(), PackedBytes(count, bits));
      packed.append(kPackedReadAhead, '\xFF');
      const auto* bytes = reinterpret_cast<const std::byte*>(packed.data());
      const int64_t before = static_cast<int64_t>(random()) - 1;
      std::vector<uint32_t> more, sums;
      int64_t sum = before;
      for (const uint32_t number : numbers) {
        more.push_back(number + 1);
        sums.push_back(static_cast<uint32_t>(sum += int64_t{number} + 1));
      }
      const int targets = ForEachTarget([&] {
        std::vector<uint32_t> got(count);
        UnpackNumbers(bytes, bits, got);
        EXPECT_EQ(got, more);
        EXPECT_EQ(UnpackSums(bytes, bits, before, got), sum);
        EXPECT_EQ(got, sums);
      });
      EXPECT_GT(targets, 1);
      if (HasFailure()) return;
    }
  }
}

TEST(PackedNumbers, NeedTheBitsOfTheLargest) {
  EXPECT_EQ(PackedBitsFor({}), 0);
  EXPECT_EQ(PackedBitsFor(std::vector<uint32_t>{0, 0}), 0);
  EXPECT_EQ(PackedBitsFor(std::vector<uint32_t>{1, 0}), 1);
  EXPECT_EQ(PackedBitsFor(std::vector<uint32_t>{3, 65536, 7}), 17);
  EXPECT_EQ(PackedBitsFor(std::vector<uint32_t>{UINT32_MAX}), 32);
}

}  // namespace
}  // namespace pigment
