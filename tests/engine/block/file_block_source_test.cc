// SPDX-License-Identifier: Apache-2.0
//
// Reading of segment files: verified when loaded, resident afterwards, few reads in a scan, safe
// from many threads.

#include "engine/block/file_block_source.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "engine/base/memory_files.h"
#include "engine/block/file_block_sink.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

using Block = std::array<std::byte, kBlockBytes>;

Block NumberedBlock(uint32_t segment, uint32_t logical) {
  Block block{};
  std::memcpy(block.data() + kBlockHeaderBytes, &logical, sizeof logical);
  SealBlock(BlockBytes(block), BlockKind::kVectors, segment, logical);
  return block;
}

class FileBlockSourceTest : public testing::Test {
 protected:
  void WriteBlocks(uint32_t count, uint32_t segment = 7) {
    auto file = files_.Open("segment", OpenMode::kCreate);
    ASSERT_OK(file);
    FileBlockSink sink(file->get());
    for (uint32_t i = 0; i < count; ++i) {
      auto physical = sink.Write(ConstBlockBytes(NumberedBlock(segment, i)));
      ASSERT_OK(physical);
      EXPECT_EQ(*physical, i);
    }
    ASSERT_OK(sink.Finish());
  }

  void Overwrite(uint64_t offset, std::span<const std::byte> bytes) {
    auto file = files_.Open("segment", OpenMode::kReadWrite);
    ASSERT_OK(file);
    ASSERT_OK((*file)->WriteAt(offset, bytes));
  }

  Result<std::unique_ptr<FileBlockSource>> OpenSource(MemoryBudget* budget = nullptr,
                                                      uint32_t segment = 7) {
    PIGMENT_ASSIGN_OR_RETURN(auto file, files_.Open("segment", OpenMode::kRead));
    return FileBlockSource::Open(std::move(file), segment, budget);
  }

  static uint32_t NumberIn(const std::byte* block) {
    uint32_t number;
    std::memcpy(&number, block + kBlockHeaderBytes, sizeof number);
    return number;
  }

  MemoryFileSystem files_;
};

TEST_F(FileBlockSourceTest, GivesBackEveryBlockAndReadsEachOnce) {
  WriteBlocks(1000);
  auto source = OpenSource();
  ASSERT_OK(source);
  for (int pass = 0; pass < 2; ++pass) {
    for (uint32_t i = 0; i < 1000; ++i) {
      auto block = (*source)->Pin(i);
      ASSERT_OK(block);
      EXPECT_EQ(NumberIn(*block), i);
      (*source)->Unpin(i, *block);
    }
  }
  EXPECT_EQ((*source)->blocks_loaded(), 1000u);
  EXPECT_LE((*source)->reads(), 40u) << "a scan reads runs of blocks";
}

TEST_F(FileBlockSourceTest, LoadsOnlyTheBlockThatARandomAccessAsksFor) {
  WriteBlocks(1000);
  auto source = OpenSource();
  ASSERT_OK(source);
  for (uint32_t i : {900u, 3u, 500u, 77u}) ASSERT_OK((*source)->Pin(i));
  EXPECT_EQ((*source)->blocks_loaded(), 4u);
}

// A file that says what it was told of reads to come, and is as slow as it has to be.
class ExpectantFile final : public File {
 public:
  explicit ExpectantFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

  Status ReadAt(uint64_t offset, std::span<std::byte> out) const override {
    std::this_thread::sleep_for(delay);
    return file_->ReadAt(offset, out);
  }
  void ReadAhead(uint64_t offset, uint64_t bytes) const override {
    expected.emplace_back(offset, bytes);
  }
  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    return file_->WriteAt(offset, bytes);
  }
  Status Allocate(uint64_t size) override { return file_->Allocate(size); }
  Status Sync() override { return file_->Sync(); }
  Status Truncate(uint64_t size) override { return file_->Truncate(size); }
  Result<uint64_t> Size() const override { return file_->Size(); }
  const std::string& path() const override { return file_->path(); }

  mutable std::vector<std::pair<uint64_t, uint64_t>> expected;
  std::chrono::microseconds delay{1000};

 private:
  const std::unique_ptr<File> file_;
};

