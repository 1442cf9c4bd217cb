// SPDX-License-Identifier: Apache-2.0
//
// MemoryFileSystem: faults, power cuts and the trace do what the tests of everything above count
// on. What it shares with the disk is in files_test.cc.

#include "engine/base/memory_files.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/base/bytes.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

using Keep = PowerCut::Keep;

class MemoryFiles : public ::testing::Test {
 protected:
  std::unique_ptr<File> Create(const std::string& name) {
    Result<std::unique_ptr<File>> file = files_.Open(name, OpenMode::kCreate);
    EXPECT_OK(file);
    return std::move(*file);
  }
  // Contents of a file, or "(none)".
  std::string Read(const std::string& name) {
    const Result<std::unique_ptr<File>> file = files_.Open(name, OpenMode::kRead);
    if (!file.ok()) return "(none)";
    std::string text(*(*file)->Size(), '?');
    EXPECT_OK((*file)->ReadAt(0, std::as_writable_bytes(std::span(text))));
    return text;
  }

  MemoryFileSystem files_{MemoryFileSystem::Kind::kSimulated};
};

TEST_F(MemoryFiles, APowerCutTakesWhatWasNotSynced) {
  const auto file = Create("a");
  ASSERT_OK(file->WriteAt(0, AsBytes("durable")));
  ASSERT_OK(file->Sync());
  ASSERT_OK(files_.SyncDirectory("."));
  ASSERT_OK(file->WriteAt(0, AsBytes("VOLATILE")));
  Create("b");
  files_.CutPower({.keep = Keep::kNothing});
  EXPECT_EQ(Read("a"), "durable");
  EXPECT_EQ(Read("b"), "(none)");
  EXPECT_FALSE(file->WriteAt(0, AsBytes("x")).ok());  // opened before
  EXPECT_FALSE(file->Sync().ok());
}

TEST_F(MemoryFiles, TheDeathOfTheProcessTakesNothingButTheNextPowerCutStillDoes) {
  const auto file = Create("a");
  ASSERT_OK(file->WriteAt(0, AsBytes("text")));
  files_.CutPower({.keep = Keep::kEverything});
  EXPECT_EQ(Read("a"), "text");
  files_.CutPower({.keep = Keep::kNothing});
  EXPECT_EQ(Read("a"), "(none)");
}

TEST_F(MemoryFiles, ASyncedFileWithoutItsNameIsGone) {
  const auto file = Create("a");
  ASSERT_OK(file->WriteAt(0, AsBytes("text")));
  ASSERT_OK(file->Sync());
  files_.CutPower({.keep = Keep::kNothing});
  EXPECT_EQ(Read("a"), "(none)");
}

TEST_F(MemoryFiles, ANameWithoutItsSyncedBytesIsAnEmptyFile) {
  const auto file = Create("a");
  ASSERT_OK(file->WriteAt(0, AsBytes("text")));
  ASSERT_OK(files_.SyncDirectory("."));
  files_.CutPower({.keep = Keep::kNothing});
  EXPECT_EQ(Read("a"), "");
}

TEST_F(MemoryFiles, AnUnsyncedRenameOrRemovalComesUndone) {
  for (const char* name : {"a", "b"}) {
    const auto file = Create(name);
    ASSERT_OK(file->WriteAt(0, AsBytes(name)));
    ASSERT_OK(file->Sync());
  }
  ASSERT_OK(files_.SyncDirectory("."));
  ASSERT_OK(files_.Rename("a", "b"));
  EXPECT_EQ(Read("b"), "a");
  files_.CutPower({.keep = Keep::kNothing});
  EXPECT_EQ(Read("a"), "a");
  EXPECT_EQ(Read("b"), "b");
  ASSERT_OK(files_.Remove("a"));
  files_.CutPower({.keep = Keep::kNothing});
  EXPECT_EQ(Read("a"), "a");
  ASSERT_OK(files_.Remove("a"));
  ASSERT_OK(files_.SyncDirectory("."));
  files_.CutPower({.keep = Keep::kNothing});
  EXPECT_EQ(Read("a"), "(none)");
}

