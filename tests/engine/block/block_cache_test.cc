// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a store with a memory budget: everything can be read however small the budget, what is
// pinned stays, and others get what the cache can spare.

#include "engine/block/block_cache.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "engine/base/memory_files.h"
#include "engine/block/file_block_sink.h"
#include "engine/block/file_block_source.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

using Block = std::array<std::byte, kBlockBytes>;

class BlockCacheTest : public testing::Test {
 protected:
  void WriteBlocks(const std::string& name, uint32_t segment, uint32_t count) {
    auto file = files_.Open(name, OpenMode::kCreate);
    ASSERT_OK(file);
    FileBlockSink sink(file->get());
    for (uint32_t i = 0; i < count; ++i) {
      Block block{};
      const std::array<uint32_t, 2> says{segment, i};
      std::memcpy(block.data() + kBlockHeaderBytes, says.data(), sizeof says);
      SealBlock(BlockBytes(block), BlockKind::kVectors, segment, i);
      ASSERT_OK(sink.Write(ConstBlockBytes(block)));
    }
    ASSERT_OK(sink.Finish());
  }

  std::unique_ptr<FileBlockSource> OpenSource(const std::string& name, uint32_t segment) {
    auto file = files_.Open(name, OpenMode::kRead);
    EXPECT_OK(file);
    auto source = FileBlockSource::Open(std::move(file).value(), segment,
                                        {.budget = &budget_, .cache = &cache_});
    EXPECT_OK(source);
    return std::move(source).value();
  }

  static bool Says(const std::byte* block, uint32_t segment, uint32_t number) {
    std::array<uint32_t, 2> says;
    std::memcpy(says.data(), block + kBlockHeaderBytes, sizeof says);
    return says[0] == segment && says[1] == number;
  }

  static constexpr uint64_t kBudgetBlocks = 100;
  MemoryFileSystem files_;
  MemoryBudget budget_{"of the test", kBudgetBlocks* kBlockBytes};
  BlockCache cache_{&budget_};
};

TEST_F(BlockCacheTest, ReadsTenTimesWhatTheBudgetHolds) {
  WriteBlocks("a", 7, 1000);
  std::mt19937_64 random(1);
  {
    const auto source = OpenSource("a", 7);
    for (int pass = 0; pass < 3; ++pass) {
      for (uint32_t i = 0; i < 1000; ++i) {
        const uint32_t number = pass == 1 ? static_cast<uint32_t>(random() % 1000) : i;
        auto block = source->Pin(number);
        ASSERT_OK(block);
        EXPECT_TRUE(Says(*block, 7, number));
        source->Unpin(number, *block);
        ASSERT_LE(budget_.used_bytes(), budget_.limit_bytes());
        ASSERT_EQ(budget_.used_bytes(), source->blocks_resident() * kBlockBytes);
      }
    }
    EXPECT_GT(cache_.bytes_evicted(), 1900 * kBlockBytes);
    EXPECT_LT(source->blocks_loaded(), 3500u) << "the hand must not take what was just read";
  }
  EXPECT_EQ(budget_.used_bytes(), 0u);
}

TEST_F(BlockCacheTest, KeepsWhatIsUsedAgainAndAgain) {
  WriteBlocks("a", 7, 1000);
  const auto source = OpenSource("a", 7);
  const auto read = [&](uint32_t number) {
    auto block = source->Pin(number);
    ASSERT_OK(block);
    source->Unpin(number, *block);
  };
  // Ten blocks that are used between any two others; the others are far apart, so that nothing is
  // read ahead.
  for (uint32_t i = 0; i < 900; ++i) {
    for (uint32_t often = 0; often < 10; ++often) read(often * 2);
    read(100 + i * 7 % 900);
  }
  EXPECT_LT(source->blocks_loaded(), 1200u);
}

TEST_F(BlockCacheTest, NeverTakesWhatIsPinned) {
  WriteBlocks("a", 7, 1000);
  const auto source = OpenSource("a", 7);
  std::vector<const std::byte*> pinned;
  for (uint32_t i = 0; i < 90; ++i) {
    auto block = source->Pin(i * 3);
    ASSERT_OK(block);
    pinned.push_back(*block);
  }
  for (uint32_t i = 300; i < 1000; ++i) {
    auto block = source->Pin(i);
    ASSERT_OK(block);
    EXPECT_TRUE(Says(*block, 7, i));
    source->Unpin(i, *block);
  }
  for (uint32_t i = 0; i < 90; ++i) {
    EXPECT_TRUE(Says(pinned[i], 7, i * 3));
    source->Unpin(i * 3, pinned[i]);
  }
}

TEST_F(BlockCacheTest, SaysWhoseBudgetItIsWhenEverythingIsPinned) {
  WriteBlocks("a", 7, 200);
  const auto source = OpenSource("a", 7);
  std::vector<const std::byte*> pinned;
  for (uint32_t i = 0; i < kBudgetBlocks; ++i) {
    auto block = source->Pin(i * 2 % 199);
    ASSERT_OK(block);
    pinned.push_back(*block);
  }
  const Status status = source->Pin(199).status();
  EXPECT_EQ(status.detail(), Detail::kMemory);
  EXPECT_NE(status.message().find("of the test"), std::string::npos) << status.ToString();
  source->Unpin(0, pinned[0]);
  auto block = source->Pin(199);
  ASSERT_OK(block);
  EXPECT_TRUE(Says(*block, 7, 199));
}

