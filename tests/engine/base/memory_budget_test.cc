// SPDX-License-Identifier: Apache-2.0
//
// MemoryBudget and Reservation: the limit holds, also between threads, and everything is given
// back.

#include "engine/base/memory_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

TEST(MemoryBudget, TheLimitIsExactAndARefusalChargesNothing) {
  MemoryBudget budget("docs", 100);
  EXPECT_OK(budget.Charge(60));
  EXPECT_OK(budget.Charge(40));
  const Status status = budget.Charge(1);
  EXPECT_CODE(status, Code::kResourceExhausted);
  EXPECT_EQ(status.detail(), Detail::kMemory);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("\"docs\""));
  EXPECT_EQ(budget.used_bytes(), 100u);
  budget.Release(1);
  EXPECT_OK(budget.Charge(1));
  EXPECT_CODE(budget.Charge(UINT64_MAX), Code::kResourceExhausted);
}

TEST(MemoryBudget, ZeroMeansNoLimit) {
  MemoryBudget budget("any");
  EXPECT_OK(budget.Charge(uint64_t{1} << 50));
}

TEST(MemoryBudget, APartHasALimitOfItsOwnAndMustFitIntoTheWhole) {
  MemoryBudget whole("docs", 100);
  MemoryBudget part("merges", 75, &whole);
  EXPECT_OK(part.Charge(75));
  Status status = part.Charge(1);
  EXPECT_CODE(status, Code::kResourceExhausted);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("\"merges\" of 75 bytes"));
  EXPECT_OK(whole.Charge(25)) << "a part leaves the rest to others";
  part.Release(10);
  EXPECT_OK(whole.Charge(10));
  status = part.Charge(1);
  EXPECT_CODE(status, Code::kResourceExhausted);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("\"docs\" of 100 bytes"));
  EXPECT_EQ(part.used_bytes(), 65u) << "what does not fit into the whole is charged to neither";
  EXPECT_EQ(whole.used_bytes(), 100u);
  part.Release(65);
  EXPECT_EQ(whole.used_bytes(), 35u);
}

TEST(MemoryBudget, WhatCannotBeRefusedGoesBeyondTheLimitOnlyWhereNothingIsGivenBack) {
  MemoryBudget budget("docs", 100);
  uint64_t cached = 40;
  budget.SetReclaimer([&](uint64_t bytes) {
    const uint64_t freed = std::min(bytes, cached);
    cached -= freed;
    budget.Release(freed);
    return freed;
  });
  ASSERT_OK(budget.Charge(100));
  budget.ChargeAlways(30);
  EXPECT_EQ(cached, 10u);
  EXPECT_EQ(budget.used_bytes(), 100u);
  budget.ChargeAlways(30);
  EXPECT_EQ(budget.used_bytes(), 120u);
  EXPECT_CODE(budget.Charge(1), Code::kResourceExhausted);
  budget.Release(30);
  EXPECT_OK(budget.Charge(10)) << "and counts until it is given back";

  MemoryBudget part("merges", 50, &budget);
  part.ChargeAlways(60);
  EXPECT_EQ(part.used_bytes(), 60u);
  EXPECT_EQ(budget.used_bytes(), 160u);
}

TEST(MemoryBudget, AReservationGivesBackWhatItHasAlsoWhenMoved) {
  MemoryBudget budget("docs", 100);
  {
    Reservation first(&budget);
    EXPECT_OK(first.Grow(30));
    EXPECT_OK(first.Grow(30));
    EXPECT_CODE(first.Grow(50), Code::kResourceExhausted);
    EXPECT_EQ(first.bytes(), 60u);
    Reservation second(std::move(first));
    EXPECT_EQ(second.bytes(), 60u);
    EXPECT_EQ(budget.used_bytes(), 60u);
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(MemoryBudget, ThreadsTogetherStayBelowTheLimit) {
  MemoryBudget budget("docs", 1000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        Reservation reservation(&budget);
        static_cast<void>(reservation.Grow(400).ok());
        EXPECT_LE(budget.used_bytes(), 1000u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used_bytes(), 0u);
}

}  // namespace
}  // namespace pigment
