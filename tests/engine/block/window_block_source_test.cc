// SPDX-License-Identifier: Apache-2.0
//
// Reading a segment file in windows: verified when loaded, few long reads, and memory that does not
// grow with the file.

#include "engine/block/window_block_source.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "engine/base/memory_files.h"
#include "engine/block/file_block_sink.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

constexpr uint32_t kOwnSegment = 7;
constexpr uint64_t kWindowBytes = WindowBlockSource::kWindowBlocks * kBlockBytes;

void WriteBlocks(MemoryFileSystem& files, uint32_t count) {
  auto file = files.Open("segment", OpenMode::kCreate).value();
  FileBlockSink sink(file.get());
  for (uint32_t logical = 0; logical < count; ++logical) {
    std::array<std::byte, kBlockBytes> block{};
    std::memcpy(block.data() + kBlockHeaderBytes, &logical, sizeof logical);
    SealBlock(BlockBytes(block), BlockKind::kVectors, kOwnSegment, logical);
    ASSERT_OK(sink.Write(ConstBlockBytes(block)));
  }
  ASSERT_OK(sink.Finish());
}

Result<std::unique_ptr<WindowBlockSource>> OpenSource(MemoryFileSystem& files,
                                                      MemoryBudget* budget = nullptr,
                                                      uint32_t segment = kOwnSegment) {
  PIGMENT_ASSIGN_OR_RETURN(auto file, files.Open("segment", OpenMode::kRead));
  return WindowBlockSource::Open(std::move(file), segment, budget);
}

uint32_t NumberIn(const std::byte* block) {
  uint32_t number;
  std::memcpy(&number, block + kBlockHeaderBytes, sizeof number);
  return number;
}

TEST(WindowBlockSource, ManyStreamsSideBySideCostOneReadAWindow) {
  MemoryFileSystem files;
  constexpr uint32_t kBlocks = 2000, kStreams = 10;
  WriteBlocks(files, kBlocks);
  MemoryBudget budget("test");
  const auto source = OpenSource(files, &budget).value();
  EXPECT_TRUE(source->verifies_on_load());
  EXPECT_EQ(*source->blocks(), kBlocks);
  for (uint32_t step = 0; step < kBlocks / kStreams; ++step) {
    for (uint32_t stream = 0; stream < kStreams; ++stream) {
      const uint32_t block = stream * (kBlocks / kStreams) + step;
      const auto bytes = source->Pin(block);
      ASSERT_OK(bytes);
      EXPECT_EQ(NumberIn(*bytes), block);
      source->Unpin(block, *bytes);
    }
  }
  // Two streams meet in a window at most once each.
  EXPECT_LE(source->reads(), kBlocks / WindowBlockSource::kWindowBlocks + 1 + kStreams);
  EXPECT_LE(budget.used_bytes(), WindowBlockSource::kWindows * kWindowBytes);
  EXPECT_GE(budget.used_bytes(), kStreams * kWindowBytes);
}

TEST(WindowBlockSource, PinnedBlocksStayHoweverManyThereAre) {
  MemoryFileSystem files;
  constexpr uint32_t kPins = 3 * WindowBlockSource::kWindows;
  WriteBlocks(files, kPins * WindowBlockSource::kWindowBlocks);
  MemoryBudget budget("test");
  const auto source = OpenSource(files, &budget).value();
  std::vector<std::pair<uint32_t, const std::byte*>> pinned;
  for (uint32_t i = 0; i < kPins; ++i) {
    const uint32_t block =
        i * WindowBlockSource::kWindowBlocks + i % WindowBlockSource::kWindowBlocks;
    pinned.emplace_back(block, source->Pin(block).value());
  }
  for (const auto& [block, bytes] : pinned) EXPECT_EQ(NumberIn(bytes), block);
  for (const auto& [block, bytes] : pinned) source->Unpin(block, bytes);
  const uint64_t used = budget.used_bytes();
  for (uint32_t block = 0; block < kPins * WindowBlockSource::kWindowBlocks; ++block) {
    const auto bytes = source->Pin(block);
    ASSERT_OK(bytes);
    EXPECT_EQ(NumberIn(*bytes), block);
    source->Unpin(block, *bytes);
  }
  EXPECT_EQ(budget.used_bytes(), used) << "windows are used again";
}

TEST(WindowBlockSource, DamageIsToldToWhoAsksForTheBlock) {
  MemoryFileSystem files;
  WriteBlocks(files, 40);
  {
    const auto file = files.Open("segment", OpenMode::kReadWrite).value();
    ASSERT_OK(file->WriteAt(18 * kBlockBytes + 100, std::vector<std::byte>(1, std::byte{9})));
  }
  const auto source = OpenSource(files).value();
  for (uint32_t block = 0; block < 40; ++block) {
    const auto bytes = source->Pin(block);
    EXPECT_EQ(bytes.ok(), block != 18) << block;
    if (bytes.ok()) source->Unpin(block, *bytes);
  }
  const Status status = source->Pin(18).status();
  EXPECT_CODE(status, Code::kDataLoss);
  EXPECT_EQ(status.detail(), Detail::kChecksum);
  EXPECT_EQ(status.file(), "segment");
  const auto foreign = OpenSource(files, nullptr, kOwnSegment + 1).value();
  EXPECT_EQ(foreign->Pin(0).status().detail(), Detail::kForeign);
  EXPECT_EQ(source->Pin(40).status().detail(), Detail::kMissing);
}

TEST(WindowBlockSource, ABudgetWithoutRoomFailsThePin) {
  MemoryFileSystem files;
  WriteBlocks(files, 64);
  MemoryBudget budget("test", kWindowBytes);
  const auto source = OpenSource(files, &budget).value();
  // Windows are as small as the budget: these blocks fill it.
  std::vector<const std::byte*> pinned;
  for (uint32_t block = 0; block < WindowBlockSource::kWindowBlocks; ++block)
    pinned.push_back(source->Pin(block).value());
  const Status status = source->Pin(WindowBlockSource::kWindowBlocks).status();
  EXPECT_CODE(status, Code::kResourceExhausted);
  EXPECT_EQ(status.detail(), Detail::kMemory);
  for (uint32_t block = 0; block < pinned.size(); ++block) {
    EXPECT_EQ(NumberIn(pinned[block]), block);
    source->Unpin(block, pinned[block]);
  }
  EXPECT_OK(source->Pin(WindowBlockSource::kWindowBlocks)) << "a window is used again";
}

TEST(WindowBlockSource, RefusesWhatIsNoRunOfBlocks) {
  MemoryFileSystem files;
  ASSERT_OK(files.Open("segment", OpenMode::kCreate));
  EXPECT_EQ(OpenSource(files).status().detail(), Detail::kTruncated);
  ASSERT_OK(files.Open("segment", OpenMode::kReadWrite)
                .value()
                ->WriteAt(0, std::vector<std::byte>(kBlockBytes + 1)));
  EXPECT_EQ(OpenSource(files).status().detail(), Detail::kMisaligned);
}

}  // namespace
}  // namespace pigment
