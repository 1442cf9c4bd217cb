// SPDX-License-Identifier: Apache-2.0
//
// DiskReserve: made, given back, made again, and never half there.

#include "engine/base/disk_reserve.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "engine/base/disk_files.h"
#include "engine/base/memory_files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

using Keep = PowerCut::Keep;

class DiskReserveTest : public ::testing::Test {
 protected:
  DiskReserveTest() {
    EXPECT_OK(files_.MakeDirectory("db"));
    EXPECT_OK(files_.SyncDirectory("."));
  }
  uint64_t Size() {
    const auto file = files_.Open("db/RESERVE", OpenMode::kRead);
    return file.ok() ? *(*file)->Size() : 0;
  }

  MemoryFileSystem files_{MemoryFileSystem::Kind::kSimulated};
};

TEST_F(DiskReserveTest, IsMadeAtOpenGivenOnceAndMadeAgain) {
  DiskReserve reserve(&files_, "db", 1000);
  EXPECT_FALSE(reserve.is_held());
  ASSERT_OK(reserve.Open());
  EXPECT_EQ(Size(), 1000u);
  EXPECT_TRUE(reserve.is_held());
  ASSERT_OK(reserve.Require());
  files_.SetCapacity(files_.used_bytes());
  EXPECT_TRUE(reserve.Release());
  EXPECT_FALSE(reserve.is_held());
  EXPECT_EQ(files_.used_bytes(), 0u);
  EXPECT_FALSE(reserve.Release()) << "there is nothing left to give";
  ASSERT_OK(reserve.Require());
  EXPECT_EQ(Size(), 1000u);
}

TEST_F(DiskReserveTest, WithoutRoomItIsRequiredInVainAndLeavesNothing) {
  files_.SetCapacity(500);
  DiskReserve reserve(&files_, "db", 1000);
  ASSERT_OK(reserve.Open()) << "a full disk does not keep a store from opening";
  for (int i = 0; i < 3; ++i) {
    const Status status = reserve.Require();
    EXPECT_CODE(status, Code::kResourceExhausted);
    EXPECT_EQ(status.detail(), Detail::kDiskFull);
    EXPECT_EQ(status.file(), "db/RESERVE");
    EXPECT_FALSE(status.hint().empty());
    EXPECT_EQ(files_.used_bytes(), 0u);
  }
  EXPECT_FALSE(reserve.Release());
  files_.SetCapacity(0);
  EXPECT_OK(reserve.Require());
  EXPECT_TRUE(reserve.Release());
}

TEST_F(DiskReserveTest, WithoutBytesThereIsNone) {
  {
    DiskReserve before(&files_, "db", 1000);
    ASSERT_OK(before.Open());
  }
  DiskReserve none(&files_, "db", 0);
  ASSERT_OK(none.Open());
  EXPECT_FALSE(*files_.Exists("db/RESERVE")) << "the file of earlier options goes";
  files_.SetCapacity(1);
  EXPECT_OK(none.Require());
  EXPECT_FALSE(none.Release());
}

TEST_F(DiskReserveTest, WhatACrashLeavesIsMadeWhole) {
  for (uint64_t at = 1; at < 6; ++at) {
    for (const Keep keep : {Keep::kNothing, Keep::kEverything, Keep::kRandom}) {
      SCOPED_TRACE(::testing::Message() << at << " " << static_cast<int>(keep));
      files_.StopAt(at);
      DiskReserve dying(&files_, "db", 1000);
      static_cast<void>(dying.Open().ok());
      files_.CutPower({.keep = keep, .seed = at});
      DiskReserve reserve(&files_, "db", 1000);
      ASSERT_OK(reserve.Open());
      EXPECT_TRUE(reserve.is_held());
      EXPECT_EQ(Size(), 1000u);
      ASSERT_OK(files_.Remove("db/RESERVE"));
      ASSERT_OK(files_.SyncDirectory("db"));
    }
  }
}

TEST_F(DiskReserveTest, AnErrorThatIsNotAFullDiskIsTold) {
  files_.SetFault(FileFault{.operations = static_cast<uint32_t>(FileOperation::kAllocate)});
  DiskReserve reserve(&files_, "db", 1000);
  EXPECT_CODE(reserve.Open(), Code::kUnavailable);
  EXPECT_FALSE(reserve.is_held());
  EXPECT_OK(reserve.Require());
}

TEST_F(DiskReserveTest, OnADiskItsBytesAreReal) {
  TemporaryDirectory directory;
  DiskReserve reserve(DiskFiles(), directory.path(), 1 << 20);
  ASSERT_OK(reserve.Open());
  const auto blocks = [&] {
    struct stat status {};
    EXPECT_EQ(stat((directory / "RESERVE").c_str(), &status), 0);
    return status.st_blocks * 512;
  };
  EXPECT_GE(blocks(), 1 << 20);
  // As a copy that made holes of zeros leaves it.
  ASSERT_EQ(truncate((directory / "RESERVE").c_str(), 0), 0);
  ASSERT_EQ(truncate((directory / "RESERVE").c_str(), 1 << 20), 0);
  ASSERT_LT(blocks(), 1 << 20);
  DiskReserve again(DiskFiles(), directory.path(), 1 << 20);
  ASSERT_OK(again.Open());
  EXPECT_GE(blocks(), 1 << 20);
}

}  // namespace
}  // namespace pigment
