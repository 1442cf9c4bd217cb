// SPDX-License-Identifier: Apache-2.0
//
// Bounds of distances: distances of rotated vectors lie within them, near enough to tell far from
// near; the same on every SIMD target.

#include "engine/vector/pair_codes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "tests/support/made_vectors.h"
#include "tests/support/simd_targets.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

TEST(PairCodes, BoundDistances) {
  const MadeVectors cases[] = {
      {.count = 300, .dimension = 1, .seed = 1},
      {.count = 300, .dimension = 16, .seed = 2},
      {.count = 300, .dimension = 100, .clusters = 3, .spread = 0.1f, .seed = 3},
      {.count = 300, .dimension = 384, .clusters = 30, .spread = 0.7f, .seed = 4},
      {.count = 50, .dimension = 4000, .seed = 5},
  };
  for (const MadeVectors& made : cases) {
    SCOPED_TRACE(::testing::Message() << made.count << " of " << made.dimension);
    const VectorTable table = ClusteredVectors(made);
    PairCodes codes(nullptr);
    ASSERT_OK(codes.Make(table, nullptr));
    size_t beyond = 0;
    for (uint32_t a = 0; a < made.count; ++a) {
      for (uint32_t b = 0; b < made.count; ++b) {
        const float distance = table.Distance(a, b);
        const PairCodes::Bounds bounds = codes.Between(a, b);
        const float rounding = 1e-5f * (table.square(a) + table.square(b));
        beyond += distance < bounds.least - rounding || distance > bounds.most + rounding ? 1 : 0;
        // Scales are a 127th of the largest number, and that is no more than the whole length.
        const double lengths = std::sqrt(double{table.square(a)} * table.square(b));
        ASSERT_LE(bounds.most - bounds.least, 8 * 5 / std::sqrt(12.0) / 127 * lengths * 1.01);
      }
    }
    EXPECT_EQ(beyond, 0u);
  }
}

TEST(PairCodes, TellMostPairsFromALimit) {
  const VectorTable table = NormalVectors({.count = 400, .dimension = 384, .seed = 6});
  PairCodes codes(nullptr);
  ASSERT_OK(codes.Make(table, nullptr));
  size_t open = 0;
  size_t pairs = 0;
  for (uint32_t a = 0; a < 400; ++a) {
    for (uint32_t b = 0; b < a; ++b, ++pairs) {
      const PairCodes::Bounds bounds = codes.Between(a, b);
      const float limit = 700;  // distances are about 768, with a standard deviation of 55
      open += bounds.least < limit && bounds.most > limit ? 1 : 0;
    }
  }
  EXPECT_LT(open, pairs / 4);
}

TEST(PairCodes, AreTheSameOnEveryTarget) {
  for (const uint32_t dimension : {1u, 15u, 64u, 100u, 384u}) {
    const VectorTable table = NormalVectors({.count = 30, .dimension = dimension, .seed = 7});
    std::vector<float> expected;
    const int targets = ForEachTarget([&] {
      PairCodes codes(nullptr);
      ASSERT_OK(codes.Make(table, nullptr));
      std::vector<float> bounds;
      for (uint32_t a = 0; a < table.count(); ++a) {
        for (uint32_t b = 0; b < table.count(); ++b) {
          const PairCodes::Bounds between = codes.Between(a, b);
          bounds.insert(bounds.end(), {between.least, between.most});
        }
      }
      if (expected.empty()) expected = bounds;
      for (size_t i = 0; i < bounds.size(); ++i)
        ASSERT_EQ(std::bit_cast<uint32_t>(bounds[i]), std::bit_cast<uint32_t>(expected[i])) << i;
    });
    EXPECT_GE(targets, 2);
  }
}

// The largest sums that there are, zeros, and what has no scale.
TEST(PairCodes, OfAnyDimensionAndMagnitudeAreFinite) {
  constexpr uint32_t kDimension = 65535;
  VectorTable table(kDimension, nullptr);
  ASSERT_OK(table.Reserve(4));
  for (const float value : {1.0f, -1.0f, 0.0f, 1e-42f})
    table.Add(std::vector<float>(kDimension, value));
  ForEachTarget([&] {
    PairCodes codes(nullptr);
    ASSERT_OK(codes.Make(table, nullptr));
    for (const auto& [b, distance] : {std::pair(0u, 0.0f), {1u, 4.0f}, {2u, 1.0f}, {3u, 1.0f}}) {
      const PairCodes::Bounds bounds = codes.Between(0, b);
      EXPECT_LE(bounds.least, distance * kDimension);
      EXPECT_GE(bounds.most, distance * kDimension);
      EXPECT_LE(bounds.most - bounds.least, 0.1 * kDimension);
    }
    EXPECT_EQ(codes.Between(2, 3).least, 0);
    EXPECT_EQ(codes.Between(2, 3).most, 0);
  });
}

TEST(PairCodes, ChargeWhatTheyTakeAndStopWhenTheyAreTold) {
  const VectorTable table = NormalVectors({.count = 100, .dimension = 16, .seed = 8});
  MemoryBudget budget("test", 100 * PairCodes::Bytes(16));
  {
    PairCodes codes(&budget);
    ASSERT_OK(codes.Make(table, nullptr));
    EXPECT_EQ(budget.used_bytes(), budget.limit_bytes());
    PairCodes more(&budget);
    EXPECT_CODE(more.Make(table, nullptr), Code::kResourceExhausted);
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
  PairCodes stopped(&budget);
  EXPECT_CODE(stopped.Make(table, [] { return Status(Code::kCancelled, "stop"); }),
              Code::kCancelled);
}

}  // namespace
}  // namespace pigment
