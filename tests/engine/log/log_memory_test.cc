// SPDX-License-Identifier: Apache-2.0
//
// A log whose leading writer runs out of memory while others wait behind it: everybody returns,
// the turn goes on, and what was acknowledged is there. A writer that is left behind shows as the
// alarm that ends the program.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <thread>

#include "tests/engine/log/log_harness.h"
#include "tests/support/failing_memory.h"

namespace pigment {
namespace {

constexpr unsigned kHangSeconds = 60;

struct Waited {
  bool is_told = false;  // an answer, or std::bad_alloc
  Result<uint64_t> position = Status(Code::kInternal, "nothing was said");
};

void AppendInto(LogHarness& harness, std::string_view payload, Waited& waited) {
  try {
    waited.position = harness.Append(payload);
  } catch (const std::bad_alloc&) {
  }
  waited.is_told = true;
}

// The first writer has the turn and memory for `at` - 1 allocations more; two batches and a sync
// wait behind it when it goes on. False when it needed no more than that.
bool RunOutWithTheTurn(uint64_t at, uint64_t span, SyncMode mode) {
  LogHarness harness;
  LogOptions options;
  options.sync_mode = mode;
  options.file_bytes_max = 256;  // now and then the file is ended too
  EXPECT_OK(harness.Open(options));
  for (int i = 0; i < 4; ++i) EXPECT_OK(harness.Append(std::string(60, 'x')));
  Waited first, second, third, synced;
  std::vector<std::thread> others;
  const Log::Batch leading{
      .payload = AsBytes(std::string_view("first")),
      .check =
          [&] {
            PauseFailingAllocations();
            others.emplace_back([&] { AppendInto(harness, "second", second); });
            others.emplace_back([&] { AppendInto(harness, "third", third); });
            others.emplace_back([&] {
              synced.is_told = true;
              (void)harness.log->Sync().ok();
            });
            while (harness.log->statistics().waiting_calls < 4) std::this_thread::yield();
            ResumeFailingAllocations();
            return Status::Ok();
          },
      .refused = {}};
  FailAllocations(at, span);
  ResumeFailingAllocations();
  try {
    first.position = harness.log->Append(leading);
  } catch (const std::bad_alloc&) {
  }
  PauseFailingAllocations();
  const bool ran_out = AllocationsFailed() > 0;
  FailAllocations(0, 0);
  for (std::thread& other : others) other.join();
  EXPECT_TRUE(others.empty() || (second.is_told && third.is_told && synced.is_told));
  // Another writer finds the log at work, or poisoned.
  const Result<uint64_t> later = harness.Append("later");
  EXPECT_TRUE(later.ok() || later.status().detail() == Detail::kPoisoned)
      << later.status().ToString();
  const LogStatistics statistics = harness.log->statistics();
  EXPECT_EQ(statistics.waiting_calls, 0u);
  EXPECT_EQ(statistics.poison.ok(), later.ok());
  // Nothing of the two behind the leader is lost, and they lose nothing by its failure unless the
  // log is poisoned.
  if (later.ok() && !others.empty()) {
    EXPECT_OK(second.position);
    EXPECT_OK(third.position);
  }
  const std::vector<std::pair<const Waited*, std::string>> all = {
      {&first, "first"}, {&second, "second"}, {&third, "third"}};
  EXPECT_OK(harness.Open(options));
  EXPECT_GE(harness.applied.size(), 4u);
  for (const auto& [waited, payload] : all) {
    if (!waited->position.ok()) continue;
    EXPECT_EQ(harness.applied.at(*waited->position - 1), payload);
  }
  return ran_out;
}

class LogMemory : public ::testing::TestWithParam<SyncMode> {};

TEST_P(LogMemory, AWriterThatRunsOutOfItLeavesNobodyBehind) {
  for (const uint64_t span : {uint64_t{1}, uint64_t{3}, kForGood}) {
    uint64_t at = 1;
    bool ran_out = true;
    for (; ran_out && at < 200 && !HasFailure(); ++at) {
      SCOPED_TRACE(std::to_string(span) + " from allocation " + std::to_string(at));
      alarm(kHangSeconds);
      ran_out = RunOutWithTheTurn(at, span, GetParam());
      alarm(0);
    }
    EXPECT_FALSE(ran_out);
    EXPECT_GT(at, 3u) << "an append wanted no memory";
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, LogMemory, ::testing::Values(SyncMode::kFull, SyncMode::kOff),
                         [](const auto& info) {
                           return info.param == SyncMode::kFull ? "Full" : "Off";
                         });

TEST(LogMemoryAtClose, ACloseThatRunsOutOfItCanBeDoneAgain) {
  for (uint64_t at = 1; at < 50; ++at) {
    SCOPED_TRACE(at);
    alarm(kHangSeconds);
    LogHarness harness;
    LogOptions options;
    options.sync_mode = SyncMode::kOff;
    ASSERT_OK(harness.Open(options));
    ASSERT_OK(harness.Append("one"));
    FailAllocations(at, kForGood);
    ResumeFailingAllocations();
    try {
      static_cast<void>(harness.log->Close().ok());
    } catch (const std::bad_alloc&) {
    }
    PauseFailingAllocations();
    const bool ran_out = AllocationsFailed() > 0;
    FailAllocations(0, 0);
    const Status again = harness.log->Close();
    EXPECT_TRUE(again.ok() || again.detail() == Detail::kPoisoned) << again.ToString();
    EXPECT_EQ(harness.Append("two").status().code(), Code::kFailedPrecondition);
    alarm(0);
    if (!ran_out) return;
  }
  FAIL() << "a close wants ever more memory";
}

}  // namespace
}  // namespace pigment
