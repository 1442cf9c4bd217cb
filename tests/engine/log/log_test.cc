// SPDX-License-Identifier: Apache-2.0
//
// Log: what it promises to one process in which nothing goes wrong, and its refusals. Faults and
// crashes are in log_fault_test.cc and log_crash_test.cc.

#include "engine/log/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/base/bytes.h"
#include "engine/base/memory_files.h"
#include "engine/base/record_framing.h"
#include "tests/engine/log/log_harness.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

TEST(Log, ReplayGivesBackWhatWasAcknowledged) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  for (const std::string& payload :
       {std::string("one"), std::string(), std::string(100'000, 'x')}) {
    ASSERT_OK(harness.Append(payload));
  }
  EXPECT_EQ(harness.log->last_position(), 3u);
  ASSERT_OK(harness.log->Close());
  const std::vector<std::string> applied = harness.applied;
  ASSERT_OK(harness.Open());
  EXPECT_EQ(harness.applied, applied);
  EXPECT_EQ(harness.applied[2], std::string(100'000, 'x'));
  EXPECT_EQ(harness.log->last_position(), 3u);
  const Result<uint64_t> position = harness.Append("four");
  ASSERT_OK(position);
  EXPECT_EQ(*position, 4u);
}

TEST(Log, ReplayBeginsBehindTheFloor) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  for (int i = 1; i <= 10; ++i) ASSERT_OK(harness.Append(std::to_string(i)));
  ASSERT_OK(harness.Open({}, 7));
  EXPECT_EQ(harness.applied, (std::vector<std::string>{"8", "9", "10"}));
  ASSERT_OK(harness.Open({}, 10));
  EXPECT_TRUE(harness.applied.empty());
  EXPECT_EQ(harness.log->last_position(), 10u);
  ASSERT_OK(harness.Open({}, kNothingNeeded));
  EXPECT_TRUE(harness.applied.empty());
  EXPECT_EQ(*harness.Append("11"), 11u);
}

TEST(Log, PositionsGoOnBehindAFloorThatTheLogNeverReached) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  for (int i = 1; i <= 3; ++i) ASSERT_OK(harness.Append(std::to_string(i)));
  ASSERT_OK(harness.Open({}, 20));
  EXPECT_EQ(harness.log->last_position(), 20u);
  EXPECT_EQ(*harness.Append("21"), 21u);
  ASSERT_OK(harness.Open({}, 20));
  EXPECT_EQ(harness.applied, (std::vector<std::string>{"21"}));
  EXPECT_CODE(harness.Open({}, 2), Code::kDataLoss);  // 4 to 20 are not there
}

TEST(Log, AFullFileIsClosedAndPurgedWhenNobodyNeedsIt) {
  LogHarness harness;
  LogOptions options;
  options.file_bytes_max = 500;
  ASSERT_OK(harness.Open(options));
  for (int i = 1; i <= 40; ++i)
    ASSERT_OK(harness.Append(std::string(50, static_cast<char>('A' + i))));
  const size_t files = harness.LogFiles().size();
  EXPECT_GT(files, 5u);
  ASSERT_OK(harness.Open(options));
  EXPECT_EQ(harness.applied.size(), 40u);
  ASSERT_OK(harness.log->Purge(20));
  EXPECT_LT(harness.LogFiles().size(), files);
  ASSERT_OK(harness.Open(options, 20));
  EXPECT_EQ(harness.applied.size(), 20u);
  EXPECT_EQ(harness.applied[0], std::string(50, static_cast<char>('A' + 21)));
  const Status hole = StatusOf(harness.Open(options, 3));
  EXPECT_CODE(hole, Code::kDataLoss);
  EXPECT_EQ(hole.detail(), Detail::kMissing);
  ASSERT_OK(harness.Open(options, 20));
  ASSERT_OK(harness.Append("41"));
  ASSERT_OK(harness.log->Purge(41));
  EXPECT_EQ(harness.LogFiles().size(), 1u);  // the last one carries the position on
  ASSERT_OK(harness.Open(options, 41));
  EXPECT_EQ(*harness.Append("42"), 42u);
}

TEST(Log, OpeningAndClosingWithoutWritesMakesNoFile) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.Append("1"));
  ASSERT_OK(harness.log->Close());
  const auto files = harness.LogFiles();
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK(harness.Open());
    ASSERT_OK(harness.log->Close());
  }
  EXPECT_EQ(harness.LogFiles(), files);
  EXPECT_EQ(harness.applied.size(), 1u);
}

