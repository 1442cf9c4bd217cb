// SPDX-License-Identifier: Apache-2.0
//
// Parts are bounded, have every vector, and what is near is in one of them together.

#include "engine/vector/graph_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "engine/vector/top_k.h"
#include "tests/support/made_vectors.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

std::vector<uint32_t> PartsOfEach(const NumberLists& parts, uint32_t count) {
  std::vector<uint32_t> of(count);
  for (const uint32_t vector : parts.numbers) ++of[vector];
  return of;
}

TEST(MakeParts, HaveEveryVectorAndNoMoreThanTheyMay) {
  const MadeVectors cases[] = {
      {.count = 3000, .dimension = 16, .seed = 1},
      {.count = 3000, .dimension = 8, .clusters = 7, .spread = 0.01f, .seed = 2},
      {.count = 3000, .dimension = 4, .clusters = 2, .spread = 0, .seed = 3},  // duplicates
      {.count = 9, .dimension = 4, .seed = 4},
      {.count = 1, .dimension = 4, .seed = 5},
  };
  for (const MadeVectors& made : cases) {
    const VectorTable table = ClusteredVectors(made);
    for (const uint32_t vectors_max : {8u, 100u, 1000u}) {
      SCOPED_TRACE(::testing::Message() << "seed " << made.seed << ", " << vectors_max);
      const auto parts = MakeParts(table, vectors_max, {});
      ASSERT_OK(parts);
      EXPECT_LE(parts->count(), PartCount(made.count, vectors_max));
      for (uint32_t part = 0; part < parts->count(); ++part) {
        const auto vectors = parts->of(part);
        EXPECT_LE(vectors.size(), vectors_max);
        EXPECT_TRUE(std::ranges::is_sorted(vectors));
        EXPECT_EQ(std::ranges::adjacent_find(vectors), vectors.end());
      }
      for (const uint32_t of : PartsOfEach(*parts, made.count)) {
        EXPECT_GE(of, 1u);
        EXPECT_LE(of, kPartsOfVector);
      }
    }
  }
}

TEST(MakeParts, WhatIsNearIsInOneOfThem) {
  const VectorTable table = ClusteredVectors({.count = 4000, .dimension = 12, .seed = 6});
  const auto parts = MakeParts(table, 800, {});
  ASSERT_OK(parts);
  const std::vector<uint32_t> of_each = PartsOfEach(*parts, table.count());
  EXPECT_GT(std::ranges::count(of_each, kPartsOfVector), 3800);
  const NumberLists of =
      Invert(table.count(), parts->count(), [&](uint32_t part) { return parts->of(part); });
  constexpr size_t kNearest = 10;
  size_t together = 0;
  for (uint32_t i = 0; i < 200; ++i) {
    TopK nearest(kNearest);
    for (uint32_t j = 0; j < table.count(); ++j)
      if (j != i) nearest.Offer(table.Distance(i, j), j);
    for (const Scored& near : nearest.TakeSorted()) {
      const auto parts_of_it = of.of(static_cast<uint32_t>(near.tie));
      together += std::ranges::find_first_of(of.of(i), parts_of_it) != of.of(i).end() ? 1 : 0;
    }
  }
  EXPECT_GT(together, 200 * kNearest * 9 / 10);
}

}  // namespace
}  // namespace pigment
