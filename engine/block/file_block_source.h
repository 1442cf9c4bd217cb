// SPDX-License-Identifier: Apache-2.0
//
// The blocks of one segment file of a store. A block is read with pread into an anonymous arena
// when it is first pinned and verified there (checksum, format, segment; the place where the block
// is numbered within the segment: in a file the physical number is the logical one). Without a
// limit of memory it stays, and a resident block costs one bit test. With a BlockCache pins are
// counted, and what nobody pins may be given up; a resident block costs one atomic addition. The
// first walk over a large file keeps nothing (FileBlockPass). Where more than half of a large
// page's blocks is loaded and nothing is given up, the others follow, and the large page is asked
// for: searches jump about, and spend much of their time on finding out where small pages are. A
// mapped file is verified block by block in the same way and takes no memory of its own. Any
// thread; two threads that miss the same block read it once.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/base/large_pages.h"
#include "engine/base/memory_budget.h"
#include "engine/block/arena.h"
#include "engine/block/block_cache.h"
#include "engine/block/block_source.h"

namespace pigment {

struct FileBlockOptions {
  MemoryBudget* budget = nullptr;  // loaded blocks are charged here; borrowed, may be null
  BlockCache* cache = nullptr;     // of that budget: blocks may be given up; borrowed, may be null
  // Maps the file instead of reading it, where its file system can. Faster to open and shared
  // between processes; but a disk that fails, or a file that somebody truncates, kills the process
  // by SIGBUS.
  bool map = false;
  // The first pass over a file of this size or more keeps nothing (FileBlockPass).
  uint64_t pass_bytes_min = uint64_t{4} << 20;
};

class FileBlockSource final : public BlockSource, private EvictableBlocks {
 public:
  // The file must hold one segment, `segment`, block after block. A size that is no multiple of a
  // block: kDataLoss, Detail::kMisaligned; empty: Detail::kTruncated. A block that finds no room in
  // the budget fails its Pin with kResourceExhausted.
  static Result<std::unique_ptr<FileBlockSource>> Open(std::unique_ptr<File> file, uint32_t segment,
                                                       const FileBlockOptions& options);
  static Result<std::unique_ptr<FileBlockSource>> Open(std::unique_ptr<File> file, uint32_t segment,
                                                       MemoryBudget* budget) {
    return Open(std::move(file), segment, FileBlockOptions{.budget = budget});
  }

  ~FileBlockSource() override;

  Result<const std::byte*> Pin(uint32_t physical) override;
  void Unpin(uint32_t physical, const std::byte*) override {
    if (!states_.empty()) states_[physical].fetch_sub(1, std::memory_order_release);
  }
  bool verifies_on_load() const override { return true; }
  const std::byte* Resident(uint32_t physical) const override {
    return states_.empty() && IsLoaded(physical) ? AddressOf(physical) : nullptr;
  }
  bool ReadAhead(uint32_t physical) override;
  // The first one over a large file, of a store without a limit: most of what a first look costs is
  // memory for what it reads, and who looks once needs none. Who looks again loads.
  Result<std::unique_ptr<BlockSource>> NewPass() override;
  BlockSource* Urgent() override { return &urgent_; }
  std::span<std::atomic<uint64_t>> checked_blocks() override { return checked_; }
  const std::string& name() const override { return file_->path(); }
  std::optional<uint32_t> blocks() const override { return blocks_; }

  bool is_mapped() const { return mapping_ != nullptr; }
  // Blocks that were verified, again after they were given up; those resident now; calls of ReadAt.
  uint64_t blocks_loaded() const { return blocks_loaded_.load(std::memory_order_relaxed); }
  uint64_t blocks_resident() const { return blocks_resident_.load(std::memory_order_relaxed); }
  uint64_t reads() const { return reads_.load(std::memory_order_relaxed); }

 private:
  friend class FileBlockPass;

  class UrgentSource final : public BlockSource {
   public:
    explicit UrgentSource(FileBlockSource* source) : source_(*source) {}
    Result<const std::byte*> Pin(uint32_t physical) override {
      return source_.PinAs(physical, Need::kUrgent);
    }
    void Unpin(uint32_t physical, const std::byte* bytes) override {
      source_.Unpin(physical, bytes);
    }
    bool verifies_on_load() const override { return source_.verifies_on_load(); }
    const std::byte* Resident(uint32_t physical) const override {
      return source_.Resident(physical);
    }
    std::span<std::atomic<uint64_t>> checked_blocks() override { return source_.checked_; }
    const std::string& name() const override { return source_.name(); }
    std::optional<uint32_t> blocks() const override { return source_.blocks_; }

