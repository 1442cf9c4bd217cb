// SPDX-License-Identifier: Apache-2.0
//
// Log under power cuts and the deaths of processes: random histories are stopped at every operation
// that changes the disk, every kind of survival is tried, recovery itself is stopped as well. What
// comes back must begin with everything that was promised, hold nothing that was not issued, and
// stay.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "tests/engine/log/log_harness.h"

namespace pigment {
namespace {

using Keep = PowerCut::Keep;

struct Model {
  std::vector<std::string> issued;  // position p is issued[p - 1]
  size_t promised = 0;              // so many must survive a power cut
  size_t returned = 0;              // so many must survive the death of the process
  uint64_t floor = 0;
};

LogOptions OptionsOf(SyncMode mode) {
  static ManualClock clock;  // never moves: the timer does nothing
  LogOptions options;
  options.sync_mode = mode;
  options.file_bytes_max = 400;
  options.clock = &clock;
  return options;
}

std::string NextPayload(std::mt19937_64& random, const Model& model) {
  std::string payload = std::to_string(model.issued.size() + 1) + ":";
  return payload + std::string(random() % 150, static_cast<char>('a' + random() % 26));
}

// What came back is what was issued, from the floor on, and enough of it.
void ExpectPrefix(const LogHarness& harness, const Model& model, size_t at_least) {
  const size_t recovered = model.floor + harness.applied.size();
  ASSERT_LE(recovered, model.issued.size());
  ASSERT_GE(std::max<size_t>(recovered, model.floor), at_least);
  for (size_t i = 0; i < harness.applied.size(); ++i)
    ASSERT_EQ(harness.applied[i], model.issued[model.floor + i]) << i;
}

// Runs a history until its end or until the machine stops.
void RunHistory(LogHarness& harness, Model& model, const LogOptions& options, uint64_t seed,
                int steps) {
  std::mt19937_64 random(seed);
  if (!harness.Open(options).ok()) return;
  for (int step = 0; step < steps && !harness.files.is_stopped(); ++step) {
    const uint64_t choice = random() % 20;
    if (choice < 15) {
      model.issued.push_back(NextPayload(random, model));
      if (!harness.Append(model.issued.back()).ok()) return;
      model.returned = model.issued.size();
      if (options.sync_mode == SyncMode::kFull) model.promised = model.returned;
    } else if (choice == 15) {
      if (harness.log->Sync().ok()) model.promised = model.returned;
    } else if (choice == 16) {
      if (model.returned > 0)
        model.floor = std::max<uint64_t>(model.floor, random() % (model.returned + 1));
      if (!harness.log->Purge(model.floor).ok()) return;
    } else {
      if (choice == 17 && harness.log->Close().ok()) model.promised = model.returned;
      if (!harness.Open(options, model.floor).ok()) return;
      ASSERT_EQ(model.floor + harness.applied.size(),
                std::max<size_t>(model.returned, model.floor));
      ExpectPrefix(harness, model, model.returned);
    }
  }
}

// After recovery: what is visible is durable, and the log takes writes that survive.
void ExpectUsable(LogHarness& harness, Model& model, const LogOptions& options) {
  model.issued.resize(std::max<size_t>(model.floor + harness.applied.size(), model.floor));
  const Result<uint64_t> position = harness.Append("after");
  ASSERT_OK(position);
  model.issued.push_back("after");
  ASSERT_EQ(*position, model.issued.size());
  ASSERT_OK(harness.log->Sync());
  harness.files.CutPower({.keep = Keep::kNothing});
  ASSERT_OK(harness.Open(options, model.floor));
  ExpectPrefix(harness, model, model.issued.size());
}

uint64_t CountChanges(SyncMode mode, uint64_t seed, int steps) {
  LogHarness harness;
  Model model;
  const uint64_t before = harness.files.CountOperations(kChangingFileOperations);
  RunHistory(harness, model, OptionsOf(mode), seed, steps);
  return harness.files.CountOperations(kChangingFileOperations) - before;
}

void CrashEverywhere(SyncMode mode, uint64_t first_seed, int histories, int steps) {
  const LogOptions options = OptionsOf(mode);
  uint64_t states = 0;
  for (uint64_t seed = first_seed; seed < first_seed + static_cast<uint64_t>(histories); ++seed) {
    const uint64_t changes = CountChanges(mode, seed, steps);
    for (uint64_t at = 1; at <= changes; ++at) {
      for (const Keep keep : {Keep::kNothing, Keep::kEverything, Keep::kPrefix, Keep::kRandom}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << seed << " stop at " << at << " keep " << static_cast<int>(keep));
        LogHarness harness;
        Model model;
        harness.files.StopAt(at);
        RunHistory(harness, model, options, seed, steps);
        if (::testing::Test::HasFatalFailure()) return;
        const size_t at_least = keep == Keep::kEverything ? model.returned : model.promised;
        harness.files.CutPower({.keep = keep, .seed = seed * 1000 + at});
        // Recovery stops as well, somewhere.
        harness.files.StopAt(1 + (seed + at) % 12);
        const bool has_opened = harness.Open(options, model.floor).ok();
        if (has_opened) ExpectPrefix(harness, model, at_least);
        const size_t seen = has_opened ? model.floor + harness.applied.size() : at_least;
        harness.files.CutPower(
            {.keep = keep == Keep::kEverything ? Keep::kNothing : keep, .seed = at});
        ASSERT_OK(harness.Open(options, model.floor));
        ExpectPrefix(harness, model,
                     keep == Keep::kEverything && !has_opened ? model.promised : seen);
        ExpectUsable(harness, model, options);
        if (::testing::Test::HasFailure()) return;
        ++states;
      }
    }
  }
  EXPECT_GT(states, static_cast<uint64_t>(histories) * 100) << "too few states were tried";
}

TEST(LogCrash, SyncedHistoriesKeepWhatWasAcknowledged) {
  CrashEverywhere(SyncMode::kFull, 1, 10, 30);
}

TEST(LogCrash, UnsyncedHistoriesKeepAPrefix) {
  CrashEverywhere(SyncMode::kOff, 1001, 5, 30);
  CrashEverywhere(SyncMode::kInterval, 2001, 1, 30);  // each open starts a thread, which costs
}

// Groups of several batches: writers that race, stopped at some operation.
TEST(LogCrash, GroupsOfRacingWritersKeepWhatWasAcknowledged) {
  const LogOptions options = OptionsOf(SyncMode::kFull);
  size_t grouped = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    for (const Keep keep : {Keep::kNothing, Keep::kRandom, Keep::kPrefix}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << " keep " << static_cast<int>(keep));
      LogHarness harness;
      ASSERT_OK(harness.Open(options));
      harness.sync_delay_us = 30;
      harness.files.StopAt(6 + seed);
      std::atomic<uint64_t> acknowledged{0};  // highest position
      std::atomic<uint64_t> batches{0};
      std::vector<std::thread> writers;
      for (int w = 0; w < 4; ++w) {
        writers.emplace_back([&, w] {
          for (int i = 0;; ++i) {
            const Result<uint64_t> position =
                harness.Append(std::to_string(w) + "/" + std::to_string(i) + std::string(20, '.'));
            if (!position.ok()) return;
            ++batches;
            uint64_t seen = acknowledged.load();
            while (seen < *position && !acknowledged.compare_exchange_weak(seen, *position)) {
            }
          }
        });
      }
      for (std::thread& writer : writers) writer.join();
      if (batches > harness.files.CountOperations(static_cast<uint32_t>(FileOperation::kSync)))
        ++grouped;
      const std::vector<std::string> applied = harness.applied;
      ASSERT_GE(applied.size(), acknowledged);
      harness.files.CutPower({.keep = keep, .seed = seed});
      ASSERT_OK(harness.Open(options));
      ASSERT_GE(harness.applied.size(), applied.size());
      ASSERT_TRUE(std::equal(applied.begin(), applied.end(), harness.applied.begin()));
      const size_t recovered = harness.applied.size();
      harness.files.CutPower({.keep = Keep::kNothing});
      ASSERT_OK(harness.Open(options));
      ASSERT_EQ(harness.applied.size(), recovered);
    }
  }
  EXPECT_GT(grouped, 40u) << "hardly any group had two batches";
}

TEST(LogCrash, ATornTailIsCutByANewFileAndNeverReadAgain) {
  LogHarness harness;
  const LogOptions options = OptionsOf(SyncMode::kFull);
  ASSERT_OK(harness.Open(options));
  ASSERT_OK(harness.Append("one"));
  harness.files.StopAt(1);
  EXPECT_FALSE(harness.Append(std::string(200, 'x')).ok());
  harness.files.CutPower({.keep = Keep::kPrefix, .seed = 5});
  ASSERT_OK(harness.Open(options));
  ASSERT_LE(harness.applied.size(), 2u);
  const size_t recovered = harness.applied.size();
  ASSERT_OK(harness.Append("two"));
  ASSERT_OK(harness.Open(options));
  ASSERT_EQ(harness.applied.size(), recovered + 1);
  EXPECT_EQ(harness.applied.back(), "two");
}

}  // namespace
}  // namespace pigment