TEST_F(FileBlockSourceTest, TellsTheFileOfBlocksThatAreToComeAndKeepsNothingOfThem) {
  WriteBlocks(20);
  MemoryBudget budget("blocks", uint64_t{1} << 20);
  BlockCache cache(&budget);
  for (BlockCache* const with : {static_cast<BlockCache*>(nullptr), &cache}) {
    auto file = std::make_unique<ExpectantFile>(files_.Open("segment", OpenMode::kRead).value());
    const auto& expected = file->expected;
    const auto source =
        FileBlockSource::Open(std::move(file), 7, {.budget = &budget, .cache = with}).value();
    ASSERT_OK(source->Pin(5));
    EXPECT_FALSE(source->ReadAhead(5)) << "it is there";
    EXPECT_FALSE(source->ReadAhead(20)) << "there is none";
    EXPECT_TRUE(expected.empty());
    const uint64_t used = budget.used_bytes();
    EXPECT_TRUE(source->ReadAhead(9));
    EXPECT_EQ(expected,
              (std::vector<std::pair<uint64_t, uint64_t>>{{9 * kBlockBytes, kBlockBytes}}));
    EXPECT_EQ(source->blocks_resident(), 1u);
    EXPECT_EQ(budget.used_bytes(), used);
    const auto pinned = source->Pin(9);
    ASSERT_OK(pinned);
    EXPECT_EQ(NumberIn(*pinned), 9u);
    EXPECT_FALSE(source->ReadAhead(9));
    source->Unpin(9, *pinned);
    source->Unpin(5, nullptr);
  }
}

// Telling takes as long as copying, where the system has the file in its memory.
TEST_F(FileBlockSourceTest, TellsTheFileOfSomeBlocksAfterOneThatWasWaitedFor) {
  WriteBlocks(200);
  auto file = std::make_unique<ExpectantFile>(files_.Open("segment", OpenMode::kRead).value());
  ExpectantFile* const slow = file.get();
  slow->delay = {};
  const auto source = FileBlockSource::Open(std::move(file), 7, {}).value();
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_OK(source->Pin(0));
  const bool was_fast =
      std::chrono::steady_clock::now() - begin < std::chrono::microseconds(50);  // or interrupted
  if (was_fast) {
    EXPECT_FALSE(source->ReadAhead(100));
    EXPECT_TRUE(slow->expected.empty());
  }
  slow->delay = std::chrono::microseconds(1000);
  ASSERT_OK(source->Pin(50));
  size_t told = 0;
  while (told < 200 && source->ReadAhead(100)) ++told;
  EXPECT_EQ(told, 64u);
  EXPECT_EQ(slow->expected.size(), told);
  ASSERT_OK(source->Pin(60));
  EXPECT_TRUE(source->ReadAhead(100)) << "another was waited for";
}

// Accesses that happen to lie side by side are no scan.
TEST_F(FileBlockSourceTest, ReadsLittleBehindRandomAccessesThatMeet) {
  WriteBlocks(1000);
  auto source = OpenSource();
  ASSERT_OK(source);
  std::mt19937 random(1);
  std::set<uint32_t> asked;
  for (int i = 0; i < 200; ++i) {
    const uint32_t block = random() % 1000;
    asked.insert(block);
    ASSERT_OK((*source)->Pin(block));
  }
  EXPECT_GE((*source)->blocks_loaded(), asked.size());
  EXPECT_LE((*source)->blocks_loaded(), asked.size() * 3 / 2);
}

TEST_F(FileBlockSourceTest, RefusesABlockBeyondTheEnd) {
  WriteBlocks(3);
  auto source = OpenSource();
  ASSERT_OK(source);
  EXPECT_EQ((*source)->Pin(3).status().detail(), Detail::kMissing);
  EXPECT_EQ((*source)->Pin(kNoBlock).status().detail(), Detail::kMissing);
}

TEST_F(FileBlockSourceTest, RefusesAFileThatIsNoRunOfBlocks) {
  WriteBlocks(3);
  Overwrite(3 * kBlockBytes, std::array<std::byte, 1>{});
  EXPECT_EQ(OpenSource().status().detail(), Detail::kMisaligned);
  auto file = files_.Open("segment", OpenMode::kReadWrite);
  ASSERT_OK(file);
  ASSERT_OK((*file)->Truncate(0));
  EXPECT_EQ(OpenSource().status().detail(), Detail::kTruncated);
}

