// SPDX-License-Identifier: Apache-2.0
//
// The blocks of one segment file of a store. A block is read with pread into an anonymous arena
// when it is first pinned, verified there (checksum, format, segment, place: in a file the physical
// number is the logical one), and stays. A resident block costs one bit test. Any thread; two
// threads that miss the same block read it once.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/base/memory_budget.h"
#include "engine/block/arena.h"
#include "engine/block/block_source.h"

namespace pigment {

class FileBlockSource final : public BlockSource {
 public:
  // The file must hold one segment, `segment`, block after block. A size that is no multiple of a
  // block: kDataLoss, Detail::kMisaligned; empty: Detail::kTruncated. Loaded blocks are charged to
  // `budget` (borrowed, may be null); what does not fit fails the Pin with kResourceExhausted.
  static Result<std::unique_ptr<FileBlockSource>> Open(std::unique_ptr<File> file, uint32_t segment,
                                                       MemoryBudget* budget);

  ~FileBlockSource() override;

  Result<const std::byte*> Pin(uint32_t physical) override;
  void Unpin(uint32_t, const std::byte*) override {}
  bool verifies_on_load() const override { return true; }
  const std::string& name() const override { return file_->path(); }
  std::optional<uint32_t> blocks() const override { return blocks_; }

  uint64_t blocks_loaded() const { return blocks_loaded_.load(std::memory_order_relaxed); }
  uint64_t reads() const { return reads_.load(std::memory_order_relaxed); }  // calls of ReadAt

 private:
  // Blocks are loaded in runs within a group, under the group's mutex.
  static constexpr uint32_t kGroupBlocks = 64;
  static constexpr uint32_t kMutexesMax = 64;

  FileBlockSource(std::unique_ptr<File> file, uint32_t segment, uint32_t blocks,
                  MemoryBudget* budget, Arena arena);

  bool IsLoaded(uint32_t physical) const {
    return loaded_[physical / kGroupBlocks].load(std::memory_order_acquire) >>
               (physical % kGroupBlocks) &
           1;
  }
  Status Load(uint32_t physical);
  uint64_t bytes_loaded() const { return blocks_loaded() * kBlockBytes; }
  // Reads and verifies; a damaged block stays unloaded. The status is that of the first block.
  Status ReadRun(uint32_t first, uint32_t count);

  const std::unique_ptr<File> file_;
  const uint32_t segment_;
  const uint32_t blocks_;
  const Arena arena_;
  std::vector<std::atomic<uint64_t>> loaded_;  // a bit per block, set after it was verified
  const uint32_t mutex_count_;
  const std::unique_ptr<std::mutex[]>
      mutexes_;  // mutexes_[group % mutex_count_] guards loading into that group

  MemoryBudget* const budget_;  // charged kBlockBytes per loaded block
  std::atomic<uint64_t> blocks_loaded_{0};
  std::atomic<uint64_t> reads_{0};
};

}  // namespace pigment
