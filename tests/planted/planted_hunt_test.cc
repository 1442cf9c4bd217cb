// SPDX-License-Identifier: Apache-2.0
//
// Every planted bug is caught by the harness that the good build passes, and the good build passes
// it here as well. The hunt does not know which bug is on: it runs the same workloads, more of them
// until something fails.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/planted_bugs.h"
#include "tests/support/backup_workload.h"
#include "tests/support/crash_workloads.h"
#include "tests/support/effort.h"
#include "tests/support/log_sweep.h"

namespace pigment {
namespace {

constexpr uint64_t kRoundsMax = 3;
constexpr uint64_t kLogLives = 5000;  // of the sweep over the log alone, in each round

// Those that this run hunts: all of them at an effort of 1.
std::vector<PlantedBugDescription> BugsToHunt() {
  std::vector<PlantedBugDescription> bugs;
  Share share;
  for (const PlantedBugDescription& bug : PlantedBugs()) {
    if (share.IsNext()) bugs.push_back(bug);
  }
  return bugs;
}

// The first failure of the harness, or empty. Each round looks at three times as much. A single one
// leaves out the histories that are the same at any effort.
std::string Hunt(CrashCounts* counts, uint64_t rounds) {
  if (std::string error = ExploreFailedWrites(); !error.empty()) return error;
  double effort = 0.002;
  for (uint64_t round = 0; round < rounds; ++round, effort *= 3) {
    for (uint64_t seed = round * kLogLives + 1; seed <= (round + 1) * kLogLives; ++seed) {
      std::string difference = DifferenceOfLog(seed);
      if (!difference.empty()) return difference;
    }
    const auto run = [&](SyncMode mode, const auto& explore) {
      CrashExplorer explorer(SmallStore(mode));
      std::string error = explore(explorer);
      counts->states += explorer.counts().states;
      counts->nested += explorer.counts().nested;
      return error;
    };
    std::string error = run(SyncMode::kFull, [&](CrashExplorer& explorer) {
      return ExploreShortHistories(explorer, effort);
    });
    if (!error.empty()) return error;
    uint64_t looks = 0;
    error = ExploreDamage(effort, &looks);
    if (!error.empty()) return error;
    for (const auto& sweep :
         {CutBackups(round + 1), DamageBackups(round + 1, 211), FailBackups(round + 1, 3)}) {
      if (!sweep.failure.empty()) return sweep.failure;
    }
    error = run(SyncMode::kFull,
                [&](CrashExplorer& explorer) { return ExploreFailedSyncs(explorer, effort / 2); });
    if (!error.empty()) return error;
    error = run(SyncMode::kOff, [&](CrashExplorer& explorer) {
      return ExploreLongHistories(explorer, round + 1, 100, 9);
    });
    if (!error.empty()) return error;
    error = run(SyncMode::kFull, [&](CrashExplorer& explorer) {
      return ExploreLongHistories(explorer, round + 1, 200, 15);
    });
    if (!error.empty()) return error;
    if (round > 0 || rounds == 1) continue;
    error = ExploreUnsyncedWriters(2, &counts->states);
    if (!error.empty()) return error;
    error = run(SyncMode::kFull,
                [&](CrashExplorer& explorer) { return ExploreRareHistories(explorer, 1); });
    if (!error.empty()) return error;
  }
  return "";
}

class BugIsOn {
 public:
  explicit BugIsOn(std::optional<PlantedBug> bug) { SetPlantedBug(bug); }
  ~BugIsOn() { SetPlantedBug(std::nullopt); }
};

TEST(PlantedHunt, FindsNothingWhereNothingIsPlanted) {
  CrashCounts counts;
  EXPECT_EQ(Hunt(&counts, Effort() < 1 ? 1 : kRoundsMax), "");
  std::printf("the whole hunt: %llu states, %llu nested\n",
              static_cast<unsigned long long>(counts.states),
              static_cast<unsigned long long>(counts.nested));
}

TEST(PlantedHunt, ThereAreFortyBugsToHunt) {
  const size_t hunted = BugsToHunt().size();
  std::printf("effort: planted bugs hunted %zu of %zu (floor 40)\n", hunted, PlantedBugs().size());
  EXPECT_GE(PlantedBugs().size(), 40u);
  EXPECT_GE(hunted, std::min<uint64_t>(AtEffort(40), PlantedBugs().size()));
}

class PlantedHuntOf : public ::testing::TestWithParam<PlantedBugDescription> {};

TEST_P(PlantedHuntOf, TheBugIsCaught) {
  const PlantedBugDescription& bug = GetParam();
  CrashCounts counts;
  const BugIsOn on(bug.bug);
  const std::string failure = Hunt(&counts, kRoundsMax);  // a bug ends it
  EXPECT_FALSE(failure.empty()) << bug.name << " (" << bug.breaks << ") is not caught; met "
                                << PlantedBugReached() << " times";
  std::printf("planted: %s %s after %llu states: %s\n", std::string(bug.name).c_str(),
              failure.empty() ? "NOT CAUGHT" : "caught",
              static_cast<unsigned long long>(counts.states + counts.nested),
              failure.substr(0, 160).c_str());
}

INSTANTIATE_TEST_SUITE_P(Planted, PlantedHuntOf, ::testing::ValuesIn(BugsToHunt()),
                         [](const auto& bug) { return std::string(bug.param.name); });

}  // namespace
}  // namespace pigment
