// SPDX-License-Identifier: Apache-2.0
//
// The files seam: the same promises of the disk and of memory, each test run on both.

#include "engine/base/files.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "engine/base/bytes.h"
#include "engine/base/disk_files.h"
#include "engine/base/memory_files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

enum class Home { kDisk, kMemory, kSimulated };

class Files : public ::testing::TestWithParam<Home> {
 protected:
  Files() {
    if (GetParam() == Home::kDisk) {
      files_ = std::make_unique<DiskFileSystem>();
      root_ = temporary_.path();
    } else {
      files_ = std::make_unique<MemoryFileSystem>(GetParam() == Home::kMemory
                                                      ? MemoryFileSystem::Kind::kVolatile
                                                      : MemoryFileSystem::Kind::kSimulated);
      root_ = "/root";
      EXPECT_OK(files_->MakeDirectory(root_));
    }
  }
  std::string At(const std::string& name) const { return root_ + "/" + name; }
  std::unique_ptr<File> Create(const std::string& name, std::string_view text) {
    Result<std::unique_ptr<File>> file = files_->Open(At(name), OpenMode::kCreate);
    EXPECT_OK(file);
    EXPECT_OK((*file)->WriteAt(0, AsBytes(text)));
    return std::move(*file);
  }
  std::string Read(const std::string& name) {
    Result<std::unique_ptr<File>> file = files_->Open(At(name), OpenMode::kRead);
    if (!file.ok()) return file.status().ToString();
    std::string text(*(*file)->Size(), '?');
    EXPECT_OK((*file)->ReadAt(0, std::as_writable_bytes(std::span(text))));
    return text;
  }

  TemporaryDirectory temporary_;
  std::unique_ptr<FileSystem> files_;
  std::string root_;
};

TEST_P(Files, BytesAreReadBackAndAGapReadsAsZeros) {
  const auto file = Create("a", "hello");
  ASSERT_OK(file->WriteAt(8, AsBytes("world")));
  ASSERT_OK(file->WriteAt(0, AsBytes("J")));
  EXPECT_EQ(Read("a"), std::string("Jello\0\0\0world", 13));
  EXPECT_EQ(*file->Size(), 13u);
  ASSERT_OK(file->Sync());
  EXPECT_EQ(file->path(), At("a"));
}

TEST_P(Files, ReadingBeyondTheEndIsTruncationWithFileAndOffset) {
  const auto file = Create("a", "hello");
  std::array<std::byte, 3> out;
  const Status status = file->ReadAt(3, out);
  EXPECT_CODE(status, Code::kDataLoss);
  EXPECT_EQ(status.detail(), Detail::kTruncated);
  EXPECT_EQ(status.file(), At("a"));
  EXPECT_EQ(status.offset(), 5);
  EXPECT_CODE(file->ReadAt(UINT64_MAX / 4, out), Code::kDataLoss);
  EXPECT_OK(file->ReadAt(5, {}));
}

TEST_P(Files, ACutFileGrowsAgainWithZeros) {
  const auto file = Create("a", "hello world");
  ASSERT_OK(file->Truncate(3));
  EXPECT_EQ(Read("a"), "hel");
  ASSERT_OK(file->Truncate(5));
  EXPECT_EQ(Read("a"), std::string("hel\0\0", 5));
}