TEST_F(FileBlockSourceTest, ReportsDamageOnlyForTheDamagedBlock) {
  WriteBlocks(100);
  Overwrite(50 * kBlockBytes + 100, std::array<std::byte, 1>{std::byte{1}});
  MemoryBudget budget("test", 0);
  auto source = OpenSource(&budget);
  ASSERT_OK(source);
  for (int pass = 0; pass < 3; ++pass) {
    for (uint32_t i = 0; i < 100; ++i) {
      const Status status = (*source)->Pin(i).status();
      if (i != 50) {
        EXPECT_OK(status);
      } else {
        EXPECT_EQ(status.detail(), Detail::kChecksum);
        EXPECT_EQ(status.file(), "segment");
        EXPECT_EQ(status.offset(), 50 * 8192);
      }
    }
  }
  EXPECT_EQ(budget.used_bytes(), 99 * kBlockBytes) << "what could not be loaded is not charged";
}

TEST_F(FileBlockSourceTest, TellsSwappedStaleAndForeignBlocks) {
  WriteBlocks(10);
  Overwrite(4 * kBlockBytes, NumberedBlock(7, 5));  // moved
  Overwrite(6 * kBlockBytes, NumberedBlock(6, 6));  // of an older segment
  Overwrite(8 * kBlockBytes, Block{});              // never written
  auto source = OpenSource();
  ASSERT_OK(source);
  EXPECT_EQ((*source)->Pin(4).status().detail(), Detail::kForeign);
  EXPECT_EQ((*source)->Pin(6).status().detail(), Detail::kForeign);
  EXPECT_EQ((*source)->Pin(8).status().detail(), Detail::kChecksum);
  EXPECT_OK((*source)->Pin(5));
}

TEST_F(FileBlockSourceTest, FailsAPinThatTheBudgetHasNoRoomForAndGivesAllBack) {
  WriteBlocks(100);
  MemoryBudget budget("test", 10 * kBlockBytes);
  {
    auto source = OpenSource(&budget);
    ASSERT_OK(source);
    for (uint32_t i = 0; i < 10; ++i) ASSERT_OK((*source)->Pin(i));
    EXPECT_EQ((*source)->Pin(10).status().detail(), Detail::kMemory);
    EXPECT_OK((*source)->Pin(9));
    EXPECT_EQ(budget.used_bytes(), 10 * kBlockBytes);
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST_F(FileBlockSourceTest, ServesManyThreadsAtOnce) {
  WriteBlocks(500);
  MemoryBudget budget("test", 0);
  auto source = OpenSource(&budget);
  ASSERT_OK(source);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 500; ++i) {
        const uint32_t physical = t % 2 ? i : (i * 37 + static_cast<uint32_t>(t)) % 500;
        auto block = (*source)->Pin(physical);
        if (!block.ok() || NumberIn(*block) != physical) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ((*source)->blocks_loaded(), 500u);
  EXPECT_EQ(budget.used_bytes(), 500 * kBlockBytes);
}

TEST_F(FileBlockSourceTest, LoadsTheRestOfALargePageOnceMoreThanHalfIsThere) {
  constexpr uint32_t kPage = 256;
  WriteBlocks(3 * kPage + 100);
  const std::byte wrong{0xAA};
  Overwrite((kPage + 77) * kBlockBytes + 100, {&wrong, 1});
  MemoryBudget budget("test");
  auto source = OpenSource(&budget);
  ASSERT_OK(source);
  const auto pin = [&](uint32_t block) {
    auto bytes = (*source)->Pin(block);
    ASSERT_OK(bytes);
    EXPECT_EQ(NumberIn(*bytes), block);
    (*source)->Unpin(block, *bytes);
  };
  uint32_t loaded = 0;
  for (uint32_t i = kPage; i < 2 * kPage; i += 2) {  // every other one: none in a run
    EXPECT_EQ((*source)->blocks_resident(), loaded);
    pin(i);
    ++loaded;
  }
  EXPECT_EQ((*source)->blocks_resident(), kPage / 2);
  pin(kPage + 1);
  EXPECT_EQ((*source)->blocks_resident(), kPage - 1) << "all but the damaged one";
  EXPECT_EQ(budget.used_bytes(), (kPage - 1) * kBlockBytes);
  EXPECT_CODE((*source)->Pin(kPage + 77), Code::kDataLoss);
  for (uint32_t i = kPage; i < 2 * kPage; ++i) {
    if (i != kPage + 77) pin(i);
  }
  EXPECT_EQ((*source)->blocks_loaded(), kPage - 1);
  // What is no whole page stays as it is.
  for (uint32_t i = 0; i < 100; i += 2) pin(3 * kPage + i);
  EXPECT_EQ((*source)->blocks_resident(), kPage - 1 + 50);
}

}  // namespace
}  // namespace pigment
