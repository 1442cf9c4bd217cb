// SPDX-License-Identifier: Apache-2.0
//
// Log under failing operations: the n-th of each kind, once and for ever; syncs that lie; full
// disks. And the order of operations, which all of it rests on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/engine/log/log_harness.h"

namespace pigment {
namespace {

using Keep = PowerCut::Keep;

LogOptions SmallFiles() {
  LogOptions options;
  options.file_bytes_max = 300;
  return options;
}

Status DiskFull() { return ResourceExhausted(Detail::kDiskFull, "simulated full disk"); }

TEST(LogFault, EveryFailingOperationLosesNothingThatWasAcknowledged) {
  const std::vector<FileOperation> kinds = {
      FileOperation::kOpen,   FileOperation::kCreate,        FileOperation::kRead,
      FileOperation::kWrite,  FileOperation::kTruncate,      FileOperation::kSync,
      FileOperation::kRename, FileOperation::kSyncDirectory, FileOperation::kList,
      FileOperation::kRemove, FileOperation::kMakeDirectory};
  uint64_t struck = 0;
  for (const FileOperation kind : kinds) {
    for (const bool forever : {false, true}) {
      for (const bool is_full : {false, true}) {
        for (uint64_t at = 1; at < 60; ++at) {
          SCOPED_TRACE(::testing::Message()
                       << "operation " << static_cast<uint32_t>(kind) << " at " << at
                       << (forever ? " for ever" : " once") << (is_full ? " disk full" : " error"));
          LogHarness harness;
          FileFault fault{.operations = static_cast<uint32_t>(kind), .at = at, .forever = forever};
          fault.is_partial = at % 2 == 0;
          if (is_full) fault.error = DiskFull();
          harness.files.SetFault(fault);
          std::vector<std::string> acknowledged;
          std::optional<std::string> unknown;  // failed in a poisoned log: may be there
          if (harness.Open(SmallFiles()).ok()) {
            for (int i = 0; i < 25 && !unknown; ++i) {
              const std::string payload = std::to_string(i) + std::string(60, '-');
              const Result<uint64_t> position = harness.Append(payload);
              if (position.ok()) {
                acknowledged.push_back(payload);
                ASSERT_EQ(*position, acknowledged.size());
              } else if (position.status().detail() == Detail::kPoisoned) {
                unknown = payload;
              }
              if (i == 12) static_cast<void>(harness.log->Purge(0).ok());
            }
          }
          struck += harness.files.faults_met() > 0;
          const bool is_over = harness.files.faults_met() == 0;
          harness.files.SetFault(std::nullopt);
          ASSERT_OK(harness.Open(SmallFiles()));
          std::vector<std::string> with_unknown = acknowledged;
          if (unknown) with_unknown.push_back(*unknown);
          ASSERT_TRUE(harness.applied == acknowledged || harness.applied == with_unknown)
              << harness.applied.size() << " came back, " << acknowledged.size()
              << " were acknowledged";
          // What a reader has seen stays, although the sync that failed may have dropped it.
          const std::vector<std::string> seen = harness.applied;
          harness.files.CutPower({.keep = Keep::kNothing});
          ASSERT_OK(harness.Open(SmallFiles()));
          ASSERT_EQ(harness.applied, seen);
          ASSERT_OK(harness.Append("after"));
          if (is_over) break;  // there are no more operations of this kind
        }
      }
    }
  }
  EXPECT_GT(struck, 300u) << "too few faults struck";
}

TEST(LogFault, AFailedSyncPoisonsAndTellsWhy) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.Append("1"));
  harness.files.SetFault(FileFault{.operations = static_cast<uint32_t>(FileOperation::kSync)});
  for (const char* payload : {"2", "3"}) {
    const Status status = StatusOf(harness.Append(payload));
    EXPECT_CODE(status, Code::kFailedPrecondition);
    EXPECT_EQ(status.detail(), Detail::kPoisoned);
    EXPECT_THAT(status.message(), ::testing::HasSubstr("simulated input/output error"));
    EXPECT_FALSE(status.hint().empty());
  }
  EXPECT_EQ(harness.applied, (std::vector<std::string>{"1"}));
  EXPECT_EQ(harness.log->last_position(), 1u);
  EXPECT_FALSE(harness.log->Close().ok());
}

