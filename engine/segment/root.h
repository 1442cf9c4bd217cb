// SPDX-License-Identifier: Apache-2.0
//
// The root of a segment as bytes, and what a reader knows after it has checked it. The layout is
// drawn in segment.h. Plain values; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/block/block_source.h"
#include "engine/segment/segment.h"

namespace pigment {

inline constexpr char kRootMagic[8] = {'P', 'I', 'G', 'S', 'E', 'G', '\r', '\n'};
inline constexpr uint16_t kSegmentFormat = 1;

struct RootHeader {
  char magic[8];
  uint16_t format;
  uint16_t header_bytes;
  uint32_t segment;
  std::byte owner[16];
  uint32_t dimension;
  uint32_t metric;
  uint32_t rows;
  uint32_t vector_slots;
  uint32_t vectors;
  uint32_t clusters;
  uint32_t kind;
  uint32_t blocks;
  uint16_t parts;
  uint16_t root_extents;
  uint32_t extents_physical;
  uint32_t extents;
  std::byte reserved[20];
};
static_assert(sizeof(RootHeader) == 96);
static_assert(offsetof(RootHeader, owner) == 16 && offsetof(RootHeader, dimension) == 32);
static_assert(offsetof(RootHeader, blocks) == 60 && offsetof(RootHeader, extents) == 72);

struct PartEntry {
  uint32_t kind;
  uint32_t element_bytes;  // 0: a byte stream
  uint32_t first;          // logical block
  uint32_t blocks;
  uint64_t bytes;
};
static_assert(sizeof(PartEntry) == 24);

struct Extent {
  uint32_t logical;
  uint32_t physical;
  uint32_t count;
};
static_assert(sizeof(Extent) == 12);

// Payload of a kExtents block: the rest of the extent map, in a chain that begins at the root.
// Logical numbers in the chain descend from blocks - 2.
struct ExtentsHeader {
  uint32_t next;  // physical block, or kNoBlock
  uint32_t count;
};
static_assert(sizeof(ExtentsHeader) == 8);
inline constexpr uint32_t kExtentsPerBlock =
    (kBlockPayloadBytes - sizeof(ExtentsHeader)) / sizeof(Extent);

// Extents that fit the root beside `parts` part entries.
constexpr uint32_t RootExtentCapacity(size_t parts) {
  return static_cast<uint32_t>(
      (kBlockPayloadBytes - sizeof(RootHeader) - parts * sizeof(PartEntry)) / sizeof(Extent));
}

// How elements lie in the blocks of a part: as many as fit one block, or consecutive blocks for
// each that fits none. Streams are runs of bytes without gaps.
constexpr uint32_t ElementsPerBlock(uint32_t element_bytes) {
  return static_cast<uint32_t>(kBlockPayloadBytes / element_bytes);  // 0 when larger than a block
}
constexpr uint32_t BlocksPerElement(uint32_t element_bytes) {
  return static_cast<uint32_t>((element_bytes + kBlockPayloadBytes - 1) / kBlockPayloadBytes);
}
// Blocks that `bytes` take as elements of `element_bytes` (0: a stream). REQUIRES: bytes is a
// multiple of element_bytes.
uint64_t BlocksOfPart(uint32_t element_bytes, uint64_t bytes);

struct Root {
  SegmentInfo info;
  std::vector<PartEntry> parts;
  std::vector<Extent> extents;  // ascending, without gaps, cover every block of the parts

  // Null when the segment has no such part.
  const PartEntry* Find(BlockKind kind) const;
  // REQUIRES: logical lies within the parts.
  uint32_t PhysicalOf(uint32_t logical) const;
};

// Reads and checks the root at `physical` and its extents: afterwards every number of it is bounded
// by another that is, and by the source's size where the source knows it.
Result<Root> ReadRoot(BlockSource* source, uint32_t physical,
                      std::optional<uint32_t> expected_segment);

}  // namespace pigment
