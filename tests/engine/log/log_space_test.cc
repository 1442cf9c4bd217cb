// SPDX-License-Identifier: Apache-2.0
//
// The space of a log: what it allocates ahead and gives back, files that end in zeros, files of
// version 1, rotation, erasing, and the statistics that show all of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "engine/base/record_framing.h"
#include "tests/engine/log/log_harness.h"

namespace pigment {
namespace {

using Keep = PowerCut::Keep;

std::string Payload(int i) { return std::to_string(i) + std::string(60, '-'); }

// Writes the files of a log as version 1 did: another number in the header, another seed.
void MakeVersion1(LogHarness& harness) {
  for (const std::string& name : harness.LogFiles()) {
    std::string bytes = harness.Contents(name);
    const Result<FramedHeader> header =
        DecodeFramedHeader(AsBytes(bytes), FramedKind::kLog, 2, "db/log/" + name);
    ASSERT_OK(header);
    FramedHeader old = *header;
    old.version = 1;
    std::string written = EncodeFramedHeader(old);
    while (const auto record = DecodeRecord(AsBytes(bytes), *header, written.size()))
      AppendRecord(&written, old, written.size(), *record);
    harness.Overwrite(name, 0, written);
  }
}

TEST(LogSpace, ASyncOfASmallBatchFindsItsBytesAllocated) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  uint64_t grown = 0, size = 0;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_OK(harness.Append(Payload(i)));
    const uint64_t now = harness.Contents(harness.LogFiles().front()).size();
    grown += now != size;
    size = now;
  }
  EXPECT_LT(grown, 12u) << "most syncs must not change the file's size";
  const LogStatistics statistics = harness.log->statistics();
  EXPECT_EQ(statistics.allocated_bytes, size);
  EXPECT_LE(statistics.allocated_bytes, 2 * statistics.bytes + 4096);
}

TEST(LogSpace, ASmallLogStaysSmallAndCloseGivesTheRestBack) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.Append(Payload(1)));
  EXPECT_EQ(harness.log->statistics().allocated_bytes, 4096u);
  ASSERT_OK(harness.log->Close());
  const std::string name = harness.LogFiles().front();
  EXPECT_EQ(harness.Contents(name).size(),
            kFramedHeaderBytes + 2 * kRecordFrameBytes + Payload(1).size());
}

TEST(LogSpace, OnlySyncedSmallGroupsAllocate) {
  LogHarness harness;
  LogOptions options;
  options.sync_mode = SyncMode::kOff;
  ASSERT_OK(harness.Open(options));
  ASSERT_OK(harness.Append("abc"));
  EXPECT_EQ(harness.Contents(harness.LogFiles().front()).size(),
            kFramedHeaderBytes + kRecordFrameBytes + 3);
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.Append(std::string(1 << 20, 'x')));
  EXPECT_EQ(harness.log->statistics().allocated_bytes, harness.log->statistics().bytes);
}

TEST(LogSpace, FilesOfVersion1AreReadAndFollowedByNewOnes) {
  LogHarness harness;
  LogOptions options;
  options.file_bytes_max = 300;
  ASSERT_OK(harness.Open(options));
  for (int i = 0; i < 20; ++i) ASSERT_OK(harness.Append(Payload(i)));
  const std::vector<std::string> applied = harness.applied;
  harness.log.reset();
  MakeVersion1(harness);
  ASSERT_OK(harness.Open(options));
  EXPECT_EQ(harness.applied, applied);
  ASSERT_OK(harness.Append("after"));
  ASSERT_OK(harness.Open(options));
  EXPECT_EQ(harness.applied.size(), applied.size() + 1);
}

