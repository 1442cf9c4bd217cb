// SPDX-License-Identifier: Apache-2.0
//
// Each planted bug of backups is found by the sweeps that the good build passes.

#include <gtest/gtest.h>

#include <string_view>

#include "engine/base/planted_bugs.h"
#include "tests/support/backup_workload.h"

namespace pigment {
namespace {

// What finds a broken promise first; empty: nothing does.
std::string Find() {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const auto& sweep :
         {CutBackups(seed), DamageBackups(seed, 211), FailBackups(seed, 3)}) {
      if (!sweep.failure.empty()) return sweep.failure;
    }
  }
  return "";
}

TEST(BackupPlanted, TheSweepsPassWithoutABug) {
  SetPlantedBug(std::nullopt);
  EXPECT_EQ(CutBackups(1).failure, "");
  EXPECT_EQ(DamageBackups(1, 211).failure, "");
  EXPECT_EQ(FailBackups(1, 3).failure, "");
}

TEST(BackupPlanted, EveryBugIsFound) {
  int bugs = 0;
  for (const PlantedBugDescription& bug : PlantedBugs()) {
    if (!bug.name.starts_with("kBackup")) continue;
    SCOPED_TRACE(std::string(bug.name) + ": " + std::string(bug.breaks));
    SetPlantedBug(bug.bug);
    const std::string found = Find();
    EXPECT_NE(found, "") << "nothing notices it (asked " << PlantedBugReached() << " times)";
    SetPlantedBug(std::nullopt);
    ++bugs;
  }
  EXPECT_GE(bugs, 5);
}

}  // namespace
}  // namespace pigment
