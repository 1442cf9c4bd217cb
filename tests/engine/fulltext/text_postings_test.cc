// SPDX-License-Identifier: Apache-2.0
//
// Blocks of postings of every width and many counts, packed bit by bit, are decoded; damaged ones
// are not.

#include "engine/fulltext/text_postings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace pigment {
namespace {

// Numbers of `bits` each, one bit after the other, the lowest first.
void AppendBits(const std::vector<uint32_t>& numbers, uint32_t bits, std::vector<std::byte>& out) {
  size_t at = 0;
  const size_t begin = out.size();
  out.resize(begin + (numbers.size() * bits + 7) / 8);
  for (const uint32_t number : numbers) {
    for (uint32_t bit = 0; bit < bits; ++bit, ++at)
      out[begin + at / 8] |= static_cast<std::byte>((number >> bit & 1) << at % 8);
  }
}

// Small ones, one of which needs `bits` bits.
std::vector<uint32_t> DrawNumbers(size_t count, uint32_t bits, std::mt19937& random) {
  std::vector<uint32_t> numbers(count);
  const uint32_t end = uint32_t{1} << std::min(bits, 20u);
  for (uint32_t& number : numbers) number = static_cast<uint32_t>(random() % end);
  if (bits > 0) numbers[random() % count] = uint32_t{1} << (bits - 1);
  return numbers;
}

TEST(TextPostings, BlocksOfEveryWidthAndCountAreDecoded) {
  std::mt19937 random(1);
  for (uint32_t row_bits = 0; row_bits <= 32; ++row_bits) {
    for (const size_t count : {1, 2, 7, 8, 9, 63, 120, 127, 128}) {
      const uint32_t frequency_bits = static_cast<uint32_t>(random() % 32);
      const std::vector<uint32_t> gaps = DrawNumbers(count, row_bits, random);
      const std::vector<uint32_t> more = DrawNumbers(count, frequency_bits, random);
      std::vector<std::byte> bytes = {std::byte(row_bits), std::byte(frequency_bits)};
      AppendBits(gaps, row_bits, bytes);
      AppendBits(more, frequency_bits, bytes);
      const int64_t before = static_cast<int64_t>(random() % 1000) - 1;
      std::vector<uint32_t> expected;
      for (int64_t row = before; const uint32_t gap : gaps)
        expected.push_back(static_cast<uint32_t>(row += int64_t{gap} + 1));
      std::vector<uint32_t> rows(count), frequencies(count);
      SCOPED_TRACE(::testing::Message()
                   << count << " of " << row_bits << " and " << frequency_bits);
      ASSERT_TRUE(DecodePostingBlock(bytes, before, expected.back(), rows, frequencies));
      EXPECT_EQ(rows, expected);
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(frequencies[i], more[i] + 1) << i;
      EXPECT_FALSE(DecodePostingBlock(bytes, before, expected.back() + 1, rows, frequencies));
      bytes.pop_back();
      EXPECT_FALSE(DecodePostingBlock(bytes, before, expected.back(), rows, frequencies));
    }
  }
}

TEST(TextPostings, WidthsThatNoBlockHasAreDamage) {
  std::vector<uint32_t> rows(8), frequencies(8);
  for (const auto& [row_bits, frequency_bits] : {std::pair(33, 0), {255, 0}, {0, 32}, {0, 255}}) {
    std::vector<std::byte> bytes = {std::byte(row_bits), std::byte(frequency_bits)};
    bytes.resize(2 + static_cast<size_t>(row_bits + frequency_bits));
    EXPECT_FALSE(DecodePostingBlock(bytes, -1, 7, rows, frequencies)) << row_bits;
  }
}

}  // namespace
}  // namespace pigment