TEST_P(Files, AllocatedBytesReadAsZerosAndAreWrittenInAnyOrder) {
  const auto file = Create("a", "hello");
  ASSERT_OK(file->Allocate(200'000));
  EXPECT_EQ(*file->Size(), 200'000u);
  std::string model("hello");
  model.resize(200'000);
  EXPECT_EQ(Read("a"), model);
  ASSERT_OK(file->WriteAt(199'995, AsBytes("world")));
  model.replace(199'995, 5, "world");
  EXPECT_EQ(Read("a"), model);
  ASSERT_OK(file->Allocate(100));
  EXPECT_EQ(Read("a"), model) << "allocation never cuts";
  ASSERT_OK(file->Sync());
  Result<std::unique_ptr<File>> reader = files_->Open(At("a"), OpenMode::kRead);
  ASSERT_OK(reader);
  EXPECT_FALSE((*reader)->Allocate(300'000).ok());
  EXPECT_EQ(*file->Size(), 200'000u);
}

TEST_P(Files, RandomWritesAcrossChunksEqualAPlainString) {
  const uint64_t seed = 11;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const auto file = Create("a", "");
  std::string model;
  for (int step = 0; step < 200; ++step) {
    if (random() % 10 == 0) {
      model.resize(random() % 300'000);
      ASSERT_OK(file->Truncate(model.size()));
    } else {
      const size_t offset = random() % 250'000;
      const std::string bytes(random() % 100'000, static_cast<char>('a' + step % 26));
      if (!bytes.empty()) model.resize(std::max(model.size(), offset + bytes.size()));
      model.replace(offset < model.size() ? offset : model.size(), bytes.size(), bytes);
      ASSERT_OK(file->WriteAt(offset, AsBytes(bytes)));
    }
    ASSERT_EQ(Read("a"), model) << step;
  }
}

TEST_P(Files, MissingAndExistingNamesAreToldApart) {
  EXPECT_CODE(files_->Open(At("a"), OpenMode::kRead), Code::kNotFound);
  EXPECT_CODE(files_->Open(At("a"), OpenMode::kReadWrite), Code::kNotFound);
  EXPECT_CODE(files_->Open(At("no/a"), OpenMode::kCreate), Code::kNotFound);
  EXPECT_CODE(files_->Remove(At("a")), Code::kNotFound);
  EXPECT_CODE(files_->Rename(At("a"), At("b")), Code::kNotFound);
  EXPECT_CODE(files_->List(At("no")), Code::kNotFound);
  EXPECT_FALSE(*files_->Exists(At("a")));
  Create("a", "1");
  EXPECT_TRUE(*files_->Exists(At("a")));
  const Result<std::unique_ptr<File>> again = files_->Open(At("a"), OpenMode::kCreate);
  EXPECT_CODE(again, Code::kAlreadyExists);
  EXPECT_NE(again.status().message().find(At("a")), std::string::npos) << again.status().ToString();
  EXPECT_EQ(Read("a"), "1");
}

TEST_P(Files, AFileOpenedForReadingIsNotWritten) {
  Create("a", "1");
  const Result<std::unique_ptr<File>> file = files_->Open(At("a"), OpenMode::kRead);
  ASSERT_OK(file);
  EXPECT_FALSE((*file)->WriteAt(0, AsBytes("2")).ok());
  EXPECT_FALSE((*file)->Truncate(0).ok());
  EXPECT_EQ(Read("a"), "1");
}

TEST_P(Files, RenameReplacesAndOpenFilesLiveOn) {
  const auto old = Create("b", "old");
  Create("a", "new");
  ASSERT_OK(files_->Rename(At("a"), At("b")));
  EXPECT_EQ(Read("b"), "new");
  EXPECT_FALSE(*files_->Exists(At("a")));
  ASSERT_OK(files_->Remove(At("b")));
  std::array<std::byte, 3> text;
  ASSERT_OK(old->ReadAt(0, text));
  EXPECT_EQ(AsText(text), "old");
}

TEST_P(Files, DirectoriesListTheirNamesSorted) {
  ASSERT_OK(files_->MakeDirectory(At("d")));
  ASSERT_OK(files_->MakeDirectory(At("d")));
  for (const char* name : {"d/c", "d/a", "d/b", "e"}) Create(name, "");
  ASSERT_OK(files_->MakeDirectory(At("d/sub")));
  Create("d/sub/deep", "");
  const Result<std::vector<std::string>> names = files_->List(At("d"));
  ASSERT_OK(names);
  EXPECT_EQ(*names, (std::vector<std::string>{"a", "b", "c", "sub"}));
  EXPECT_CODE(files_->MakeDirectory(At("e")), Code::kAlreadyExists);
  EXPECT_CODE(files_->MakeDirectory(At("no/d")), Code::kNotFound);
  EXPECT_FALSE(files_->Remove(At("d")).ok());
  EXPECT_OK(files_->SyncDirectory(At("d")));
  EXPECT_CODE(files_->SyncDirectory(At("no")), Code::kNotFound);
  ASSERT_OK(files_->Remove(At("d/sub/deep")));
  EXPECT_OK(files_->Remove(At("d/sub")));
}

TEST_P(Files, ASecondLockIsRefusedAndNamesTheHolderUntilItIsFree) {
  Result<std::unique_ptr<FileLock>> lock = files_->Lock(At("LOCK"), "pid 4711 (first)");
  ASSERT_OK(lock);
  const Result<std::unique_ptr<FileLock>> second = files_->Lock(At("LOCK"), "pid 4712 (second)");
  EXPECT_CODE(second, Code::kFailedPrecondition);
  EXPECT_EQ(second.status().detail(), Detail::kLocked);
  EXPECT_NE(second.status().message().find("open for writing by pid 4711 (first)"),
            std::string::npos)
      << second.status().ToString();
  EXPECT_TRUE(*files_->Exists(At("LOCK")));
  lock->reset();
  EXPECT_OK(files_->Lock(At("LOCK"), "pid 4712 (second)"));
}

TEST_P(Files, PinsAreSharedExcludeNobodyAndAreSeenFromAbove) {
  const std::string path = At("LOCK");
  EXPECT_CODE(files_->PinPosition(path, 0), Code::kNotFound);
  EXPECT_FALSE(files_->IsPinnedBelow(path, 10).value());
  const auto lock = files_->Lock(path, "the writer");
  ASSERT_OK(lock);
  EXPECT_FALSE(files_->IsPinnedBelow(path, 10).value());
  {
    const auto five = files_->PinPosition(path, 5);
    ASSERT_OK(five);
    EXPECT_FALSE(files_->IsPinnedBelow(path, 5).value());
    EXPECT_TRUE(files_->IsPinnedBelow(path, 6).value());
    const auto again = files_->PinPosition(path, 5);
    ASSERT_OK(again);
    EXPECT_CODE(files_->Lock(path, "another"), Code::kFailedPrecondition);
    auto zero = files_->PinPosition(path, 0);
    ASSERT_OK(zero);
    EXPECT_FALSE(files_->IsPinnedBelow(path, 0).value());
    EXPECT_TRUE(files_->IsPinnedBelow(path, 1).value());
    *zero = nullptr;
    EXPECT_FALSE(files_->IsPinnedBelow(path, 1).value());
  }
  EXPECT_FALSE(files_->IsPinnedBelow(path, 6).value());
}

TEST_P(Files, PinsOutliveTheWriterAndDoNotKeepTheNextOneOut) {
  const std::string path = At("LOCK");
  { ASSERT_OK(files_->Lock(path, "the first writer")); }
  const auto pin = files_->PinPosition(path, uint64_t{1} << 40);
  ASSERT_OK(pin);
  const auto lock = files_->Lock(path, "the second writer");
  ASSERT_OK(lock);
  EXPECT_FALSE(files_->IsPinnedBelow(path, uint64_t{1} << 40).value());
  EXPECT_TRUE(files_->IsPinnedBelow(path, (uint64_t{1} << 40) + 1).value());
}

INSTANTIATE_TEST_SUITE_P(AllHomes, Files,
                         ::testing::Values(Home::kDisk, Home::kMemory, Home::kSimulated),
                         [](const auto& info) {
                           return info.param == Home::kDisk     ? "Disk"
                                  : info.param == Home::kMemory ? "Memory"
                                                                : "Simulated";
                         });

}  // namespace
}  // namespace pigment