TEST(Log, ACheckSeesEarlierBatchesAndItsErrorRefusesItsBatchAlone) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  std::vector<std::string> order;
  const auto append = [&](const std::string& payload, Status verdict) {
    return harness.log->Append(
        {.payload = AsBytes(payload),
         .check =
             [&order, payload, verdict] {
               order.push_back("check " + payload);
               return verdict;
             },
         .refused = [&order, payload] { order.push_back("refused " + payload); }});
  };
  ASSERT_OK(append("a", Status::Ok()));
  EXPECT_CODE(append("b", InvalidArgument("no")), Code::kInvalidArgument);
  EXPECT_EQ(*append("c", Status::Ok()), 2u);  // a refusal leaves no gap
  EXPECT_EQ(order, (std::vector<std::string>{"check a", "check b", "check c"}));
  EXPECT_EQ(harness.applied, (std::vector<std::string>{"a", "c"}));
}

TEST(Log, AThrowingCheckRefusesItsBatch) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  const auto append = [&](std::function<Status()> check) {
    return harness.log->Append({.payload = AsBytes("x"), .check = std::move(check), .refused = {}});
  };
  EXPECT_CODE(append([]() -> Status { throw std::bad_alloc(); }), Code::kResourceExhausted);
  EXPECT_CODE(append([]() -> Status { throw 1; }), Code::kInternal);
  EXPECT_OK(append([] { return Status::Ok(); }));
  EXPECT_EQ(harness.applied.size(), 1u);
}

TEST(Log, AClosedLogTakesNothing) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.Append("1"));
  ASSERT_OK(harness.log->Close());
  const Status status = StatusOf(harness.Append("2"));
  EXPECT_CODE(status, Code::kFailedPrecondition);
  EXPECT_EQ(status.detail(), Detail::kClosed);
  EXPECT_OK(harness.log->Close());
  EXPECT_EQ(harness.applied.size(), 1u);
}

TEST(Log, AReadOnlyLogReplaysAndWritesNothing) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.Append("1"));
  LogOptions options;
  options.read_only = true;
  const uint64_t changes = harness.files.CountOperations(kChangingFileOperations);
  ASSERT_OK(harness.Open(options));
  EXPECT_EQ(harness.applied, (std::vector<std::string>{"1"}));
  const Status status = StatusOf(harness.Append("2"));
  EXPECT_CODE(status, Code::kFailedPrecondition);
  EXPECT_EQ(status.detail(), Detail::kReadOnly);
  EXPECT_OK(harness.log->Sync());
  EXPECT_OK(harness.log->Close());
  EXPECT_EQ(harness.files.CountOperations(kChangingFileOperations), changes);
}

TEST(Log, AnApplyErrorPoisons) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.Append("1"));
  harness.apply_error = Internal("cannot apply");
  for (const char* payload : {"2", "3"}) {
    const Status status = StatusOf(harness.Append(payload));
    EXPECT_CODE(status, Code::kFailedPrecondition);
    EXPECT_EQ(status.detail(), Detail::kPoisoned);
    EXPECT_NE(status.message().find("cannot apply"), std::string::npos) << status.ToString();
  }
  EXPECT_EQ(harness.log->last_position(), 1u);
}

TEST(Log, ABatchBeyondTheLimitIsRefused) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  const std::byte one{};
  const Status status = StatusOf(harness.log->Append(
      {.payload = {&one, kRecordPayloadBytesMax + 1}, .check = {}, .refused = {}}));
  EXPECT_CODE(status, Code::kResourceExhausted);
  EXPECT_EQ(status.detail(), Detail::kLimit);
}

TEST(Log, AFileOfANewerFormatIsNamedWithBothVersions) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.Append("1"));
  harness.log.reset();
  const std::string newer = EncodeFramedHeader({.kind = FramedKind::kLog,
                                                .version = 9,
                                                .store = LogHarness::kStore,
                                                .number = 1,
                                                .first_position = 1});
  harness.Overwrite(harness.LogFiles().front(), 0, newer);
  const Status status = StatusOf(harness.Open());
  EXPECT_CODE(status, Code::kVersionMismatch);
  EXPECT_NE(status.message().find("version 9"), std::string::npos) << status.ToString();
  EXPECT_NE(status.message().find("up to 2"), std::string::npos) << status.ToString();
}

TEST(Log, AFileOfAnotherStoreIsForeign) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.Append("1"));
  harness.log.reset();
  auto store = LogHarness::kStore;
  store[0] = std::byte{77};
  const auto opened =
      Log::Open(&harness.files, "db/log", store, 0, {}, [](auto, auto) { return Status::Ok(); });
  EXPECT_CODE(opened, Code::kDataLoss);
  EXPECT_EQ(opened.status().detail(), Detail::kForeign);
}

TEST(Log, AnEmptyLogBelowAFloorIsALoss) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.Append("1"));
  harness.log.reset();
  ASSERT_OK(harness.files.Remove("db/log/" + harness.LogFiles().front()));
  const Status status = StatusOf(harness.Open({}, 1));
  EXPECT_CODE(status, Code::kDataLoss);
  EXPECT_EQ(status.detail(), Detail::kMissing);
}