TEST(LogSpace, AZeroPageWithinWhatWasProvenIsDamage) {
  for (const bool is_version_1 : {false, true}) {
    LogHarness harness;
    ASSERT_OK(harness.Open());
    for (int i = 0; i < 400; ++i) ASSERT_OK(harness.Append(Payload(i)));
    harness.log.reset();
    if (is_version_1) MakeVersion1(harness);
    const std::string name = harness.LogFiles().front();
    const std::string whole = harness.Contents(name);
    const uint64_t last = whole.find(Payload(399)) - kRecordHeadBytes;
    uint64_t reported = 0;
    for (uint64_t page = 0; page < whole.size(); page += 4096) {
      SCOPED_TRACE(::testing::Message() << "page at " << page << " of " << whole.size());
      std::string damaged = whole;
      const size_t bytes = std::min<size_t>(4096, whole.size() - page);
      damaged.replace(page, bytes, std::string(bytes, '\0'));
      harness.log.reset();
      for (const std::string& other : harness.LogFiles()) {
        if (other != name) ASSERT_OK(harness.files.Remove("db/log/" + other));
      }
      harness.Replace(name, damaged);
      const Status status = harness.Open();
      if (page + 4096 <= last) {  // something that proves it lies behind
        EXPECT_CODE(status, Code::kDataLoss);
        EXPECT_EQ(status.file(), "db/log/" + name);
        ++reported;
      } else {
        ASSERT_OK(status);
        EXPECT_GE(harness.applied.size(), 398u - 4096 / Payload(0).size());
      }
    }
    EXPECT_GE(reported, 8u);
  }
}

TEST(LogSpace, ABitInTheAllocatedEndChangesNothing) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  for (int i = 0; i < 3; ++i) ASSERT_OK(harness.Append(Payload(i)));
  const std::vector<std::string> applied = harness.applied;
  const std::string name = harness.LogFiles().front();
  const uint64_t end = harness.log->statistics().bytes;
  harness.log.reset();
  const std::string whole = harness.Contents(name);
  ASSERT_GT(whole.size(), end + 100);
  for (uint64_t offset = end; offset < whole.size(); offset += 37) {
    std::string damaged = whole;
    damaged[offset] = '\x01';
    harness.log.reset();
    for (const std::string& other : harness.LogFiles()) {
      if (other != name) ASSERT_OK(harness.files.Remove("db/log/" + other));
    }
    harness.Replace(name, damaged);
    ASSERT_OK(harness.Open());
    ASSERT_EQ(harness.applied, applied) << offset;
  }
}

TEST(LogSpace, WhereTheDiskHasRoomForTheBatchAloneItIsTaken) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.Append(Payload(0)));
  harness.files.SetCapacity(4096 + 300);  // the next step ahead does not fit
  std::vector<std::string> acknowledged = {Payload(0)};
  for (int i = 1; i < 100; ++i) {
    const Result<uint64_t> position = harness.Append(Payload(i));
    if (!position.ok()) {
      EXPECT_EQ(position.status().detail(), Detail::kDiskFull);
      break;
    }
    acknowledged.push_back(Payload(i));
  }
  EXPECT_GT(harness.log->statistics().bytes, 4200u) << "the last bytes of the disk are used";
  harness.files.CutPower({.keep = Keep::kNothing});
  ASSERT_OK(harness.Open());
  EXPECT_EQ(harness.applied, acknowledged);
}

TEST(LogSpace, ARotationLetsAPurgeTakeEverything) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.log->Rotate());
  EXPECT_TRUE(harness.LogFiles().empty()) << "nothing was written yet";
  for (int i = 0; i < 10; ++i) ASSERT_OK(harness.Append(Payload(i)));
  ASSERT_OK(harness.log->Purge(10));
  EXPECT_GT(harness.log->statistics().bytes, 600u);
  ASSERT_OK(harness.log->Rotate());
  ASSERT_OK(harness.log->Rotate()) << "an empty file is not rotated";
  EXPECT_EQ(harness.LogFiles().size(), 2u);
  ASSERT_OK(harness.log->Purge(9));
  EXPECT_EQ(harness.LogFiles().size(), 2u) << "the batch above the floor keeps its file";
  ASSERT_OK(harness.log->Purge(10));
  EXPECT_EQ(harness.LogFiles().size(), 1u);
  EXPECT_EQ(harness.log->statistics().bytes, kFramedHeaderBytes);
  ASSERT_OK(harness.Append("after"));
  harness.files.CutPower({.keep = Keep::kEverything});
  ASSERT_OK(harness.Open({}, 10));
  EXPECT_EQ(harness.applied, (std::vector<std::string>{"after"}));
  // Also what replay read, before anything is written.
  ASSERT_OK(harness.log->Rotate());
  ASSERT_OK(harness.log->Purge(11));
  EXPECT_EQ(harness.LogFiles().size(), 1u);
  ASSERT_OK(harness.Open({}, 11));
  EXPECT_EQ(*harness.Append("more"), 12u);
}

