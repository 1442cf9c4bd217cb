// SPDX-License-Identifier: Apache-2.0
//
// Blocks in memory: a sink that keeps what it is given and a source that reads it back. For tests
// and small temporary segments. Reading from any thread once nobody writes.

#pragma once

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/block/block_source.h"

namespace pigment {

class MemoryBlockSource : public BlockSource, public BlockSink {
 public:
  explicit MemoryBlockSource(std::string name) : name_(std::move(name)) {}

  Result<const std::byte*> Pin(uint32_t physical) override {
    if (physical >= blocks_.size()) {
      return DataLoss(Detail::kMissing, name_,
                      static_cast<int64_t>(physical) * static_cast<int64_t>(kBlockBytes),
                      fmt::format("block {} of \"{}\" is missing: there are {}", physical, name_,
                                  blocks_.size()));
    }
    return blocks_[physical]->data();
  }
  void Unpin(uint32_t, const std::byte*) override {}
  bool verifies_on_load() const override { return false; }
  const std::string& name() const override { return name_; }
  std::optional<uint32_t> blocks() const override { return static_cast<uint32_t>(blocks_.size()); }

  Result<uint32_t> Write(ConstBlockBytes block) override {
    auto copy = std::make_unique<Block>();
    std::memcpy(copy->data(), block.data(), kBlockBytes);
    blocks_.push_back(std::move(copy));
    return static_cast<uint32_t>(blocks_.size() - 1);
  }

  // For tests that damage or move blocks. REQUIRES: physical < blocks().
  BlockBytes Mutable(uint32_t physical) { return BlockBytes(*blocks_[physical]); }
  void Truncate(uint32_t blocks) { blocks_.resize(blocks); }

 private:
  using Block = std::array<std::byte, kBlockBytes>;
  const std::string name_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace pigment
