// SPDX-License-Identifier: Apache-2.0
//
// Blocked products against plain sums, on every SIMD target, for any numbers of rows and vectors.

#include "engine/vector/products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/made_vectors.h"
#include "tests/support/simd_targets.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

std::vector<std::vector<float>> NormalVectorsOf(std::mt19937_64& random, size_t count,
                                                size_t dimension) {
  std::vector<std::vector<float>> vectors;
  for (size_t i = 0; i < count; ++i) vectors.push_back(NormalVector(random, dimension));
  return vectors;
}

std::vector<const float*> Pointers(const std::vector<std::vector<float>>& vectors) {
  std::vector<const float*> pointers;
  for (const auto& vector : vectors) pointers.push_back(vector.data());
  return pointers;
}

TEST(VectorPanels, GiveTheSumsInTheOrderOfTheDimensionsOnEveryTarget) {
  std::mt19937_64 random(1);
  for (const uint32_t dimension : {1u, 16u, 37u, 384u}) {
    for (const size_t count : {1u, 31u, 32u, 33u, 100u}) {
      const auto vectors = NormalVectorsOf(random, count, dimension);
      for (const size_t rows_count : {1u, 5u, 11u, 12u}) {
        SCOPED_TRACE(::testing::Message() << rows_count << " by " << count << " of " << dimension);
        const auto rows = NormalVectorsOf(random, rows_count, dimension);
        VectorPanels panels(dimension, nullptr);
        ASSERT_OK(panels.Pack(Pointers(vectors)));
        ASSERT_EQ(panels.count(), count);
        const int targets = ForEachTarget([&] {
          std::vector<float> out(rows_count * panels.stride());  // the sanitizer watches its end
          panels.Multiply(Pointers(rows), out.data());
          for (size_t i = 0; i < rows_count; ++i) {
            for (size_t j = 0; j < count; ++j) {
              float expected = 0;
              for (size_t d = 0; d < dimension; ++d) {
                const float product = rows[i][d] * vectors[j][d];
                expected += product;
              }
              ASSERT_EQ(std::bit_cast<uint32_t>(out[i * panels.stride() + j]),
                        std::bit_cast<uint32_t>(expected))
                  << "row " << i << ", vector " << j;
            }
          }
        });
        EXPECT_GE(targets, 2);
      }
    }
  }
}

TEST(VectorPanels, ArePackedAgainWithoutMoreMemoryAndChargeWhatTheyHold) {
  std::mt19937_64 random(2);
  const auto vectors = NormalVectorsOf(random, 64, 16);
  const auto pointers = Pointers(vectors);
  MemoryBudget budget("test", 10'000);
  {
    VectorPanels panels(16, &budget);
    ASSERT_OK(panels.Pack(pointers));
    EXPECT_EQ(budget.used_bytes(), 64 * 16 * sizeof(float));
    ASSERT_OK(panels.Pack(std::span(pointers).first(40)));
    EXPECT_EQ(budget.used_bytes(), 64 * 16 * sizeof(float));
    EXPECT_EQ(panels.count(), 40u);
    EXPECT_EQ(panels.Pack(Pointers(NormalVectorsOf(random, 400, 16))).code(),
              Code::kResourceExhausted);
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
}

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