TEST_F(MemoryFiles, AFailedSyncLosesItsBytesAndTheNextOneLies) {
  const auto file = Create("a");
  ASSERT_OK(files_.SyncDirectory("."));
  ASSERT_OK(file->WriteAt(0, AsBytes("lost")));
  files_.SetFault(FileFault{.operations = static_cast<uint32_t>(FileOperation::kSync)});
  EXPECT_CODE(file->Sync(), Code::kUnavailable);
  EXPECT_EQ(Read("a"), "lost");
  ASSERT_OK(file->WriteAt(4, AsBytes("kept")));
  ASSERT_OK(file->Sync());
  EXPECT_EQ(Read("a"), "lostkept");
  files_.CutPower({.keep = Keep::kRandom, .seed = 1});
  EXPECT_EQ(Read("a"), std::string("\0\0\0\0kept", 8));
}

TEST_F(MemoryFiles, RandomSurvivalShowsEveryKindOfState) {
  std::set<std::string> states;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    MemoryFileSystem files(MemoryFileSystem::Kind::kSimulated);
    auto file = files.Open("a", OpenMode::kCreate);
    ASSERT_OK(files.SyncDirectory("."));
    ASSERT_OK((*file)->WriteAt(0, AsBytes(std::string(512, 'a'))));
    ASSERT_OK((*file)->WriteAt(512, AsBytes(std::string(1024, 'b'))));
    files.CutPower({.keep = Keep::kRandom, .seed = seed});
    const auto survivor = files.Open("a", OpenMode::kRead);
    std::string text(*(*survivor)->Size(), '?');
    ASSERT_OK((*survivor)->ReadAt(0, std::as_writable_bytes(std::span(text))));
    std::string summary = std::to_string(text.size());
    for (size_t at = 0; at < text.size(); at += 512) summary += text[at] == '\0' ? '0' : text[at];
    states.insert(summary);
  }
  // Nothing; the first alone; both; the second without the first; sizes without bytes; sectors
  // torn.
  for (const char* state :
       {"0", "512a", "1536abb", "15360bb", "5120", "1536000", "1536ab0", "1536a0b"}) {
    EXPECT_TRUE(states.contains(state)) << state;
  }
}

TEST_F(MemoryFiles, APrefixTearsTheLastWriteOnly) {
  std::set<size_t> sizes;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    MemoryFileSystem files(MemoryFileSystem::Kind::kSimulated);
    auto file = files.Open("a", OpenMode::kCreate);
    ASSERT_OK(files.SyncDirectory("."));
    for (uint64_t i = 0; i < 3; ++i) ASSERT_OK((*file)->WriteAt(i * 4, AsBytes("abcd")));
    files.CutPower({.keep = Keep::kPrefix, .seed = seed});
    const auto survivor = files.Open("a", OpenMode::kRead);
    std::string text(*(*survivor)->Size(), '?');
    ASSERT_OK((*survivor)->ReadAt(0, std::as_writable_bytes(std::span(text))));
    ASSERT_EQ(text, std::string("abcdabcdabcd").substr(0, text.size()));
    sizes.insert(text.size());
  }
  EXPECT_EQ(sizes.size(), 13u);
}

TEST_F(MemoryFiles, AFaultStrikesTheGivenOperationOnceOrForEver) {
  const auto file = Create("a");
  files_.SetFault(FileFault{.operations = static_cast<uint32_t>(FileOperation::kWrite), .at = 2});
  EXPECT_OK(file->WriteAt(0, AsBytes("1")));
  EXPECT_FALSE(file->WriteAt(1, AsBytes("2")).ok());
  EXPECT_OK(file->WriteAt(2, AsBytes("3")));
  EXPECT_EQ(files_.faults_met(), 1u);
  files_.SetFault(FileFault{.operations = static_cast<uint32_t>(FileOperation::kWrite),
                            .forever = true,
                            .is_partial = true});
  EXPECT_FALSE(file->WriteAt(3, AsBytes("4444")).ok());
  EXPECT_FALSE(file->WriteAt(9, AsBytes("5555")).ok());
  EXPECT_OK(file->Sync());
  EXPECT_EQ(Read("a"), std::string("1\0"
                                   "344\0\0\0\0"
                                   "55",
                                   11));
}

