// SPDX-License-Identifier: Apache-2.0
//
// The heap against sorting, with ties, NaN and infinities.

#include "engine/vector/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace pigment {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(DistanceKey, OrdersAsNumbersWithNanLast) {
  const float ascending[] = {-kInfinity, -3e38f, -1, -1e-45f, 0, 1e-45f, 1, 3e38f, kInfinity, kNan};
  for (size_t i = 1; i < std::size(ascending); ++i) {
    EXPECT_LT(DistanceKey(ascending[i - 1]), DistanceKey(ascending[i])) << ascending[i];
  }
  EXPECT_EQ(DistanceKey(0.0f), DistanceKey(-0.0f));
  EXPECT_EQ(DistanceKey(kNan), DistanceKey(-kNan));
}

TEST(TopK, KeepsWhatSortingPutsFirst) {
  const float values[] = {0.0f, -0.0f, 1, 1, 2, -5, kInfinity, -kInfinity, kNan, -kNan, 3e38f};
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const size_t count = random() % 200;
    const size_t k = random() % 3 == 0 ? count + random() % 5 : random() % 40;
    std::vector<Scored> all;
    TopK top(k);
    for (size_t i = 0; i < count; ++i) {
      const Scored scored{values[random() % std::size(values)], random() % 50 * 1000 + i};
      all.push_back(scored);
      if (top.MayEnter(scored.distance)) top.Offer(scored.distance, scored.tie);
    }
    std::sort(all.begin(), all.end());
    all.resize(std::min(all.size(), k));
    const auto got = top.TakeSorted();
    ASSERT_EQ(got.size(), all.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].tie, all[i].tie);
      EXPECT_EQ(DistanceKey(got[i].distance), DistanceKey(all[i].distance));
    }
  }
}

TEST(TopK, OfNothingTakesNoMemoryForK) {
  TopK top(size_t{1} << 60);
  top.Offer(1, 2);
  EXPECT_EQ(top.TakeSorted().size(), 1u);
}

}  // namespace
}  // namespace pigment