TEST(LogSpace, WithoutSyncsARotationStillMakesItsFileDurable) {
  LogHarness harness;
  LogOptions options;
  options.sync_mode = SyncMode::kOff;
  ASSERT_OK(harness.Open(options));
  for (int i = 0; i < 10; ++i) ASSERT_OK(harness.Append(Payload(i)));
  ASSERT_OK(harness.log->Rotate());
  harness.files.CutPower({.keep = Keep::kNothing});
  ASSERT_OK(harness.Open(options));
  EXPECT_EQ(harness.applied.size(), 10u);
}

TEST(LogSpace, APurgeThatErasesLeavesNoTextInAnyBlock) {
  LogHarness harness;
  LogOptions options;
  options.is_erasing = true;
  options.file_bytes_max = 3000;
  ASSERT_OK(harness.Open(options));
  for (int i = 0; i < 100; ++i) ASSERT_OK(harness.Append("secret " + Payload(i)));
  ASSERT_OK(harness.log->Rotate());
  std::vector<std::unique_ptr<File>> held;  // their bytes are what the freed blocks hold
  for (const std::string& name : harness.LogFiles())
    held.push_back(*harness.files.Open("db/log/" + name, OpenMode::kRead));
  ASSERT_GT(held.size(), 3u);
  ASSERT_OK(harness.log->Purge(100));
  EXPECT_EQ(harness.LogFiles().size(), 1u);
  for (const auto& file : held) {
    std::string bytes(*file->Size(), '\0');
    ASSERT_OK(file->ReadAt(0, std::as_writable_bytes(std::span(bytes))));
    EXPECT_EQ(bytes.find("secret"), std::string::npos) << file->path();
  }
  EXPECT_GT(harness.log->statistics().erased_bytes, 100 * Payload(0).size());
}

TEST(LogSpace, AnErasingPurgeMayBeCutShortAnywhere) {
  for (uint64_t at = 1; at < 200; ++at) {
    for (const Keep keep : {Keep::kNothing, Keep::kEverything, Keep::kRandom}) {
      SCOPED_TRACE(::testing::Message() << "at " << at << " keep " << static_cast<int>(keep));
      LogHarness harness;
      LogOptions options;
      options.is_erasing = true;
      options.file_bytes_max = 1000;
      ASSERT_OK(harness.Open(options));
      for (int i = 0; i < 40; ++i) ASSERT_OK(harness.Append(Payload(i)));
      harness.files.StopAt(at);
      const bool is_whole = harness.log->Purge(30).ok() && harness.log->Rotate().ok();
      harness.files.CutPower({.keep = keep, .seed = at});
      ASSERT_OK(harness.Open(options, 30));
      EXPECT_EQ(harness.applied.size(), 10u);
      ASSERT_OK(harness.Append("after"));
      if (is_whole) return;
    }
  }
  FAIL() << "the purge never came to its end";
}

