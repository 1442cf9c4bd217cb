// SPDX-License-Identifier: Apache-2.0
//
// Near places against plain loops, on every SIMD target, for any number of distances.

#include "engine/vector/near_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/simd_targets.h"

namespace pigment {
namespace {

TEST(NearPlaces, AreThoseWithinTheLimitOnEveryTarget) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<float> uniform(0, 2);
  for (const size_t count : {0u, 1u, 15u, 16u, 17u, 64u, 250u}) {
    std::vector<float> distances(count);  // the sanitizer watches its end
    for (float& value : distances) value = uniform(random);
    for (const float limit : {-1.0f, 0.0f, 0.7f, 100.0f, std::numeric_limits<float>::infinity()}) {
      SCOPED_TRACE(::testing::Message() << count << " within " << limit);
      std::vector<std::pair<uint32_t, float>> expected;
      for (uint32_t i = 0; i < count; ++i) {
        if (distances[i] <= limit) expected.emplace_back(i, distances[i]);
      }
      ForEachTarget([&] {
        NearPlaces near;
        near.Find(distances, limit);
        ASSERT_EQ(near.count(), expected.size());
        for (size_t i = 0; i < near.count(); ++i) {
          EXPECT_EQ(near.place(i), expected[i].first);
          EXPECT_EQ(near.distance(i), expected[i].second);
        }
      });
    }
  }
}

TEST(NearPlaces, AreTheNearestAndThoseJustBehindThemOnEveryTarget) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<float> uniform(0, 2);
  for (const size_t count : {1u, 5u, 63u, 64u, 65u, 250u}) {
    std::vector<float> distances(count);  // the sanitizer watches its end
    for (float& value : distances) value = uniform(random);
    std::vector<float> sorted = distances;
    std::sort(sorted.begin(), sorted.end());
    for (const size_t k : {1u, 3u, 20u, 64u, 100u}) {
      if (k > count) continue;
      for (const float slack : {0.0f, 0.1f, 5.0f}) {
        SCOPED_TRACE(::testing::Message() << k << " of " << count << " and " << slack);
        std::vector<uint32_t> expected;
        for (uint32_t i = 0; i < count; ++i) {
          if (distances[i] <= sorted[k - 1] + slack) expected.push_back(i);
        }
        ForEachTarget([&] {
          NearPlaces near;
          near.FindNearest(distances, k, slack);
          ASSERT_EQ(near.count(), expected.size());
          for (size_t i = 0; i < near.count(); ++i) {
            EXPECT_EQ(near.place(i), expected[i]);
            EXPECT_EQ(near.distance(i), distances[expected[i]]);
          }
        });
      }
    }
  }
}

}  // namespace
}  // namespace pigment