TEST_F(MemoryFiles, AFullDiskKeepsWhatFits) {
  const auto file = Create("a");
  files_.SetCapacity(6);
  EXPECT_OK(file->WriteAt(0, AsBytes("1234")));
  const Status status = file->WriteAt(4, AsBytes("5678"));
  EXPECT_CODE(status, Code::kResourceExhausted);
  EXPECT_EQ(status.detail(), Detail::kDiskFull);
  EXPECT_EQ(files_.used_bytes(), 6u);
  EXPECT_OK(file->WriteAt(0, AsBytes("abcd")));  // no growth
  ASSERT_OK(file->Truncate(4));
  EXPECT_OK(file->WriteAt(4, AsBytes("ef")));
}

TEST_F(MemoryFiles, AllocatedBytesCountBeforeTheyAreWritten) {
  const auto file = Create("reserve");
  files_.SetCapacity(files_.used_bytes() + 100);
  ASSERT_OK(file->Allocate(80));
  EXPECT_OK(file->WriteAt(0, AsBytes(std::string(80, 'x'))));
  const auto other = Create("other");
  EXPECT_CODE(other->Allocate(50), Code::kResourceExhausted);
  EXPECT_EQ(other->Allocate(50).detail(), Detail::kDiskFull);
  EXPECT_EQ(*other->Size(), 20u) << "what fits is taken";
  ASSERT_OK(file->Truncate(0));
  EXPECT_OK(other->Allocate(50));
}

TEST_F(MemoryFiles, AllocationIsUndoneByAPowerCutUntilItIsSynced) {
  const auto file = Create("reserve");
  ASSERT_OK(files_.SyncDirectory("."));
  ASSERT_OK(file->Allocate(10));
  ASSERT_OK(file->Sync());
  ASSERT_OK(file->Allocate(1000));
  files_.CutPower({.keep = PowerCut::Keep::kNothing});
  EXPECT_EQ(Read("reserve").size(), 10u);
}

TEST_F(MemoryFiles, AStoppedMachineDoesNothingUntilThePowerIsCut) {
  const auto file = Create("a");
  ASSERT_OK(files_.SyncDirectory("."));
  files_.StopAt(2);
  EXPECT_OK(file->WriteAt(0, AsBytes("1")));
  EXPECT_FALSE(files_.is_stopped());
  EXPECT_FALSE(file->WriteAt(1, AsBytes("2")).ok());
  EXPECT_TRUE(files_.is_stopped());
  EXPECT_FALSE(file->Sync().ok());
  EXPECT_FALSE(files_.Open("a", OpenMode::kRead).ok());
  files_.CutPower({.keep = Keep::kNothing});
  EXPECT_EQ(Read("a"), "");
}

TEST_F(MemoryFiles, TheTraceHasTheChangingOperationsInOrder) {
  files_.StartTrace();
  const auto file = Create("a");
  ASSERT_OK(file->WriteAt(3, AsBytes("12")));
  ASSERT_OK(file->Sync());
  Read("a");
  ASSERT_OK(files_.Rename("a", "b"));
  ASSERT_OK(files_.SyncDirectory("."));
  ASSERT_OK(files_.Remove("b"));
  EXPECT_EQ(files_.TakeTrace(), (std::vector<std::string>{"create a", "write a 3+2", "sync a",
                                                          "rename a b", "syncdir ", "remove b"}));
}

TEST_F(MemoryFiles, LocksDieWithTheProcess) {
  const auto lock = files_.Lock("LOCK", "one");
  ASSERT_OK(lock);
  EXPECT_EQ(StatusOf(files_.Lock("LOCK", "two")).detail(), Detail::kLocked);
  files_.CutPower({.keep = Keep::kEverything});
  EXPECT_OK(files_.Lock("LOCK", "two"));
}

}  // namespace
}  // namespace pigment
