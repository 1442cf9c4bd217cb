// SPDX-License-Identifier: Apache-2.0
//
// What is between calibrated reaches, and what a long search says of shorter ones.

#include "engine/vector/reach_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace pigment {
namespace {

TEST(ReachTable, LiesBetweenWhatWasCalibrated) {
  ReachTable table;
  for (size_t row = 0; row < table.values.size(); ++row) {
    for (size_t i = 0; i < table.values[row].size(); ++i) {
      table.values[row][i] = {.reach = 1 + 0.01f * static_cast<float>(i + 1),
                              .visits = std::pow(10.0f, static_cast<float>(row + 1))};
    }
  }
  EXPECT_FLOAT_EQ(table.For(10, 0.98).reach, 1.04f);
  // What misses 0.015 is log(4 / 3) / log(2) of the way from 0.02 to 0.01.
  EXPECT_NEAR(table.For(10, 0.985).reach, 1.04415, 1e-5);
  EXPECT_FLOAT_EQ(table.For(10, 0.5).reach, 1.01f);
  EXPECT_FLOAT_EQ(table.For(10, 1).reach, 1.06f);
  EXPECT_FLOAT_EQ(table.For(10, 0.9).visits, 100);
  EXPECT_NEAR(table.For(1000, 0.9).visits, 10000, 1);  // beyond: as it grew before
  EXPECT_NEAR(table.For(32, 0.9).visits, 316, 10);
  for (auto& row : table.values) row.back().reach = row.back().visits = INFINITY;
  EXPECT_TRUE(std::isinf(table.For(10, 0.995).reach));
  EXPECT_TRUE(std::isfinite(table.For(10, 0.99).reach));
}

TEST(ReachTable, IsOneBeyondWhatIsCalibratedBelowOne) {
  ReachTable table;
  for (auto& row : table.values) row.fill({.reach = 0.7f, .visits = 10});
  EXPECT_FLOAT_EQ(table.For(100, 0.98).reach, 0.7f);
  EXPECT_FLOAT_EQ(table.For(101, 0.98).reach, 1);
  MaskedReach masked(table, 0.98);
  EXPECT_FLOAT_EQ(MaskedReach::Shortened(0.7f, &masked, 50, 100, 50), 0.7f);
  EXPECT_FLOAT_EQ(MaskedReach::Shortened(0.7f, &masked, 50, 100, 10), 1);
  EXPECT_FLOAT_EQ(MaskedReach::Shortened(1.2f, &masked, 50, 100, 10), 1);
  EXPECT_FLOAT_EQ(MaskedReach::Shortened(0.7f, nullptr, 50, 100, 10), 0.7f);
  // Before anything was met the rank is k.
  table.values[0].fill({.reach = 0.5f, .visits = 10});
  EXPECT_FLOAT_EQ(MaskedReach::Shortened(0.7f, &masked, 50, 0, 0), 0.7f);
}

// Ten visits, each beyond a reach of 1 + i / 10 times the farthest of ten before it, find one more
// of the nearest each.
TEST(ReachSums, TellWhatShorterSearchesFind) {
  std::vector<SearchStep> steps;
  for (uint32_t i = 0; i < 10; ++i)
    steps.push_back({.estimate = 0, .distance = 100, .vector = 100 + i, .is_visit = i == 0});
  std::vector<float> nearest;
  for (uint32_t i = 0; i < 10; ++i) {
    const float reach = 1 + static_cast<float>(i) / 40;
    // The farthest of the ten found so far stays 100 until all others are replaced.
    steps.push_back({.estimate = 100 * reach});
    steps.push_back({.estimate = 100 * reach, .distance = 1, .vector = i, .is_visit = false});
    nearest.push_back(1);
  }
  ReachSums sums(ReachSums::Kind::kProbes);
  sums.Add(steps, nearest);
  EXPECT_TRUE(sums.FindsAll());
  EXPECT_NEAR(sums.Least(0.75f).reach, 1 + 7.0 / 40, 0.011);
  EXPECT_FLOAT_EQ(sums.Least(0.75f).visits, 9);
  EXPECT_NEAR(sums.Least(0.999f).reach, 1 + 9.0 / 40, 0.011);
  EXPECT_FLOAT_EQ(sums.Least(0.999f).visits, 11);
}

// The same with visits that are all nearer than the farthest of those found.
TEST(ReachSums, GoBelowOneWhereThatMakesSense) {
  std::vector<SearchStep> steps;
  for (uint32_t i = 0; i < 10; ++i)
    steps.push_back({.estimate = 0, .distance = 100, .vector = 100 + i, .is_visit = i == 0});
  std::vector<float> nearest;
  for (uint32_t i = 0; i < 10; ++i) {
    const float reach = 0.6f + static_cast<float>(i) / 40;
    steps.push_back({.estimate = 100 * reach});
    steps.push_back({.estimate = 100 * reach, .distance = 1, .vector = i, .is_visit = false});
    nearest.push_back(1);
  }
  ReachSums sums(ReachSums::Kind::kProbes);
  sums.Add(steps, nearest);
  EXPECT_NEAR(sums.Least(0.75f, 0.5f).reach, 0.6 + 7.0 / 40, 0.021);
  EXPECT_FLOAT_EQ(sums.Least(0.75f, 0.5f).visits, 9);
  EXPECT_NEAR(sums.Least(0.75f, 0.9f).reach, 0.9, 0.021);
  EXPECT_FLOAT_EQ(sums.Least(0.75f).reach, 1);
  EXPECT_FLOAT_EQ(sums.Least(0.75f).visits, 11);
}

TEST(ReachAfter, IsLessTheLongerAWalkGoesOn) {
  EXPECT_FLOAT_EQ(ReachAfter(1.2f, 0, 10), 1.2f);
  EXPECT_FLOAT_EQ(ReachAfter(1.2f, 60, 10), 1.2f);
  EXPECT_FLOAT_EQ(ReachAfter(1.2f, 4 * 60, 10), 1 + 0.2f / std::sqrt(2.0f));
  EXPECT_FLOAT_EQ(ReachAfter(1.2f, 4 * 60, 1), 1 + 0.2f / std::sqrt(2.0f));      // as for ten
  EXPECT_FLOAT_EQ(ReachAfter(1.2f, 16 * 240, 10), 1 + 0.05f / std::sqrt(2.0f));  // by square roots
  EXPECT_FLOAT_EQ(ReachAfter(1.2f, 16 * 60, 160), 1.2f);  // more neighbours take more visits
  EXPECT_FLOAT_EQ(ReachAfter(1, 1'000'000, 10), 1);
  EXPECT_FLOAT_EQ(ReachAfter(0.8f, 1'000'000, 10), 0.8f);
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(ReachAfter(kInfinite, 1'000'000, 10), kInfinite);
}

// A visit at 1.1 times the farthest of ten is within a reach of 1.283 until there were 960.
TEST(ReachSums, OfWalksCountWhatIsBeyondForLessTheLongerTheyGoOn) {
  for (const bool is_late : {false, true}) {
    std::vector<SearchStep> steps;
    for (uint32_t i = 0; i < (is_late ? 960 : 10); ++i)
      steps.push_back({.estimate = 0, .distance = 100, .vector = 100 + i});
    steps.push_back({.estimate = 110, .distance = 1, .vector = 0});
    const std::vector<float> nearest(1, 1.0f);
    ReachSums of_walks(ReachSums::Kind::kWalks), of_probes(ReachSums::Kind::kProbes);
    of_walks.Add(steps, nearest);
    of_probes.Add(steps, nearest);
    EXPECT_NEAR(of_walks.Least(0.99f).reach, is_late ? 1.283 : 1.1, 0.011);
    EXPECT_NEAR(of_probes.Least(0.99f).reach, 1.1, 0.011);
  }
}

}  // namespace
}  // namespace pigment
