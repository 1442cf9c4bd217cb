// SPDX-License-Identifier: Apache-2.0
//
// What each mode may lose: nothing of what was acknowledged; at most the last interval; what the
// operating system had not written. Always a prefix stays. And the floor of a purge.

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "engine/base/disk_files.h"
#include "tests/engine/log/log_harness.h"

namespace pigment {
namespace {

using Keep = PowerCut::Keep;

constexpr Keep kPowerCuts[] = {Keep::kNothing, Keep::kPrefix, Keep::kRandom};

LogOptions OptionsOf(SyncMode mode, Clock* clock) {
  LogOptions options;
  options.sync_mode = mode;
  options.interval_ms = 50;
  options.file_bytes_max = 500;
  options.clock = clock;
  return options;
}

bool IsPrefix(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

TEST(LogModes, FullLosesNothingThatWasAcknowledged) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    LogHarness harness;
    const LogOptions options = OptionsOf(SyncMode::kFull, nullptr);
    ASSERT_OK(harness.Open(options));
    for (uint64_t i = 0; i < seed; ++i) ASSERT_OK(harness.Append("batch " + std::to_string(i)));
    harness.files.CutPower({.keep = kPowerCuts[seed % 3], .seed = seed});
    ASSERT_OK(harness.Open(options));
    ASSERT_EQ(harness.applied.size(), seed);
  }
}

TEST(LogModes, IntervalLosesAtMostWhatCameInTheLastInterval) {
  uint64_t lost = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    ManualClock clock;
    LogHarness harness;
    const LogOptions options = OptionsOf(SyncMode::kInterval, &clock);
    ASSERT_OK(harness.Open(options));
    for (uint64_t i = 0; i < 5; ++i) ASSERT_OK(harness.Append("early " + std::to_string(i)));
    clock.Advance(50'000'000);  // of the first of them
    for (int wait = 0; wait < 5000 && harness.log->statistics().synced_position < 5; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_EQ(harness.log->statistics().synced_position, 5u);
    for (uint64_t i = 0; i < seed % 7; ++i) ASSERT_OK(harness.Append("late " + std::to_string(i)));
    const std::vector<std::string> acknowledged = harness.applied;
    harness.files.CutPower({.keep = kPowerCuts[seed % 3], .seed = seed});
    ASSERT_OK(harness.Open(options));
    ASSERT_GE(harness.applied.size(), 5u);
    ASSERT_TRUE(IsPrefix(harness.applied, acknowledged));
    lost += acknowledged.size() - harness.applied.size();
  }
  EXPECT_GT(lost, 30u) << "hardly anything was at stake";
}

TEST(LogModes, OffKeepsAPrefixAndADeadProcessLosesNothing) {
  uint64_t lost = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    LogHarness harness;
    const LogOptions options = OptionsOf(SyncMode::kOff, nullptr);
    ASSERT_OK(harness.Open(options));
    for (uint64_t i = 0; i < seed; ++i) ASSERT_OK(harness.Append("batch " + std::to_string(i)));
    const std::vector<std::string> acknowledged = harness.applied;
    if (seed % 4 == 0) {
      harness.files.CutPower({.keep = Keep::kEverything});
      ASSERT_OK(harness.Open(options));
      ASSERT_EQ(harness.applied, acknowledged);
    } else {
      harness.files.CutPower({.keep = kPowerCuts[seed % 3], .seed = seed});
      ASSERT_OK(harness.Open(options));
      ASSERT_TRUE(IsPrefix(harness.applied, acknowledged));
      lost += acknowledged.size() - harness.applied.size();
    }
  }
  EXPECT_GT(lost, 30u) << "hardly anything was at stake";
}

TEST(LogModes, APurgeNeverTakesWhatIsAboveItsFloor) {
  for (const SyncMode mode : {SyncMode::kFull, SyncMode::kInterval, SyncMode::kOff}) {
    ManualClock clock;
    LogHarness harness;
    const LogOptions options = OptionsOf(mode, &clock);
    ASSERT_OK(harness.Open(options));
    uint64_t purged = 0;
    for (uint64_t i = 1; i <= 200; ++i) {
      SCOPED_TRACE(::testing::Message() << "mode " << static_cast<int>(mode) << " batch " << i);
      ASSERT_OK(harness.Append("batch " + std::to_string(i)));
      if (i % 10 != 0) continue;
      // The owner's floor counts only what it has made durable, in the log as well.
      ASSERT_OK(harness.log->Sync());
      const uint64_t floor = i - 7;
      const size_t before = harness.LogFiles().size();
      ASSERT_OK(harness.log->Purge(floor));
      purged += before - harness.LogFiles().size();
      harness.files.CutPower({.keep = i % 20 == 0 ? Keep::kNothing : Keep::kRandom, .seed = i});
      ASSERT_OK(harness.Open(options, floor));
      ASSERT_EQ(harness.applied.size(), 7u);
      ASSERT_EQ(harness.applied.front(), "batch " + std::to_string(floor + 1));
    }
    EXPECT_GT(purged, 5u);
  }
}

TEST(LogModes, WithAPurgeAfterEachFileTheLogStaysBounded) {
  LogHarness harness;
  LogOptions options = OptionsOf(SyncMode::kOff, nullptr);
  options.file_bytes_max = 64 << 10;
  ASSERT_OK(harness.Open(options));
  uint64_t bytes_max = 0;
  for (uint64_t i = 1; i <= 2000; ++i) {
    ASSERT_OK(harness.Append(std::string(1000, 'x')));
    if (i % 60 == 0) ASSERT_OK(harness.log->Purge(i));
    bytes_max = std::max(bytes_max, harness.log->statistics().bytes);
  }
  EXPECT_LE(bytes_max, 2 * options.file_bytes_max + 4096);
}

TEST(LogModes, AFailureOfTheTimersSyncPoisonsAndReadersKeepWhatTheySaw) {
  ManualClock clock;
  LogHarness harness;
  ASSERT_OK(harness.Open(OptionsOf(SyncMode::kInterval, &clock)));
  ASSERT_OK(harness.Append("1"));
  harness.files.SetFault(
      FileFault{.operations = static_cast<uint32_t>(FileOperation::kSync),
                .error = ErrnoStatus(EIO, "sync", "db/log/" + harness.LogFiles().front())});
  clock.Advance(50'000'000);
  for (int wait = 0; wait < 5000 && harness.log->statistics().poison.ok(); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const uint64_t syncs = harness.log->statistics().syncs;
  const Status status = StatusOf(harness.Append("2"));
  EXPECT_EQ(status.detail(), Detail::kPoisoned);
  EXPECT_EQ(status.file().rfind("db/log/", 0), 0u) << status.ToString();
  EXPECT_NE(status.hint().find("open again"), std::string::npos) << status.ToString();
  EXPECT_FALSE(harness.log->Sync().ok());
  clock.Advance(500'000'000);
  EXPECT_FALSE(harness.log->Close().ok());
  EXPECT_EQ(harness.log->statistics().syncs, syncs) << "a failed sync was tried again";
  EXPECT_EQ(harness.applied, (std::vector<std::string>{"1"}));
}

}  // namespace
}  // namespace pigment
