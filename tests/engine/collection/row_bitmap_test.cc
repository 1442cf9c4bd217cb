// SPDX-License-Identifier: Apache-2.0

#include "engine/collection/row_bitmap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace pigment {
namespace {

TEST(RowBitmap, HoldsExactlyTheRowsThatWereSet) {
  constexpr uint32_t kRows = 3 * RowBitmap::kPageRows + 77;
  std::mt19937 random(1);
  std::set<uint32_t> expected;
  RowBitmap bitmap(kRows);
  for (int round = 0; round < 50; ++round) {
    std::vector<uint32_t> rows;
    for (int i = 0; i < 20; ++i) rows.push_back(random() % kRows);
    rows.push_back(kRows - 1);
    bitmap = bitmap.With(rows);
    expected.insert(rows.begin(), rows.end());
  }
  for (uint32_t row = 0; row < kRows; ++row)
    ASSERT_EQ(bitmap.Test(row), expected.contains(row)) << row;
  EXPECT_EQ(bitmap.Count(), expected.size());
}

TEST(RowBitmap, LeavesTheOriginalOfACopyUnchanged) {
  const RowBitmap empty(1000);
  const RowBitmap one = empty.With(std::vector<uint32_t>{7});
  const RowBitmap two = one.With(std::vector<uint32_t>{8});
  EXPECT_FALSE(empty.Test(7));
  EXPECT_TRUE(one.Test(7));
  EXPECT_FALSE(one.Test(8));
  EXPECT_TRUE(two.Test(7) && two.Test(8));
}

TEST(RowBitmap, GrowsWithoutSettingNewRows) {
  const RowBitmap grown = RowBitmap(10).With(std::vector<uint32_t>{9}).Grown(70000);
  EXPECT_TRUE(grown.Test(9));
  EXPECT_EQ(grown.Count(), 1u);
  EXPECT_FALSE(grown.Test(69999));
}

TEST(RowBitmap, ComesBackFromItsWords) {
  const RowBitmap bitmap =
      RowBitmap(40000).With(std::vector<uint32_t>{0, 63, 64, 32767, 32768, 39999});
  std::vector<uint64_t> words(bitmap.words());
  for (uint32_t word = 0; word < bitmap.words(); ++word) words[word] = bitmap.Word(word);
  const RowBitmap back = RowBitmap::FromWords(40000, words);
  for (uint32_t row = 0; row < 40000; ++row) ASSERT_EQ(back.Test(row), bitmap.Test(row)) << row;
}

// What is kept of one is not what its copies give, nor what it gives when another is assigned to
// it.
TEST(RowBitmap, GivesTheOtherRows) {
  constexpr uint32_t kRows = RowBitmap::kPageRows + 77;
  RowBitmap bitmap = RowBitmap(kRows).With(std::vector<uint32_t>{3, kRows - 1});
  const auto expect_others = [&](const RowBitmap& of) {
    const RowSet others = of.Others();
    EXPECT_EQ(others.rows(), kRows);
    EXPECT_EQ(others.count(), kRows - of.Count());
    for (uint32_t row = 0; row < kRows; ++row) ASSERT_NE(others.Test(row), of.Test(row)) << row;
  };
  expect_others(bitmap);
  EXPECT_EQ(bitmap.Others().words().data(), bitmap.Others().words().data());
  expect_others(bitmap.With(std::vector<uint32_t>{5}));
  bitmap = bitmap.With(std::vector<uint32_t>{6});
  expect_others(bitmap);
}

TEST(RowBitmap, OfNoRowsIsLegal) {
  EXPECT_EQ(RowBitmap(0).Count(), 0u);
  EXPECT_EQ(RowBitmap(0).words(), 0u);
}

}  // namespace
}  // namespace pigment
