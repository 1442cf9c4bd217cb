// SPDX-License-Identifier: Apache-2.0
//
// Every crash state of every short history of a store, of random long ones, and of histories in
// which a sync fails: 0 lost, 0 corrupt, 0 wrong.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/crash_workloads.h"
#include "tests/support/effort.h"

namespace pigment {
namespace {

TEST(CrashStates, ShortAndLongHistoriesSurviveEveryPowerCut) {
  CrashExplorer explorer(SmallStore(SyncMode::kFull));
  ASSERT_EQ(ExploreShortHistories(explorer, Effort()), "");
  std::printf("short histories: %llu states, %llu nested\n",
              static_cast<unsigned long long>(explorer.counts().states),
              static_cast<unsigned long long>(explorer.counts().nested));
  // There are only so many short ones: what is asked for beyond them comes from long ones.
  const double more = std::max(0.0, Effort() - 1) * 150;
  const uint64_t longer = AtEffort(30) + static_cast<uint64_t>(more);
  ASSERT_EQ(ExploreLongHistories(explorer, longer, 1), "");
  const CrashCounts& counts = explorer.counts();
  ExpectFloor("workloads", counts.workloads,
              static_cast<uint64_t>(std::min(2500.0, 7000 / Effort())));
  ExpectFloor("crash states", counts.states, 230'000);
  ExpectFloor("nested crash states", counts.nested, 90'000);
}

TEST(CrashStates, HistoriesWithAFailedSyncSurviveEveryPowerCut) {
  CrashExplorer explorer(SmallStore(SyncMode::kFull));
  // More of the same would meet its trees again: what is asked for beyond comes from other
  // contents.
  const double share = std::clamp(0.025 * Effort(), 0.002, 0.025);
  for (uint64_t seed = 1; seed <= AtEffort(1); ++seed)
    ASSERT_EQ(ExploreFailedSyncs(explorer, share, seed), "");
  ExpectFloor("crash states after a failed sync", explorer.counts().states, 130'000);
}

TEST(CrashStates, WhatWasNeverSyncedIsRecoveredForGood) {
  uint64_t states = 0;
  ASSERT_EQ(ExploreUnsyncedWriters(AtEffort(4), &states), "");
  ExpectFloor("crash states of unsynced writers", states, 20'000);
}

TEST(CrashStates, AFailedWriteOfALargeSegmentLosesNothing) { EXPECT_EQ(ExploreFailedWrites(), ""); }

TEST(CrashStates, RareHistoriesSurviveEveryPowerCut) {
  CrashExplorer explorer(SmallStore(SyncMode::kFull));
  ASSERT_EQ(ExploreRareHistories(explorer, Effort()), "");
  std::printf("rare histories: %llu states\n",
              static_cast<unsigned long long>(explorer.counts().states));
}

TEST(CrashStates, WithoutSyncAPrefixSurvivesEveryPowerCut) {
  CrashExplorer explorer(SmallStore(SyncMode::kOff));
  ASSERT_EQ(ExploreLongHistories(explorer, AtEffort(46), 1), "");
  ExpectFloor("crash states without sync", explorer.counts().states, 50'000);
}

}  // namespace
}  // namespace pigment
