// SPDX-License-Identifier: Apache-2.0
//
// Runs a body on every SIMD target that this machine has and the build made, the chosen one last as
// before. Of one thread, while no other computes.

#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

#include "engine/vector/distance.h"

namespace pigment {

// How many targets there were.
template <typename Body>
int ForEachTarget(Body body) {
  int targets = 0;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    EXPECT_EQ(SimdTargetName(), hwy::TargetName(target));
    body();
    ++targets;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return targets;
}

}  // namespace pigment
