// SPDX-License-Identifier: Apache-2.0
//
// The first walk over a large file: the same blocks as pins give, each verified, few reads, and
// nothing kept.

#include "engine/block/file_block_pass.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "engine/base/memory_files.h"
#include "engine/block/file_block_sink.h"
#include "engine/block/file_block_source.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

constexpr uint32_t kBlocks = 1000;
constexpr uint32_t kSegment = 7;

class FileBlockPassTest : public testing::Test {
 protected:
  void SetUp() override {
    auto file = files_.Open("segment", OpenMode::kCreate);
    ASSERT_OK(file);
    FileBlockSink sink(file->get());
    for (uint32_t i = 0; i < kBlocks; ++i) {
      std::array<std::byte, kBlockBytes> block{};
      std::memcpy(block.data() + kBlockHeaderBytes, &i, sizeof i);
      SealBlock(BlockBytes(block), BlockKind::kVectors, kSegment, i);
      ASSERT_OK(sink.Write(ConstBlockBytes(block)));
    }
    ASSERT_OK(sink.Finish());
  }

  std::unique_ptr<FileBlockSource> Open(const FileBlockOptions& options = {}) {
    auto file = files_.Open("segment", OpenMode::kRead);
    return FileBlockSource::Open(std::move(*file), kSegment, options).value();
  }

  void FlipBit(uint32_t block) {
    auto file = files_.Open("segment", OpenMode::kReadWrite);
    std::byte byte;
    const uint64_t offset = uint64_t{block} * kBlockBytes + 1000;
    ASSERT_OK((*file)->ReadAt(offset, std::span(&byte, 1)));
    byte ^= std::byte{4};
    ASSERT_OK((*file)->WriteAt(offset, std::span(&byte, 1)));
  }

  static uint32_t NumberIn(const std::byte* block) {
    uint32_t number;
    std::memcpy(&number, block + kBlockHeaderBytes, sizeof number);
    return number;
  }

  MemoryFileSystem files_;
};

TEST_F(FileBlockPassTest, GivesWhatPinsGiveAndKeepsNothing) {
  MemoryBudget budget("test");
  const auto source = Open({.budget = &budget});
  {
    auto pass = source->NewPass();
    ASSERT_OK(pass);
    ASSERT_NE(*pass, nullptr);
    const auto plain = Open();
    for (uint32_t i = 0; i < kBlocks; ++i) {
      auto block = (*pass)->Pin(i);
      ASSERT_OK(block);
      EXPECT_EQ(std::memcmp(*block, *plain->Pin(i), kBlockBytes), 0) << i;
      (*pass)->Unpin(i, *block);
    }
    EXPECT_EQ(budget.used_bytes(), FileBlockPass::kBufferBlocks * kBlockBytes);
  }
  EXPECT_EQ(source->blocks_resident(), 0u);
  EXPECT_EQ(budget.used_bytes(), 0u);
  EXPECT_EQ(source->blocks_loaded(), kBlocks) << "each was verified once";
  EXPECT_EQ(source->reads(),
            (kBlocks + FileBlockPass::kBufferBlocks - 1) / FileBlockPass::kBufferBlocks);
  auto second = source->NewPass();
  ASSERT_OK(second);
  EXPECT_EQ(*second, nullptr) << "who looks again loads";
}

TEST_F(FileBlockPassTest, RandomWalksOverPartlyLoadedFilesGiveEveryBlock) {
  for (const uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto source = Open();
    auto pass = source->NewPass();
    ASSERT_OK(pass);
    std::vector<PinnedBlock> pinned;
    for (uint32_t i = 0; i < kBlocks; i += random() % (seed * 3) + 1) {
      if (random() % 4 == 0) ASSERT_OK(source->Pin(static_cast<uint32_t>(random() % kBlocks)));
      if (random() % 3 != 0) pinned.clear();
      auto block = (*pass)->Pin(i);
      ASSERT_OK(block);
      pinned.emplace_back(pass->get(), i, *block);
      for (const PinnedBlock& held : pinned) ASSERT_OK(CheckBlockBytes(held.block(), 0, "held"));
      EXPECT_EQ(NumberIn(*block), i);
    }
  }
}

TEST_F(FileBlockPassTest, FewBlocksApartAreReadAloneAndMissingOnesRefused) {
  const auto source = Open();
  auto pass = source->NewPass();
  ASSERT_OK(pass);
  for (const uint32_t i : {0u, 500u, 800u, 999u}) {
    auto block = (*pass)->Pin(i);
    ASSERT_OK(block);
    EXPECT_EQ(NumberIn(*block), i);
    (*pass)->Unpin(i, *block);
  }
  EXPECT_EQ(source->reads(), 4u);
  EXPECT_CODE((*pass)->Pin(kBlocks).status(), Code::kDataLoss);
}

TEST_F(FileBlockPassTest, EveryDamagedBlockIsReportedWithFileAndOffset) {
  for (const uint32_t damaged : {0u, 31u, 32u, 640u, 999u}) {
    SCOPED_TRACE(damaged);
    FlipBit(damaged);
    const auto source = Open();
    auto pass = source->NewPass();
    ASSERT_OK(pass);
    for (uint32_t i = 0; i < kBlocks; ++i) {
      const auto block = (*pass)->Pin(i);
      if (i != damaged) {
        ASSERT_OK(block);
        (*pass)->Unpin(i, *block);
        continue;
      }
      EXPECT_CODE(block.status(), Code::kDataLoss);
      EXPECT_EQ(block.status().detail(), Detail::kChecksum);
      EXPECT_EQ(block.status().file(), "segment");
      EXPECT_EQ(block.status().offset() / static_cast<int64_t>(kBlockBytes), damaged);
    }
    FlipBit(damaged);
  }
}

TEST_F(FileBlockPassTest, SmallFilesAndLimitedStoresHaveNone) {
  auto small = Open({.pass_bytes_min = uint64_t{kBlocks} * kBlockBytes + 1})->NewPass();
  ASSERT_OK(small);
  EXPECT_EQ(*small, nullptr);
  MemoryBudget budget("limited", 1 << 20);
  BlockCache cache(&budget);
  auto limited = Open({.budget = &budget, .cache = &cache})->NewPass();
  ASSERT_OK(limited);
  EXPECT_EQ(*limited, nullptr);
}

}  // namespace
}  // namespace pigment