TEST(LogFault, AFullDiskRefusesLeavesNothingAndRecoversByItself) {
  for (uint64_t capacity = 1; capacity < 900; capacity += 7) {
    for (const Keep keep : {Keep::kNothing, Keep::kEverything, Keep::kRandom}) {
      SCOPED_TRACE(::testing::Message()
                   << "capacity " << capacity << " keep " << static_cast<int>(keep));
      LogHarness harness;
      std::vector<std::string> acknowledged;
      harness.files.SetCapacity(capacity);
      ASSERT_OK(harness.Open(SmallFiles()));
      int refusals = 0, told = 0;
      for (int i = 0; i < 12; ++i) {
        const std::string payload = std::to_string(i) + std::string(50, '-');
        const Result<uint64_t> position = harness.log->Append({.payload = AsBytes(payload),
                                                               .check = [] { return Status::Ok(); },
                                                               .refused = [&told] { ++told; }});
        if (position.ok()) {
          acknowledged.push_back(payload);
          continue;
        }
        EXPECT_CODE(position, Code::kResourceExhausted);
        EXPECT_EQ(position.status().detail(), Detail::kDiskFull);
        ++refusals;
      }
      ASSERT_GT(refusals, 0);
      ASSERT_EQ(told, refusals);
      if (capacity % 2 == 0) {  // space returns while the log is open
        harness.files.SetCapacity(0);
        ASSERT_OK(harness.Append("after"));
        acknowledged.push_back("after");
      }
      harness.files.CutPower({.keep = keep, .seed = capacity});
      ASSERT_OK(harness.Open(SmallFiles())) << "a full disk must not keep the log from opening";
      ASSERT_EQ(harness.applied, acknowledged);
      harness.files.SetCapacity(0);
      ASSERT_OK(harness.Append("again"));
    }
  }
}

TEST(LogFault, AFullDiskThatRefusesToTruncateIsTriedAgain) {
  LogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.Append("1"));
  harness.files.SetFault(FileFault{.operations = static_cast<uint32_t>(FileOperation::kWrite) |
                                                 static_cast<uint32_t>(FileOperation::kTruncate),
                                   .forever = true,
                                   .error = DiskFull(),
                                   .is_partial = true});
  EXPECT_CODE(harness.Append("2"), Code::kResourceExhausted);
  EXPECT_CODE(harness.Append("3"), Code::kResourceExhausted);
  harness.files.SetFault(std::nullopt);
  ASSERT_OK(harness.Append("4"));
  ASSERT_OK(harness.Open());
  EXPECT_EQ(harness.applied, (std::vector<std::string>{"1", "4"}));
}

TEST(LogFault, ABatchIsSyncedBeforeItIsAppliedAndAFileNamedBeforeItIsUsed) {
  LogHarness harness;
  harness.files.StartTrace();
  ASSERT_OK(harness.Open());
  EXPECT_THAT(harness.files.TakeTrace(), ::testing::ElementsAre("mkdir db/log", "syncdir db"));
  ASSERT_OK(harness.Append("abc"));
  EXPECT_THAT(harness.files.TakeTrace(),
              ::testing::ElementsAre(
                  "create db/log/0000000001.log.tmp", "write db/log/0000000001.log.tmp 0+64",
                  "sync db/log/0000000001.log.tmp",
                  "rename db/log/0000000001.log.tmp db/log/0000000001.log", "syncdir db/log",
                  "write db/log/0000000001.log 64+4032", "sync db/log/0000000001.log"));
  uint64_t syncs_at_apply = 0;
  const auto syncs = [&] {
    return harness.files.CountOperations(static_cast<uint32_t>(FileOperation::kSync));
  };
  const uint64_t before = syncs();
  harness.log.reset();
  Result<std::unique_ptr<Log>> log =
      Log::Open(&harness.files, "db/log", LogHarness::kStore, 1, {}, [&](auto, auto) {
        syncs_at_apply = syncs();
        return Status::Ok();
      });
  ASSERT_OK(log);
  ASSERT_OK((*log)->Append({.payload = AsBytes("d"), .check = {}, .refused = {}}));
  EXPECT_EQ(syncs_at_apply, before + 3);  // the file that was not closed, the new file, the batch
}

}  // namespace
}  // namespace pigment
