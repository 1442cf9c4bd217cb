// SPDX-License-Identifier: Apache-2.0
//
// Progress: what one thread tells is what another sees, whole.

#include "engine/base/progress.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "engine/base/call_control.h"

namespace pigment {
namespace {

TEST(Progress, HasNoPhaseBeforeTheFirst) {
  const Progress progress;
  EXPECT_EQ(progress.state().phase, nullptr);
  EXPECT_EQ(progress.state().unit, nullptr);
  EXPECT_EQ(progress.state().total, 0u);
}

TEST(Progress, APhaseBeginsAtNothingAndEndsAtItsTotal) {
  const CancelToken token;
  const Progress& progress = token.progress();
  const CallControl control{.cancel = &token};
  control.BeginPhase("merge", "rows", 10);
  control.Advance(4);
  EXPECT_EQ(progress.state().done, 4u);
  control.Advance(400);  // an estimate was too low
  EXPECT_EQ(progress.state().done, 10u);
  control.BeginPhase("index", "rows", 0);
  EXPECT_STREQ(progress.state().phase, "index");
  EXPECT_EQ(progress.state().done, 0u);
  control.Advance(400);  // nobody knows how much there is
  EXPECT_EQ(progress.state().done, 400u);
}

TEST(Progress, NobodyAskingCostsNothingAndIsNoError) {
  const CallControl control;
  control.BeginPhase("merge", "rows", 10);
  control.Advance(1);
}

TEST(Progress, WhatIsSeenBelongsTogether) {
  Progress progress;
  std::atomic<bool> is_over = false;
  std::thread worker([&] {
    for (int round = 0; round < 20'000; ++round) {
      progress.Begin("small", "rows", 3);
      for (int i = 0; i < 3; ++i) progress.Advance(1);
      progress.Begin("large", "bytes", 3'000);
      for (int i = 0; i < 3; ++i) progress.Advance(1'000);
    }
    is_over = true;
  });
  while (!is_over) {
    const Progress::State seen = progress.state();
    if (seen.phase == nullptr) continue;
    const bool is_large = std::string(seen.phase) == "large";
    ASSERT_EQ(std::string(seen.unit), is_large ? "bytes" : "rows");
    ASSERT_EQ(seen.total, is_large ? 3'000u : 3u);
    ASSERT_EQ(seen.done % (is_large ? 1'000 : 1), 0u);
    ASSERT_LE(seen.done, seen.total);
  }
  worker.join();
}

}  // namespace
}  // namespace pigment
