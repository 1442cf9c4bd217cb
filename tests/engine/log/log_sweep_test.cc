// SPDX-License-Identifier: Apache-2.0
//
// The sweep over the lives of a log finds nothing wrong with this one. That it would is shown by
// tests/planted/planted_hunt_test.cc.

#include "tests/support/log_sweep.h"

#include <gtest/gtest.h>

#include "tests/support/effort.h"

namespace pigment {
namespace {

TEST(LogSweep, EveryLifeGivesBackWhatWasPromised) {
  const uint64_t histories = AtEffort(20'000);
  uint64_t done = 0;
  for (uint64_t seed = 1; seed <= histories; ++seed, ++done)
    ASSERT_EQ(DifferenceOfLog(seed), "") << "seed " << seed;
  ExpectFloor("lives of a log", done * 6, 120'000);
}

}  // namespace
}  // namespace pigment
