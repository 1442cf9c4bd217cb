// SPDX-License-Identifier: Apache-2.0
//
// One walk over the blocks of a large file that nobody has read yet: through a buffer that stays in
// the nearest cache, each block verified when it is pinned and forgotten when the walk goes on.
// Made by FileBlockSource::NewPass, which must outlive it. One thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/memory_budget.h"
#include "engine/block/block_source.h"

namespace pigment {

class FileBlockSource;

class FileBlockPass final : public BlockSource {
 public:
  // Half of what is cheap to keep near while the blocks are looked at.
  static constexpr uint32_t kBufferBlocks = 32;

  // `budget` (may be null) is charged for the buffer.
  static Result<std::unique_ptr<FileBlockPass>> Make(FileBlockSource* source, MemoryBudget* budget);

  // A block that the source holds is given from there, and a second one while another of the buffer
  // is pinned is loaded there.
  Result<const std::byte*> Pin(uint32_t physical) override;
  void Unpin(uint32_t physical, const std::byte* bytes) override;
  bool verifies_on_load() const override { return true; }
  const std::string& name() const override;
  std::optional<uint32_t> blocks() const override;

 private:
  FileBlockPass(FileBlockSource* source, Reservation reservation);

  bool Holds(uint32_t physical) const { return physical - first_ < count_; }
  Status Load(uint32_t physical);
  std::byte* AddressOf(uint32_t physical) const {
    return bytes_.get() + size_t{physical - first_} * kBlockBytes;
  }

  FileBlockSource* const source_;
  Reservation reservation_;
  const std::unique_ptr<std::byte[]> bytes_;
  uint32_t first_ = 0;
  uint32_t count_ = 0;
  uint32_t verified_ = 0;  // a bit per block of the buffer
  uint32_t pins_ = 0;      // of blocks of the buffer
};
static_assert(FileBlockPass::kBufferBlocks <= 32);

}  // namespace pigment
