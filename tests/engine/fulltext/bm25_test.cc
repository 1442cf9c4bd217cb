// SPDX-License-Identifier: Apache-2.0
//
// What postings are worth, many at once and one by one, on every SIMD target.

#include "engine/fulltext/bm25.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "tests/support/simd_targets.h"

namespace pigment {
namespace {

TEST(Bm25, ManyPostingsAreWorthWhatEachIsToTheLastBit) {
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();
  constexpr double kUntouched = -1;
  std::mt19937 random(1);
  for (const auto& [k1, b] : {std::pair(1.2, 0.75), {0.0, 0.5}, {100.0, 1.0}, {0.01, 0.0}}) {
    const Bm25Shares shares(k1, b, {1000, 123456});
    const Bm25Weight weight(k1, 1000, 77, 3);
    for (size_t count = 0; count <= 3 * kBm25Lanes; ++count) {
      std::vector<uint32_t> frequencies(4 * kBm25Lanes, 1), lengths(4 * kBm25Lanes);
      for (size_t i = 0; i < count; ++i) {
        const uint32_t bits = static_cast<uint32_t>(random() % 32);
        frequencies[i] = i == 0 ? kMost : 1 + (static_cast<uint32_t>(random()) >> bits) / 2;
        lengths[i] = i == 1 ? kMost : static_cast<uint32_t>(random()) >> bits;
      }
      const int targets = ForEachTarget([&] {
        std::vector<double> worths(4 * kBm25Lanes, kUntouched);
        WorthsOf(weight, shares, frequencies.data(), lengths.data(), count, worths.data());
        for (size_t i = 0; i < count; ++i)
          ASSERT_EQ(worths[i], weight.weight() * shares.Of(frequencies[i], lengths[i])) << i;
        const size_t written = (count + kBm25Lanes - 1) / kBm25Lanes * kBm25Lanes;
        for (size_t i = written; i < worths.size(); ++i) ASSERT_EQ(worths[i], kUntouched) << i;
      });
      ASSERT_GE(targets, 1);
    }
  }
}

TEST(MarkAtLeast, MarksThoseOnEveryTarget) {
  std::mt19937_64 random(2);
  for (const ScoreSum least : {ScoreSum{1}, ScoreSum{1} << 31, ScoreSum{1} << 50}) {
    for (size_t count = 0; count <= 3 * kMarksPerWord; count += 1 + random() % 20) {
      std::vector<ScoreSum> sums(4 * kMarksPerWord);
      for (size_t i = 0; i < count; ++i)
        sums[i] = least + static_cast<ScoreSum>(random() % 3) - 1;  // nearly, just and more
      const int targets = ForEachTarget([&] {
        std::vector<uint64_t> marks(4, ~uint64_t{0});
        MarkAtLeast(sums.data(), count, least, marks.data());
        const size_t words = (count + kMarksPerWord - 1) / kMarksPerWord;
        for (size_t i = 0; i < words * kMarksPerWord; ++i) {
          const bool is_marked = (marks[i / kMarksPerWord] >> i % kMarksPerWord & 1) != 0;
          ASSERT_EQ(is_marked, sums[i] >= least) << i << " of " << count;
        }
        for (size_t word = words; word < marks.size(); ++word) ASSERT_EQ(marks[word], ~uint64_t{0});
      });
      ASSERT_GE(targets, 1);
    }
  }
}

}  // namespace
}  // namespace pigment
