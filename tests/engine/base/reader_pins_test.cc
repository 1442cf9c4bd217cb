// SPDX-License-Identifier: Apache-2.0
//
// PinnedRemovals: what goes at once, what waits, and for whom.

#include "engine/base/reader_pins.h"

#include <gtest/gtest.h>

#include "engine/base/memory_files.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

class Removals : public ::testing::Test {
 protected:
  Removals() {
    EXPECT_OK(files_.MakeDirectory("db"));
    lock_ = files_.Lock(LockPath("db"), "the writer").value();
    for (const char* name : {"a", "b", "c", "d"}) {
      EXPECT_OK(files_.Open(std::string("db/") + name, OpenMode::kCreate));
    }
  }
  std::string Names() {
    std::string names;
    for (const std::string& name : files_.List("db").value()) {
      if (name != "LOCK") names += name;
    }
    return names;
  }
  std::unique_ptr<FileLock> Pin(uint64_t position) {
    return files_.PinPosition(LockPath("db"), position).value();
  }

  MemoryFileSystem files_{MemoryFileSystem::Kind::kSimulated};
  std::unique_ptr<FileLock> lock_;
  PinnedRemovals removals_{&files_, LockPath("db")};
};

TEST_F(Removals, WithoutReadersAFileGoesAtOnce) {
  EXPECT_OK(removals_.Remove({"db/a", "db/c"}, 5));
  EXPECT_EQ(Names(), "bd");
  EXPECT_EQ(removals_.waiting(), 0u);
}

TEST_F(Removals, EachFileWaitsForThoseBelowItsOwnPositionAlone) {
  auto five = Pin(5);
  auto eight = Pin(8);
  EXPECT_OK(removals_.Remove({"db/a"}, 5));  // a reader at 5 has the edit that dropped it
  EXPECT_OK(removals_.Remove({"db/b"}, 6));
  EXPECT_OK(removals_.Remove({"db/c"}, 8));
  EXPECT_OK(removals_.Remove({"db/d"}, 9));
  EXPECT_EQ(Names(), "bcd");
  five.reset();
  EXPECT_OK(removals_.RemoveUnpinned());
  EXPECT_EQ(Names(), "d");
  EXPECT_EQ(removals_.waiting(), 1u);
  eight.reset();
  EXPECT_EQ(Names(), "d");
  EXPECT_OK(removals_.RemoveUnpinned());
  EXPECT_EQ(Names(), "");
}

TEST_F(Removals, WhoIsStillLookingKeepsEverything) {
  auto looking = Pin(kLookingPosition);
  EXPECT_OK(removals_.Remove({"db/a"}, kFirstPosition));
  EXPECT_OK(removals_.Remove({"db/b"}, 1000));
  EXPECT_EQ(Names(), "abcd");
  looking.reset();
  EXPECT_OK(removals_.Remove({"db/c"}, 1001));
  EXPECT_EQ(Names(), "d");
}

TEST_F(Removals, WhereNobodyKnowsWhoIsPinnedTheFilesWait) {
  files_.SetFault(FileFault{.operations = static_cast<uint32_t>(FileOperation::kLock),
                            .forever = true});
  EXPECT_OK(removals_.Remove({"db/a"}, 3));
  EXPECT_EQ(Names(), "abcd");
  files_.SetFault(std::nullopt);
  EXPECT_OK(removals_.RemoveUnpinned());
  EXPECT_EQ(Names(), "bcd");
}

TEST_F(Removals, AFileThatCannotBeRemovedDoesNotKeepTheOthers) {
  EXPECT_CODE(removals_.Remove({"db/missing", "db/a", "db/b"}, 3), Code::kNotFound);
  EXPECT_EQ(Names(), "cd");
  EXPECT_EQ(removals_.waiting(), 0u);
}

}  // namespace
}  // namespace pigment
