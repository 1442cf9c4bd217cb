// SPDX-License-Identifier: Apache-2.0
//
// Posting lists come back as they went in, in every form, several in a row; damage is refused or
// stays within the rows.

#include "engine/inverted/posting_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace pigment {
namespace {

// Rows of several runs of 65,536, each sparse, dense or of intervals.
std::vector<uint32_t> RandomRows(std::mt19937_64& random, uint32_t rows) {
  std::vector<uint32_t> chosen;
  if (random() % 4 == 0) {
    for (uint64_t i = 0; i < 1 + random() % 12; ++i)
      chosen.push_back(static_cast<uint32_t>(random() % rows));
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
  }
  for (uint32_t run = 0; run < rows; run += 65536) {
    const uint64_t form = random() % 4;
    bool is_inside = random() % 2 == 0;
    for (uint32_t row = run; row < std::min(rows, run + 65536); ++row) {
      if (form == 2 && random() % 500 == 0) is_inside = !is_inside;
      const bool is_chosen = form == 0   ? random() % 100 == 0
                             : form == 1 ? random() % 3 == 0
                             : form == 2 ? is_inside
                                         : false;
      if (is_chosen) chosen.push_back(row);
    }
  }
  if (chosen.empty()) chosen.push_back(rows - 1);
  return chosen;
}

std::vector<uint32_t> RowsOf(const std::vector<uint64_t>& words) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < words.size() * 64; ++row)
    if ((words[row / 64] >> (row % 64) & 1) != 0) rows.push_back(row);
  return rows;
}

TEST(PostingList, ComesBack) {
  uint64_t lists = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const uint32_t sizes[] = {1, 63, 64, 65, 1000, 65536, 65537, 200000};
    const uint32_t rows = sizes[random() % std::size(sizes)];
    const uint32_t packed_of = seed % 2 == 0 ? rows : 0;
    std::vector<std::vector<uint32_t>> expected;
    std::string bytes;
    for (int i = 0; i < 5; ++i) {
      expected.push_back(RandomRows(random, rows));
      AppendPostings(expected.back(), bytes, packed_of);
    }
    std::span<const std::byte> left = AsBytes(bytes);
    for (const std::vector<uint32_t>& list : expected) {
      PostingsHead head;
      ASSERT_TRUE(ReadPostingsHead(left.first(std::min<size_t>(left.size(), kPostingsHeadBytesMax)),
                                   &head));
      EXPECT_EQ(head.rows, list.size());
      ASSERT_LE(head.bytes, left.size());
      // No form takes more than the array does.
      EXPECT_LE(head.bytes, 16 + 2 * list.size() + 5 * (rows / 65536 + 1) +
                                (list.size() <= kFewRows ? 3 * list.size() : 0));
      std::vector<uint64_t> words((rows + 63) / 64);
      ASSERT_TRUE(ApplyPostings(left.first(head.bytes), PostingsUse::kUnite, words, rows));
      EXPECT_EQ(RowsOf(words), list);
      ASSERT_TRUE(ApplyPostings(left.first(head.bytes), PostingsUse::kUnite, words, rows));
      EXPECT_EQ(RowsOf(words), list);
      ASSERT_TRUE(ApplyPostings(left.first(head.bytes), PostingsUse::kToggle, words, rows));
      EXPECT_EQ(RowsOf(words), std::vector<uint32_t>());
      std::vector<uint32_t> read;
      ASSERT_TRUE(ReadPostings(left.first(head.bytes), words, rows, read));
      EXPECT_EQ(read, list);
      // Of fewer rows it is damage.
      words.assign((list.back() + 63) / 64, 0);
      if (packed_of == 0) {
        EXPECT_FALSE(
            ApplyPostings(left.first(head.bytes), PostingsUse::kUnite, words, list.back()));
      }
      left = left.subspan(head.bytes);
      ++lists;
    }
    EXPECT_TRUE(left.empty());
  }
  EXPECT_EQ(lists, 300u);
}

TEST(PostingList, IsSmallWhereRowsSaySo) {
  std::string few, interval, half;
  AppendPostings(std::vector<uint32_t>{70000}, few);
  EXPECT_LE(few.size(), 4u);
  std::vector<uint32_t> rows(60000);
  for (uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  AppendPostings(rows, interval);
  EXPECT_LE(interval.size(), 16u);
  for (uint32_t& row : rows) row *= 2;
  AppendPostings(std::span(rows).first(30000), half);
  EXPECT_LE(half.size(), 60000u / 8 + 16);
}

// Rows that are spread as they like take hardly more than the logarithm of how many ways there are
// to choose them, which is 1.44 bits and the logarithm of the gap for each of a few.
TEST(PostingList, PackedRowsTakeTheBitsOfTheirGaps) {
  std::mt19937_64 random(3);
  for (const uint32_t one_in : {5, 20, 300, 2000}) {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < 100000; ++row)
      if (random() % one_in == 0) rows.push_back(row);
    std::string plain, packed;
    AppendPostings(rows, plain);
    AppendPostings(rows, packed, 100000);
    const double bits = static_cast<double>(rows.size()) * (2.2 + std::log2(one_in));
    EXPECT_LE(static_cast<double>(packed.size()), bits / 8 + 32) << one_in;
    EXPECT_LT(packed.size(), plain.size()) << one_in;
  }
}

TEST(PostingList, DamageStaysWithinTheRows) {
  int refused = 0;
  constexpr int kTries = 20000;
  std::mt19937_64 random(5);
  for (int i = 0; i < kTries; ++i) {
    const auto rows = static_cast<uint32_t>(1 + random() % 70000);
    std::string bytes;
    AppendPostings(RandomRows(random, std::min(rows, 2000u)), bytes, i % 2 == 0 ? rows : 0);
    for (int hits = 0; hits < 3; ++hits)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 3 == 0) bytes.resize(random() % bytes.size());
    PostingsHead head;
    const auto list = AsBytes(bytes);
    if (!ReadPostingsHead(list.first(std::min<size_t>(list.size(), kPostingsHeadBytesMax)),
                          &head) ||
        head.bytes > list.size()) {
      ++refused;
      continue;
    }
    std::vector<uint64_t> words((rows + 63) / 64 + 1);  // the last is nobody's
    const std::span<uint64_t> own = std::span(words).first(words.size() - 1);
    if (ApplyPostings(list.first(head.bytes), PostingsUse::kUnite, own, rows)) {
      EXPECT_EQ(rows % 64 == 0 ? 0 : own.back() >> (rows % 64), 0u);
    } else {
      ++refused;
    }
    EXPECT_EQ(words.back(), 0u);
  }
  EXPECT_GT(refused, kTries / 20);
  EXPECT_LT(refused, kTries);
}

}  // namespace
}  // namespace pigment
