// SPDX-License-Identifier: Apache-2.0
//
// Backups that the power, the disk or damage cuts short: a whole copy or none, and the place can be
// used again.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/backup_workload.h"
#include "tests/support/effort.h"

namespace pigment {
namespace {

TEST(BackupCrash, APowerCutLeavesAWholeCopyOrNone) {
  uint64_t states = 0;
  for (uint64_t seed = 1; seed <= AtEffort(4); ++seed) {
    const BackupSweep sweep = CutBackups(seed);
    ASSERT_EQ(sweep.failure, "");
    states += sweep.states;
  }
  ExpectFloor("power cuts in backups", states, 400);
}

TEST(BackupCrash, AFailedOperationLeavesNoCopyAndTheSourceGoesOn) {
  uint64_t states = 0;
  for (uint64_t seed = 1; seed <= AtEffort(2); ++seed) {
    const BackupSweep sweep = FailBackups(seed);
    ASSERT_EQ(sweep.failure, "");
    states += sweep.states;
  }
  ExpectFloor("faults in backups", states, 400);
}

TEST(BackupCrash, DamageOfTheSourceIsNamedAndNotCopied) {
  const auto step = static_cast<uint64_t>(std::max(1.0, 29 / Effort()));
  const BackupSweep sweep = DamageBackups(3, step);
  ASSERT_EQ(sweep.failure, "");
  ExpectFloor("damaged backups", sweep.states, 300);
}

}  // namespace
}  // namespace pigment
