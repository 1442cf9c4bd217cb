// SPDX-License-Identifier: Apache-2.0
//
// Every crash state of every short history of a store, of random long ones, and of histories in which
// a sync fails: 0 lost, 0 corrupt, 0 wrong.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/crash_workloads.h"
#include "tests/support/effort.h"

namespace pigment {
namespace {

TEST(CrashStates, ShortAndLongHistoriesSurviveEveryPowerCut) {
  CrashExplorer explorer(SmallStore(SyncMode::kFull));
  ASSERT_EQ(ExploreShortHistories(explorer, Effort()), "");
  ASSERT_EQ(ExploreLongHistories(explorer, AtEffort(60), 1), "");
  const CrashCounts& counts = explorer.counts();
  ExpectFloor("workloads", counts.workloads, 3000);
  ExpectFloor("crash states", counts.states, 370'000);
  ExpectFloor("nested crash states", counts.nested, 50'000);
}

TEST(CrashStates, HistoriesWithAFailedSyncSurviveEveryPowerCut) {
  CrashExplorer explorer(SmallStore(SyncMode::kFull));
  ASSERT_EQ(ExploreFailedSyncs(explorer, std::max(0.05 * Effort(), 0.001)), "");
  ExpectFloor("crash states after a failed sync", explorer.counts().states, 50'000);
}

// A flush that comes during a merge fails to sync the folder: the name of the merge's file, made
// before, is lost with it, though the next sync succeeds.
TEST(CrashStates, AFailedSyncOfAFlushIsRememberedByTheMergeBesideIt) {
  CrashExplorer explorer(SmallStore(SyncMode::kFull));
  ASSERT_EQ(ExploreFailedSyncsOf(
                explorer, {StoreOperation::kUpdate, StoreOperation::kCompactBusy}, 1),
            "");
}

TEST(CrashStates, WithoutSyncAPrefixSurvivesEveryPowerCut) {
  CrashExplorer explorer(SmallStore(SyncMode::kOff));
  ASSERT_EQ(ExploreLongHistories(explorer, AtEffort(46), 1), "");
  ExpectFloor("crash states without sync", explorer.counts().states, 50'000);
}

}  // namespace
}  // namespace pigment
