// SPDX-License-Identifier: Apache-2.0
//
// The log on a full disk with a reserve: what takes data away goes through, what adds data is
// refused alone, and everything is as before when there is space again.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/base/disk_reserve.h"
#include "tests/engine/log/log_harness.h"

namespace pigment {
namespace {

constexpr uint64_t kReserveBytes = 20'000;

class LogReserve : public ::testing::Test {
 protected:
  LogReserve() : reserve_(&harness_.files, "db", kReserveBytes) {
    options_.reserve = &reserve_;
    EXPECT_OK(reserve_.Open());
    EXPECT_OK(harness_.Open(options_));
  }
  void FillDisk() { harness_.files.SetCapacity(harness_.files.used_bytes()); }
  Result<uint64_t> Delete(std::string_view payload) {
    return harness_.log->Append(
        {.payload = AsBytes(payload), .check = {}, .refused = {}, .may_use_reserve = true});
  }

  LogHarness harness_;
  LogOptions options_;
  DiskReserve reserve_;
};

TEST_F(LogReserve, DeletesGoThroughAndInsertsAreRefusedUntilSpaceReturns) {
  ASSERT_OK(harness_.Append(std::string(5000, 'x')));
  FillDisk();
  const Status refused = StatusOf(harness_.Append(std::string(50'000, 'y')));
  EXPECT_CODE(refused, Code::kResourceExhausted);
  EXPECT_EQ(refused.detail(), Detail::kDiskFull);
  EXPECT_NE(refused.message().find("db/log/"), std::string::npos) << refused.ToString();
  EXPECT_TRUE(reserve_.is_held()) << "an insert does not take the reserve";
  FillDisk();  // the refusal gave back what was allocated ahead
  for (int i = 0; i < 100; ++i) ASSERT_OK(Delete("delete " + std::to_string(i)));
  EXPECT_FALSE(reserve_.is_held());
  const Status spent = StatusOf(harness_.Append("a"));
  EXPECT_EQ(spent.detail(), Detail::kDiskFull);
  EXPECT_NE(spent.message().find("RESERVE"), std::string::npos) << spent.ToString();
  EXPECT_FALSE(spent.hint().empty());
  const std::vector<std::string> applied = harness_.applied;
  EXPECT_EQ(applied.size(), 101u);
  harness_.files.CutPower({.keep = PowerCut::Keep::kNothing});
  ASSERT_OK(harness_.Open(options_)) << "with a full disk";
  EXPECT_EQ(harness_.applied, applied);
  EXPECT_EQ(StatusOf(harness_.Append("b")).detail(), Detail::kDiskFull);
  harness_.files.SetCapacity(0);
  ASSERT_OK(harness_.Append("c"));
  EXPECT_TRUE(reserve_.is_held()) << "made again by the first write that finds room";
}

TEST_F(LogReserve, ALogWithoutAFileStillDeletes) {
  ASSERT_OK(harness_.Append("1"));
  ASSERT_OK(harness_.log->Close());
  ASSERT_OK(harness_.Open(options_));
  FillDisk();
  EXPECT_EQ(StatusOf(harness_.Append("2")).detail(), Detail::kDiskFull);
  ASSERT_OK(Delete("delete"));
  ASSERT_OK(harness_.Open(options_));
  EXPECT_EQ(harness_.applied, (std::vector<std::string>{"1", "delete"}));
}

TEST_F(LogReserve, ItLastsForManyDeletesAndThenRefusesThemToo) {
  FillDisk();
  uint64_t deletes = 0;
  Status last;
  while (last.ok() && deletes < 10'000) {
    last = StatusOf(Delete("delete"));
    deletes += last.ok();
  }
  EXPECT_EQ(last.detail(), Detail::kDiskFull);
  EXPECT_GT(deletes, kReserveBytes / 50);
  ASSERT_OK(harness_.Open(options_));
  EXPECT_EQ(harness_.applied.size(), deletes);
}

TEST_F(LogReserve, InAMixedGroupTheInsertsAreRefusedAlone) {
  for (int round = 0; round < 30; ++round) {
    harness_.files.SetCapacity(0);
    ASSERT_OK(harness_.Append("before"));
    ASSERT_TRUE(reserve_.is_held());
    FillDisk();
    harness_.sync_delay_us = 500;
    std::atomic<int> deleted{0}, refused{0}, told{0};
    std::vector<std::thread> writers;
    for (int w = 0; w < 6; ++w) {
      writers.emplace_back([&, w] {
        for (int i = 0; i < 3; ++i) {
          if (w % 2 == 0) {
            deleted += Delete("delete").ok();
            continue;
          }
          const std::string payload(4000, 'x');
          const Status status = StatusOf(harness_.log->Append(
              {.payload = AsBytes(payload),
               .check = [] { return Status::Ok(); },
               .refused = [&told] { ++told; }}));
          if (!status.ok()) {
            EXPECT_EQ(status.detail(), Detail::kDiskFull) << status.ToString();
          }
          refused += !status.ok();
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    ASSERT_EQ(deleted, 9) << "an insert took a delete down with it";
    ASSERT_EQ(refused, 9);
    ASSERT_LE(told, 9);
    harness_.sync_delay_us = 0;
  }
  const size_t count = harness_.applied.size();
  ASSERT_OK(harness_.Open(options_));
  EXPECT_EQ(harness_.applied.size(), count);
  for (const std::string& payload : harness_.applied) EXPECT_LT(payload.size(), 4000u);
}

}  // namespace
}  // namespace pigment
