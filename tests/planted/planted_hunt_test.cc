// SPDX-License-Identifier: Apache-2.0
//
// Every planted bug is caught by the harness that the good build passes, and the good build passes
// it here as well. The hunt does not know which bug is on: it runs the same workloads, more of them
// until something fails.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "engine/base/planted_bugs.h"
#include "tests/support/crash_workloads.h"
#include "tests/support/effort.h"
#include "tests/support/log_sweep.h"

namespace pigment {
namespace {

constexpr uint64_t kRounds = 5;
constexpr uint64_t kLogLives = 1000;  // of the sweep over the log alone, in each round

// The first failure of the harness, or empty. Each round looks at three times as much.
std::string Hunt(CrashCounts* counts) {
  double effort = 0.003;
  for (uint64_t round = 0; round < kRounds; ++round, effort *= 3) {
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
      return ExploreShortHistories(explorer, effort / 3);
    });
    if (!error.empty()) return error;
    error = run(SyncMode::kFull, [&](CrashExplorer& explorer) {
      return ExploreFailedSyncs(explorer, effort / 20);
    });
    if (!error.empty()) return error;
    error = run(SyncMode::kOff, [&](CrashExplorer& explorer) {
      return ExploreLongHistories(explorer, round + 1, 100);
    });
    if (!error.empty()) return error;
    uint64_t looks = 0;
    error = ExploreDamage(effort, &looks);
    if (!error.empty()) return error;
    error = run(SyncMode::kFull, [&](CrashExplorer& explorer) {
      return ExploreLongHistories(explorer, 2 * round + 1, 200);
    });
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
  EXPECT_EQ(Hunt(&counts), "");
  std::printf("the whole hunt: %llu states, %llu nested\n",
              static_cast<unsigned long long>(counts.states),
              static_cast<unsigned long long>(counts.nested));
}

TEST(PlantedHunt, EveryPlantedBugIsCaught) {
  uint64_t caught = 0;
  for (const PlantedBugDescription& bug : PlantedBugs()) {
    CrashCounts counts;
    std::string failure;
    uint64_t reached = 0;
    {
      const BugIsOn on(bug.bug);
      failure = Hunt(&counts);
      reached = PlantedBugReached();
    }
    if (!failure.empty()) ++caught;
    EXPECT_FALSE(failure.empty()) << bug.name << " (" << bug.breaks << ") is not caught; met "
                                  << reached << " times";
    std::printf("planted: %-34s %s after %llu states: %s\n", std::string(bug.name).c_str(),
                failure.empty() ? "NOT CAUGHT" : "caught",
                static_cast<unsigned long long>(counts.states + counts.nested),
                failure.substr(0, 160).c_str());
    std::fflush(stdout);
  }
  std::printf("effort: planted bugs caught %llu (floor 40)\n",
              static_cast<unsigned long long>(caught));
  EXPECT_GE(caught, 40u);
  EXPECT_EQ(caught, PlantedBugs().size());
}

}  // namespace
}  // namespace pigment
