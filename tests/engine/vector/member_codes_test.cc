// SPDX-License-Identifier: Apache-2.0
//
// Estimated distances to the members of a cluster: near to the distances, however far the cluster
// is from the origin and however tight, the same on every SIMD target, for any numbers of members
// and rows.

#include "engine/vector/member_codes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "tests/support/made_vectors.h"
#include "tests/support/simd_targets.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

std::vector<uint32_t> Numbers(uint32_t begin, uint32_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), begin);
  return numbers;
}

// `count` vectors around one at `away` from the origin, each coordinate off by `spread`.
VectorTable Around(float away, float spread, uint32_t count, uint32_t dimension, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> middle(dimension);
  for (float& value : middle) value = away * normal(random);
  VectorTable table(dimension, nullptr);
  EXPECT_OK(table.Reserve(count));
  for (uint32_t i = 0; i < count; ++i) {
    std::vector<float> vector(middle);
    for (float& value : vector) value += spread * normal(random);
    table.Add(vector);
  }
  return table;
}

TEST(MemberCodes, AreOffByAPartOfWhatBothAreAwayFromTheMiddle) {
  for (const auto& [away, spread] : {std::pair(0.0f, 1.0f), {100.0f, 1.0f}, {1.0f, 0.001f}}) {
    for (const uint32_t dimension : {16u, 100u, 384u}) {
      SCOPED_TRACE(::testing::Message() << spread << " at " << away << ", " << dimension);
      const VectorTable table = Around(away, spread, 300, dimension, dimension);
      MemberCodes codes(dimension, nullptr);
      ASSERT_OK(codes.Pack(table, Numbers(0, 250)));
      double squares = 0;
      size_t compared = 0;
      for (uint32_t row = 250; row < 300; row += MemberCodes::kRowsPerPass) {
        const auto rows = Numbers(row, std::min<uint32_t>(MemberCodes::kRowsPerPass, 300 - row));
        codes.Estimate(table, rows);
        for (size_t i = 0; i < rows.size(); ++i) {
          for (uint32_t member = 0; member < 250; ++member, ++compared) {
            const double error =
                codes.distances(i)[member] - double{table.Distance(rows[i], member)};
            squares += error * error;
            // Products of what is far away lose digits of their own.
            EXPECT_LE(std::abs(error), codes.ErrorOf(i) + 1e-6 * away * away * dimension);
          }
        }
      }
      // Both are about spread * sqrt(d) away from the middle.
      const double away_square = double{spread} * spread * dimension;
      EXPECT_LT(std::sqrt(squares / static_cast<double>(compared)),
                0.06 / std::sqrt(dimension) * away_square);
    }
  }
}

TEST(MemberCodes, GiveTheSameOnEveryTarget) {
  for (const uint32_t dimension : {1u, 4u, 15u, 16u, 37u, 384u}) {
    const VectorTable table = NormalVectors({.count = 120, .dimension = dimension, .seed = 1});
    for (const uint32_t members : {1u, 16u, 31u, 33u, 100u}) {
      for (const uint32_t rows_count : {1u, 5u, 12u}) {
        SCOPED_TRACE(::testing::Message()
                     << rows_count << " by " << members << " of " << dimension);
        const auto rows = Numbers(100, rows_count);
        std::vector<float> expected;
        const int targets = ForEachTarget([&] {
          MemberCodes codes(dimension, nullptr);
          ASSERT_OK(codes.Pack(table, Numbers(0, members)));
          ASSERT_EQ(codes.count(), members);
          codes.Estimate(table, rows);
          std::vector<float> distances;
          for (size_t i = 0; i < rows.size(); ++i) {
            ASSERT_EQ(codes.distances(i).size(), members);
            for (const float distance : codes.distances(i)) distances.push_back(distance);
          }
          if (expected.empty()) expected = distances;
          for (size_t i = 0; i < distances.size(); ++i) {
            ASSERT_EQ(std::bit_cast<uint32_t>(distances[i]), std::bit_cast<uint32_t>(expected[i]))
                << "at " << i;
          }
        });
        EXPECT_GE(targets, 2);
      }
    }
  }
}

// The largest sums that there are: every code is 63 or -63.
TEST(MemberCodes, HaveRoomForTheSumsOfAnyDimension) {
  constexpr uint32_t kDimension = 65535;
  VectorTable table(kDimension, nullptr);
  ASSERT_OK(table.Reserve(2));
  table.Add(std::vector<float>(kDimension, 1));
  table.Add(std::vector<float>(kDimension, -1));
  ForEachTarget([&] {
    MemberCodes codes(kDimension, nullptr);
    ASSERT_OK(codes.Pack(table, Numbers(0, 2)));
    codes.Estimate(table, Numbers(0, 2));
    EXPECT_NEAR(codes.distances(0)[0], 0, 1);
    EXPECT_NEAR(codes.distances(0)[1], 4.0 * kDimension, 1);
    EXPECT_NEAR(codes.distances(1)[0], 4.0 * kDimension, 1);
    EXPECT_NEAR(codes.distances(1)[1], 0, 1);
  });
}

TEST(MemberCodes, OfEqualVectorsAndOfTheSmallestAreAtNoDistance) {
  for (const float value : {0.0f, 1.0f, 1e-42f, 1e14f}) {
    VectorTable table(20, nullptr);
    ASSERT_OK(table.Reserve(40));
    for (int i = 0; i < 40; ++i) table.Add(std::vector<float>(20, value));
    MemberCodes codes(20, nullptr);
    ASSERT_OK(codes.Pack(table, Numbers(0, 40)));
    codes.Estimate(table, Numbers(3, 12));
    for (size_t row = 0; row < 12; ++row) {
      for (const float distance : codes.distances(row))
        EXPECT_LE(distance, 1e-10f * value * value) << value;
    }
  }
}

TEST(MemberCodes, ArePackedAgainWithoutMoreMemoryAndChargeWhatTheyHold) {
  const VectorTable table = NormalVectors({.count = 400, .dimension = 16, .seed = 2});
  MemoryBudget budget("test", 20'000);
  {
    MemberCodes codes(16, &budget);
    ASSERT_OK(codes.Pack(table, Numbers(0, 64)));
    EXPECT_EQ(budget.used_bytes(), MemberCodes::Bytes(16, 64));
    ASSERT_OK(codes.Pack(table, Numbers(0, 40)));
    EXPECT_EQ(budget.used_bytes(), MemberCodes::Bytes(16, 64));
    EXPECT_EQ(codes.count(), 40u);
    EXPECT_CODE(codes.Pack(table, Numbers(0, 400)), Code::kResourceExhausted);
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
}

}  // namespace
}  // namespace pigment