TEST(LogSpace, TheStatisticsCount) {
  LogHarness harness;
  LogOptions options;
  options.file_bytes_max = 1000;
  ASSERT_OK(harness.Open(options));
  EXPECT_EQ(harness.log->statistics().files, 0u);
  for (int i = 0; i < 30; ++i) ASSERT_OK(harness.Append(Payload(i)));
  EXPECT_FALSE(harness.log
                   ->Append({.payload = AsBytes("x"),
                             .check = [] { return InvalidArgument("no"); },
                             .refused = {}})
                   .ok());
  LogStatistics statistics = harness.log->statistics();
  EXPECT_EQ(statistics.sync_mode, SyncMode::kFull);
  EXPECT_EQ(statistics.position, 30u);
  EXPECT_EQ(statistics.synced_position, 30u);
  EXPECT_EQ(statistics.files, harness.LogFiles().size());
  EXPECT_EQ(statistics.batches, 30u);
  EXPECT_EQ(statistics.refused_batches, 1u);
  EXPECT_EQ(statistics.groups, 30u);
  EXPECT_GE(statistics.syncs, 30u);
  EXPECT_GT(statistics.sync_ns, 0);
  EXPECT_EQ(statistics.waiting_calls, 0u);
  EXPECT_OK(statistics.poison);
  EXPECT_GE(statistics.bytes, 30 * (Payload(0).size() + kRecordFrameBytes));
  uint64_t sizes = 0;
  for (const std::string& name : harness.LogFiles()) sizes += harness.Contents(name).size();
  EXPECT_EQ(statistics.allocated_bytes, sizes);
  const uint64_t files = statistics.files;
  ASSERT_OK(harness.log->Purge(20));
  statistics = harness.log->statistics();
  EXPECT_EQ(statistics.purges, 1u);
  EXPECT_EQ(statistics.files, harness.LogFiles().size());
  EXPECT_EQ(statistics.purged_files, files - statistics.files);
  ASSERT_OK(harness.Open(options, 20));
  EXPECT_EQ(harness.log->statistics().files, harness.LogFiles().size());
  harness.files.SetFault(FileFault{.operations = static_cast<uint32_t>(FileOperation::kSync)});
  EXPECT_FALSE(harness.Append("lost").ok());
  EXPECT_EQ(harness.log->statistics().poison.detail(), Detail::kPoisoned);
  EXPECT_EQ(harness.log->statistics().synced_position, 30u);
  EXPECT_EQ(harness.log->statistics().refused_batches, 1u);
}

TEST(LogSpace, StatisticsShowWhatIsNotSyncedYet) {
  LogHarness harness;
  LogOptions options;
  options.sync_mode = SyncMode::kOff;
  ASSERT_OK(harness.Open(options));
  for (int i = 0; i < 5; ++i) ASSERT_OK(harness.Append(Payload(i)));
  EXPECT_EQ(harness.log->statistics().position, 5u);
  EXPECT_EQ(harness.log->statistics().synced_position, 0u);
  ASSERT_OK(harness.log->Sync());
  EXPECT_EQ(harness.log->statistics().synced_position, 5u);
}

TEST(LogSpace, StatisticsAreReadWhileWritersWait) {
  LogHarness harness;
  LogOptions options;
  options.file_bytes_max = 4000;
  ASSERT_OK(harness.Open(options));
  harness.sync_delay_us = 200;
  std::atomic<int> running{4};
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) ASSERT_OK(harness.Append(Payload(i)));
      --running;
    });
  }
  uint64_t waiting_max = 0, position = 0;
  while (running > 0) {
    const LogStatistics statistics = harness.log->statistics();
    waiting_max = std::max(waiting_max, statistics.waiting_calls);
    ASSERT_GE(statistics.position, position);
    ASSERT_GE(statistics.synced_position, statistics.position) << "applied before it was durable";
    position = statistics.position;
    if (position > 100) ASSERT_OK(harness.log->Purge(position - 100));
    std::this_thread::yield();
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_GE(waiting_max, 2u);
  EXPECT_LE(waiting_max, 4u);
  EXPECT_EQ(harness.log->statistics().batches, 200u);
  EXPECT_LE(harness.log->statistics().groups, 200u);
}

}  // namespace
}  // namespace pigment