TEST_F(BlockCacheTest, WhoCannotBeRefusedPinsBeyondTheBudgetUntilOthersNeedTheMemory) {
  WriteBlocks("a", 7, 200);
  const auto source = OpenSource("a", 7);
  BlockSource* const urgent = source->Urgent();
  EXPECT_EQ(urgent->blocks(), source->blocks());
  EXPECT_EQ(urgent->name(), source->name());
  ASSERT_OK(budget_.Charge(kBudgetBlocks * kBlockBytes));
  EXPECT_EQ(source->Pin(11).status().detail(), Detail::kMemory);
  auto block = urgent->Pin(11);
  ASSERT_OK(block);
  EXPECT_TRUE(Says(*block, 7, 11));
  EXPECT_EQ(budget_.used_bytes(), (kBudgetBlocks + 1) * kBlockBytes);
  EXPECT_EQ(source->Pin(12).status().detail(), Detail::kMemory);
  urgent->Unpin(11, *block);
  budget_.Release(kBlockBytes);
  ASSERT_OK(budget_.Charge(kBlockBytes)) << "it gives way to others";
  EXPECT_EQ(source->blocks_resident(), 0u);
  budget_.Release(kBudgetBlocks * kBlockBytes);
  EXPECT_EQ(urgent->Pin(200).status().detail(), Detail::kMissing);
}

TEST_F(BlockCacheTest, GivesWayToWhatElseIsCharged) {
  WriteBlocks("a", 7, 300);
  const auto source = OpenSource("a", 7);
  for (uint32_t i = 0; i < 300; ++i) {
    auto block = source->Pin(i);
    ASSERT_OK(block);
    source->Unpin(i, *block);
  }
  EXPECT_GT(budget_.used_bytes(), 80 * kBlockBytes);
  ASSERT_OK(budget_.Charge(70 * kBlockBytes));
  EXPECT_LE(source->blocks_resident(), 30u);
  auto block = source->Pin(150);
  ASSERT_OK(block);
  EXPECT_TRUE(Says(*block, 7, 150));
  EXPECT_EQ(budget_.Charge(100 * kBlockBytes).detail(), Detail::kMemory);
  budget_.Release(70 * kBlockBytes);
}

TEST_F(BlockCacheTest, LeavesADamagedBlockOutAndItsCountAtZero) {
  WriteBlocks("a", 7, 10);
  {
    auto file = files_.Open("a", OpenMode::kReadWrite);
    ASSERT_OK(file);
    ASSERT_OK((*file)->WriteAt(5 * kBlockBytes + 100, std::array<std::byte, 1>{std::byte{1}}));
  }
  const auto source = OpenSource("a", 7);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(source->Pin(5).status().detail(), Detail::kChecksum);
  EXPECT_EQ(budget_.used_bytes(), 0u);
  for (uint32_t i = 0; i < 5; ++i) {
    auto block = source->Pin(i);
    ASSERT_OK(block);
    source->Unpin(i, *block);
  }
  EXPECT_EQ(cache_.Reclaim(10 * kBlockBytes), 5 * kBlockBytes);
}

TEST_F(BlockCacheTest, ServesThreadsWhileSourcesComeAndGo) {
  constexpr uint32_t kSources = 4;
  constexpr uint32_t kBlocks = 300;
  for (uint32_t s = 0; s < kSources; ++s) WriteBlocks(std::to_string(s), s + 1, kBlocks);
  std::vector<std::unique_ptr<FileBlockSource>> sources;
  for (uint32_t s = 0; s < kSources; ++s) sources.push_back(OpenSource(std::to_string(s), s + 1));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      std::unique_ptr<FileBlockSource> own;
      for (int i = 0; i < 3000; ++i) {
        if (i % 100 == 0) own = OpenSource("0", 1);
        const uint32_t s = static_cast<uint32_t>(random() % (kSources + 1));
        FileBlockSource& source = s == kSources ? *own : *sources[s];
        const uint32_t segment = s == kSources ? 1 : s + 1;
        // A few at once, as cursors do, over neighbours as scans do.
        std::array<const std::byte*, 4> held{};
        const uint32_t first = static_cast<uint32_t>(random() % (kBlocks - 4));
        for (uint32_t j = 0; j < held.size(); ++j) {
          auto block = source.Pin(first + j);
          if (block.ok()) {
            held[j] = *block;
          } else {
            ++wrong;
          }
        }
        if (i % 50 == 0) (void)cache_.Reclaim(20 * kBlockBytes);
        for (uint32_t j = 0; j < held.size(); ++j) {
          if (held[j] == nullptr) continue;
          if (!Says(held[j], segment, first + j)) ++wrong;
          source.Unpin(first + j, held[j]);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(budget_.used_bytes(), budget_.limit_bytes());
  uint64_t resident = 0;
  for (const auto& source : sources) resident += source->blocks_resident();
  EXPECT_EQ(budget_.used_bytes(), resident * kBlockBytes);
  EXPECT_GT(cache_.bytes_evicted(), 1000 * kBlockBytes);
}

}  // namespace
}  // namespace pigment
