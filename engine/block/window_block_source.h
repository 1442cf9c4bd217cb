// SPDX-License-Identifier: Apache-2.0
//
// The blocks of one segment file, for whoever reads it once from end to end in several streams side
// by side (a merge): long reads, each block verified when it is loaded, and only a few windows
// kept, so that memory does not depend on the size of the file and what queries have loaded is left
// alone. One thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/base/memory_budget.h"
#include "engine/block/block_source.h"

namespace pigment {

class WindowBlockSource final : public BlockSource {
 public:
  // One window for each part of a segment that is read in order, and some to spare.
  static constexpr size_t kWindows = 16;
  static constexpr uint32_t kWindowBlocks = 16;  // fewer where the budget is small

  // As FileBlockSource::Open. Windows are charged to `budget` (borrowed, may be null) when they are
  // first used; where it has no room there are fewer, and none for a block to be pinned fails the
  // Pin with kResourceExhausted.
  static Result<std::unique_ptr<WindowBlockSource>> Open(std::unique_ptr<File> file,
                                                         uint32_t segment, MemoryBudget* budget);

  Result<const std::byte*> Pin(uint32_t physical) override;
  void Unpin(uint32_t physical, const std::byte* bytes) override;
  bool verifies_on_load() const override { return true; }
  const std::string& name() const override { return file_->path(); }
  std::optional<uint32_t> blocks() const override { return blocks_; }

  uint64_t reads() const { return reads_; }  // calls of ReadAt

 private:
  struct Window {
    uint32_t first = kNoBlock;  // physical block
    uint32_t pins = 0;
    uint64_t used = 0;      // when it was last asked for
    uint32_t verified = 0;  // a bit per block
    std::unique_ptr<std::byte[]> bytes;
  };

  WindowBlockSource(std::unique_ptr<File> file, uint32_t segment, uint32_t blocks,
                    MemoryBudget* budget);

  // The window to load into: the least recently used one that nobody pins, or another.
  Result<Window*> FreeWindow();
  Status Load(Window& window, uint32_t first);
  Status CheckBlock(const Window& window, uint32_t index) const;

  const std::unique_ptr<File> file_;
  const uint32_t segment_;
  const uint32_t blocks_;
  const uint32_t window_blocks_;
  Reservation reservation_;
  std::vector<std::unique_ptr<Window>> windows_;
  Window* last_ = nullptr;
  uint64_t clock_ = 0;
  uint64_t reads_ = 0;
};

}  // namespace pigment