TEST(Log, EightWritersShareSyncsAndEachSeesItsOwnPosition) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  harness.sync_delay_us = 300;
  constexpr int kWriters = 8, kBatches = 100;
  std::vector<std::thread> writers;
  std::vector<std::vector<uint64_t>> positions(kWriters);
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < kBatches; ++i) {
        const Result<uint64_t> position =
            harness.Append(std::to_string(w) + "/" + std::to_string(i));
        ASSERT_OK(position);
        EXPECT_GE(harness.log->last_position(), *position);
        positions[w].push_back(*position);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  ASSERT_EQ(harness.applied.size(), size_t{kWriters * kBatches});
  for (int w = 0; w < kWriters; ++w) {
    for (int i = 0; i < kBatches; ++i) {
      EXPECT_EQ(harness.applied[positions[w][i] - 1], std::to_string(w) + "/" + std::to_string(i));
    }
  }
  const uint64_t syncs = harness.files.CountOperations(static_cast<uint32_t>(FileOperation::kSync));
  EXPECT_LT(syncs, kWriters * kBatches / 2u) << "writers do not share syncs";
  EXPECT_GE(syncs, 100u);  // each writer waits for its own
}

TEST(Log, ACloseRacesEightWritersAndLosesNothingThatWasAcknowledged) {
  for (int round = 0; round < 20; ++round) {
    LogHarness harness;
    ASSERT_OK(harness.Open());
    std::atomic<uint64_t> acknowledged{0};
    std::atomic<bool> has_begun{false};
    std::vector<std::thread> writers;
    for (int w = 0; w < 8; ++w) {
      writers.emplace_back([&] {
        while (true) {
          const Result<uint64_t> position = harness.Append("x");
          if (!position.ok()) {
            EXPECT_EQ(position.status().detail(), Detail::kClosed) << position.status().ToString();
            return;
          }
          ++acknowledged;
          has_begun = true;
        }
      });
    }
    while (!has_begun) std::this_thread::yield();
    ASSERT_OK(harness.log->Close());
    for (std::thread& writer : writers) writer.join();
    harness.files.CutPower({.keep = PowerCut::Keep::kNothing});
    ASSERT_OK(harness.Open());
    EXPECT_EQ(harness.applied.size(), acknowledged);
  }
}

TEST(Log, IntervalModeSyncsWhenItsTimeHasComeAndNotBefore) {
  ManualClock clock;
  LogHarness harness;
  LogOptions options;
  options.sync_mode = SyncMode::kInterval;
  options.interval_ms = 50;
  options.clock = &clock;
  ASSERT_OK(harness.Open(options));
  ASSERT_OK(harness.Append("1"));
  const auto syncs = [&] {
    return harness.files.CountOperations(static_cast<uint32_t>(FileOperation::kSync));
  };
  const uint64_t before = syncs();  // the new file's
  ASSERT_OK(harness.Append("2"));
  clock.Advance(49'000'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(syncs(), before);
  clock.Advance(1'000'000);
  for (int i = 0; i < 5000 && syncs() == before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(syncs(), before + 1);
  ASSERT_OK(harness.log->Sync());
  harness.files.CutPower({.keep = PowerCut::Keep::kNothing});
  ASSERT_OK(harness.Open(options));
  EXPECT_EQ(harness.applied.size(), 2u);
}

TEST(Log, WithoutSyncsACloseStillMakesEverythingDurable) {
  LogHarness harness;
  LogOptions options;
  options.sync_mode = SyncMode::kOff;
  options.file_bytes_max = 300;
  ASSERT_OK(harness.Open(options));
  for (int i = 0; i < 20; ++i) ASSERT_OK(harness.Append(std::string(30, 'x')));
  ASSERT_OK(harness.log->Close());
  harness.files.CutPower({.keep = PowerCut::Keep::kNothing});
  ASSERT_OK(harness.Open(options));
  EXPECT_EQ(harness.applied.size(), 20u);
}

TEST(Log, AReaderBesideAWriterSeesAPrefixThatIsNotOlderThanItsOpening) {
  LogHarness harness;
  LogOptions options;
  options.file_bytes_max = 300;
  ASSERT_OK(harness.Open(options));
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    for (int i = 1; i <= 600; ++i) ASSERT_OK(harness.Append(std::to_string(i)));
    is_over = true;
  });
  LogOptions reading;
  reading.read_only = true;
  int reads = 0;
  while (!is_over || reads == 0) {
    const uint64_t before = harness.log->last_position();
    uint64_t seen = 0;
    const auto reader = Log::Open(&harness.files, "db/log", LogHarness::kStore, 0, reading,
                                  [&](uint64_t position, std::span<const std::byte> payload) {
                                    EXPECT_EQ(position, ++seen);
                                    EXPECT_EQ(AsText(payload), std::to_string(position));
                                    return Status::Ok();
                                  });
    EXPECT_OK(reader);
    EXPECT_GE(seen, before);
    ++reads;
  }
  writer.join();
}

}  // namespace
}  // namespace pigment
