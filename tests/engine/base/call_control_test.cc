// SPDX-License-Identifier: Apache-2.0
//
// CallControl: what the check answers.

#include "engine/base/call_control.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

TEST(CallControl, NothingSetIsOk) { EXPECT_OK(CallControl{}.Check()); }

TEST(CallControl, ATokenIsStickyAndShared) {
  CancelToken token;
  const CallControl first{.cancel = &token}, second{.cancel = &token};
  EXPECT_OK(first.Check());
  token.Set();
  for (int i = 0; i < 3; ++i) {
    EXPECT_CODE(first.Check(), Code::kCancelled);
    EXPECT_CODE(second.Check(), Code::kCancelled);
  }
}

TEST(CallControl, ADeadlineHoldsFromItsMomentOn) {
  EXPECT_OK((CallControl{.deadline_ns = MonotonicNow() + 3'600'000'000'000}.Check()));
  EXPECT_CODE((CallControl{.deadline_ns = MonotonicNow()}.Check()), Code::kDeadlineExceeded);
}

TEST(CallControl, WhoCancelsAfterTheDeadlineIsToldThatItIsCancelled) {
  CancelToken token;
  token.Set();
  EXPECT_CODE((CallControl{.cancel = &token, .deadline_ns = 1}.Check()), Code::kCancelled);
}

}  // namespace
}  // namespace pigment
