// SPDX-License-Identifier: Apache-2.0
//
// Writes a segment file block after block, through a buffer so that the kernel sees large writes.
// One thread. Durable only after Finish() and the caller's Sync of the file.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/files.h"
#include "engine/block/block_source.h"

namespace pigment {

class FileBlockSink final : public BlockSink {
 public:
  explicit FileBlockSink(File* file) : file_(file) {}  // borrowed; must be empty

  Result<uint32_t> Write(ConstBlockBytes block) override;
  // Writes what is still buffered.
  Status Finish();

 private:
  static constexpr size_t kBufferBytes = size_t{1} << 20;

  File* const file_;
  std::vector<std::byte> buffer_;
  uint64_t written_bytes_ = 0;
};

}  // namespace pigment