   private:
    FileBlockSource& source_;
  };

  // Whether a block that finds no room in the budget is refused.
  enum class Need { kUsual, kUrgent };

  // For a pass: reads blocks from `first` on, and verifies one of them.
  Status ReadPassing(uint32_t first, std::span<std::byte> out);
  Status VerifyPassing(uint32_t physical, const std::byte* bytes);

  // Blocks are loaded in runs within a group, under the group's mutex.
  static constexpr uint32_t kGroupBlocks = 64;
  static constexpr uint32_t kLargePageBlocks = kLargePageBytes / kBlockBytes;
  static_assert(kLargePageBlocks % kGroupBlocks == 0);
  // A word of states_: these, and below them the number of pins.
  static constexpr uint32_t kLoaded = uint32_t{1} << 31;
  static constexpr uint32_t kUsed = uint32_t{1} << 30;  // since the clock's hand passed
  static constexpr uint32_t kPins = kUsed - 1;

  FileBlockSource(std::unique_ptr<File> file, uint32_t segment, uint32_t blocks,
                  const FileBlockOptions& options, Arena arena,
                  std::unique_ptr<FileMapping> mapping);

  bool IsLoaded(uint32_t physical) const {
    if (!states_.empty()) return states_[physical].load(std::memory_order_acquire) & kLoaded;
    return loaded_[physical / kGroupBlocks].load(std::memory_order_acquire) >>
               (physical % kGroupBlocks) &
           1;
  }
  const std::byte* AddressOf(uint32_t physical) const {
    return data_ + static_cast<size_t>(physical) * kBlockBytes;
  }
  std::mutex& MutexOf(uint32_t group) const { return mutexes_[group % mutex_count_]; }
  Result<const std::byte*> PinAs(uint32_t physical, Need need);
  Result<const std::byte*> PinCounted(uint32_t physical, Need need);
  // `pin`: the block is pinned (counted) when this succeeds.
  Status Load(uint32_t physical, bool pin, Need need);
  Status LoadRun(uint32_t physical, bool pin, Need need);
  // Loads what is missing of the large page around a block, once, where there is to be one.
  void LoadLargePage(uint32_t physical);
  // How many blocks from `physical` on to read at once.
  uint32_t RunLength(uint32_t physical) const;
  // Reads and verifies; a damaged block stays unloaded. The status is that of the first block;
  // `added` counts those that are loaded now.
  Status ReadRun(uint32_t first, uint32_t count, uint64_t* added);
  void SetLoaded(uint32_t physical, bool is_used);
  Status VerifyBlock(uint32_t physical) const;

  uint32_t groups() const override { return (blocks_ + kGroupBlocks - 1) / kGroupBlocks; }
  bool has_loaded() const override { return blocks_resident() != 0; }
  uint64_t SweepGroup(uint32_t group) override;

  UrgentSource urgent_{this};
  const std::unique_ptr<File> file_;
  const uint32_t segment_;
  const uint32_t blocks_;
  const Arena arena_;
  const std::unique_ptr<FileMapping> mapping_;
  std::byte* const data_;  // of the arena or of the mapping, which nobody writes
  std::vector<std::atomic<uint64_t>> loaded_;   // without a cache: a bit per block, once verified
  std::vector<std::atomic<uint32_t>> states_;   // with a cache: a word per block
  std::vector<std::atomic<uint64_t>> checked_;  // see BlockSource; where blocks stay as they are
  const uint32_t mutex_count_;
  // mutexes_[group % mutex_count_] guards loading into that group and giving up of its blocks.
  const std::unique_ptr<std::mutex[]> mutexes_;

  MemoryBudget* const budget_;  // charged kBlockBytes per resident block
  BlockCache* const cache_;
  std::atomic<uint64_t> blocks_loaded_{0};
  std::atomic<uint64_t> blocks_resident_{0};
  std::atomic<uint64_t> reads_{0};
  std::atomic<uint32_t> blocks_ahead_{0};  // that the file is still to be told of
  std::atomic<bool> wants_pass_;
  std::vector<std::atomic<bool>> large_pages_;  // those that were made, or given up; none: no arena
};

}  // namespace pigment
