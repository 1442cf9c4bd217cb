// SPDX-License-Identifier: Apache-2.0
//
// Puts the parts of a segment into blocks. Parts grow side by side: each keeps a run of blocks in
// memory and writes it when it is full, so that a segment of any size is written in one pass with
// little memory; what fits one block in the end is packed with others, in the root where there is
// room. One thread; the sink is borrowed.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/segment/root.h"
#include "engine/segment/segment_writer.h"

namespace pigment {

class PartWriter;

class BlockPacker {
 public:
  // Buffers are charged to `budget` (may be null).
  BlockPacker(uint32_t segment, BlockSink* sink, MemoryBudget* budget);
  ~BlockPacker();

  // The part of this kind; begins it at the first call. `element_bytes` 0: a stream. At most one
  // part of a kind.
  PartWriter* Part(BlockKind kind, uint32_t element_bytes);

  // Writes what parts still hold, overflow extents and the root; `header` has the counts.
  Result<SegmentSummary> Finish(RootHeader header);

 private:
  friend class PartWriter;

  struct Run {
    uint32_t physical;
    uint32_t count;
  };
  // Blocks of small parts; bins[0] is the root.
  struct Bin {
    size_t used = 0;
    std::vector<PartWriter*> parts;
  };

  // Seals a block with this payload (short ones end in zeros) and writes it.
  Result<uint32_t> Put(std::string_view payload, BlockKind kind, uint32_t number, uint8_t format);
  Status PutRun(PartWriter& part, size_t bytes);
  void AppendExtent(uint32_t physical, uint32_t count);
  std::vector<Bin> Pack(std::vector<PartWriter*> small) const;
  Status PutPacked(const std::vector<Bin>& bins);
  Status PutExtents(RootHeader& header, size_t in_root);
  Result<SegmentSummary> PutRoot(RootHeader& header, const Bin& bin, size_t in_root);

  const uint32_t segment_;
  BlockSink* const sink_;
  Reservation reservation_;
  size_t run_bytes_;  // of payload: what a part keeps before it writes
  std::array<std::byte, kBlockBytes> block_{};
  uint64_t written_blocks_ = 0;
  std::vector<std::unique_ptr<PartWriter>> parts_;
  std::vector<PartEntry> entries_;
  std::vector<Extent> extents_;
  uint32_t logical_ = 0;  // the next number within the segment, once parts are numbered
};

// One part. Elements and streams are appended as segment.h says how they lie in blocks.
class PartWriter {
 public:
  PartWriter(BlockPacker* packer, BlockKind kind, uint32_t element_bytes);

  Status AddElement(const void* element);  // element_bytes of them
  // An element of a part that may be a stream of these (DenseElementBytes).
  Status AddDense(const void* element, size_t bytes) {
    if (entry_.element_bytes != 0) return AddElement(element);
    return AddStream({static_cast<const char*>(element), bytes});
  }
  template <typename T>
  Status Add(const T& value) {
    return AddElement(&value);
  }
  Status AddStream(std::string_view bytes);
  uint64_t bytes() const { return entry_.bytes; }

 private:
  friend class BlockPacker;

  Status Append(std::string_view bytes);
  Status PadBlock();

  BlockPacker* const packer_;
  PartEntry entry_{};      // kind, element bytes, bytes; blocks: those written
  std::string buffer_;     // payload that is not written, block after block
  std::vector<BlockPacker::Run> runs_;
};

}  // namespace pigment
