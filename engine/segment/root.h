// SPDX-License-Identifier: Apache-2.0
//
// The root of a segment as bytes, and what a reader knows after it has checked it. The layout is
// drawn in segment.h. Plain values; any thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/block/block_source.h"
#include "engine/segment/segment.h"

namespace pigment {

inline constexpr char kRootMagic[8] = {'P', 'I', 'G', 'S', 'E', 'G', '\r', '\n'};
inline constexpr uint16_t kSegmentFormat = 2;  // what is written; 1 is read

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
  uint32_t packed_blocks;
  uint64_t document_bytes;
  uint32_t document_chunk_bytes;
  uint32_t vector_element;
};
static_assert(sizeof(RootHeader) == 96);
static_assert(offsetof(RootHeader, owner) == 16 && offsetof(RootHeader, dimension) == 32);
static_assert(offsetof(RootHeader, blocks) == 60 && offsetof(RootHeader, extents) == 72);
static_assert(offsetof(RootHeader, document_bytes) == 80);
static_assert(offsetof(RootHeader, vector_element) == 92);

struct PartEntry {
  uint32_t kind;
  uint32_t element_bytes;  // 0: a byte stream
  uint32_t first;          // logical block
  uint32_t blocks;
  uint64_t bytes;
  uint32_t offset;  // version 2, of a packed part: where it begins in the payload of block `first`
  uint32_t reserved;

  // Lies within one block that other parts share: a packed one or the root.
  bool is_packed() const { return blocks == 0 && bytes != 0; }
};
static_assert(sizeof(PartEntry) == 32);
inline constexpr size_t kPartEntryBytes1 = 24;  // in version 1, without the last two members

struct Extent {
  uint32_t logical;
  uint32_t physical;
  uint32_t count;
};
static_assert(sizeof(Extent) == 12);

// Documents are cut into chunks of this many bytes before compression, short ones into smaller ones
// (documents.cc); readers take what the root says within these bounds, so a chunk's memory is
// bounded.
inline constexpr uint32_t kDocumentChunkBytes = 4 << 10;
inline constexpr uint32_t kDocumentChunkBytesMin = 1 << 10;
inline constexpr uint32_t kDocumentChunkBytesMax = 1 << 20;

// Payload of a kExtents block: the rest of the extent map, in a chain that begins at the root.
// Logical numbers in the chain descend from blocks - 2.
struct ExtentsHeader {
  uint32_t next;  // physical block, or kNoBlock
  uint32_t count;
};
static_assert(sizeof(ExtentsHeader) == 8);
inline constexpr uint32_t kExtentsPerBlock =
    (kBlockPayloadBytes - sizeof(ExtentsHeader)) / sizeof(Extent);

// Extents that fit the root beside `parts` part entries of version 2.
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
// What vectors and nodes say of themselves: their size, or 0, a stream, where none fits a block, or
// elements would leave more than a 32nd of each empty.
constexpr uint32_t DenseElementBytes(uint64_t bytes) {
  if (bytes > kBlockPayloadBytes) return 0;
  const bool is_full = kBlockPayloadBytes / bytes * bytes * 32 >= kBlockPayloadBytes * 31;
  return is_full ? static_cast<uint32_t>(bytes) : 0;
}
// Blocks that `bytes` take as elements of `element_bytes` (0: a stream). REQUIRES: bytes is a
// multiple of element_bytes.
uint64_t BlocksOfPart(uint32_t element_bytes, uint64_t bytes);

struct Root {
  SegmentInfo info;
  uint16_t format = kSegmentFormat;
  uint32_t physical = 0;  // of the root itself
  uint64_t document_bytes = 0;
  uint32_t document_chunk_bytes = 0;
  std::vector<PartEntry> parts;
  std::vector<Extent> extents;  // ascending, without gaps, cover every block but root and kExtents
  std::vector<uint32_t> extent_blocks;  // where the kExtents blocks lie

  // Null when the segment has no such part.
  const PartEntry* Find(BlockKind kind) const {
    const uint8_t place = places[static_cast<size_t>(kind)];
    return place != 0 ? &parts[place - 1] : nullptr;
  }
  // Where the part's block number `index` lies, and what it must say of itself. REQUIRES of both:
  // `part` is one of `parts`, index < part.blocks, or 0 for a packed part.
  uint32_t PhysicalOf(const PartEntry& part, uint32_t index) const {
    const PartMap& map = maps[static_cast<size_t>(&part - parts.data())];
    return map.physical[index >> map.shift] + (index & ((uint32_t{1} << map.shift) - 1));
  }
  BlockExpectation ExpectationOf(const PartEntry& part, uint32_t index) const {
    const uint32_t logical = part.first + index;
    if (part.is_packed()) {
      return {logical == info.blocks - 1 ? BlockKind::kRoot : BlockKind::kPacked, info.segment,
              logical};
    }
    return {static_cast<BlockKind>(part.kind), info.segment, format > 1 ? index : logical};
  }

  // Finds what is looked up by kind and by block. REQUIRES: parts and extents are those of a root
  // that was checked.
  void MakeMaps();

  std::array<uint8_t, 64> places{};  // by kind: index in `parts` + 1, 0 where there is none

 private:
  // Extents of a part begin at multiples of the runs that were written, so that a shift finds the
  // one of a block: the first physical block of each 2^shift blocks.
  struct PartMap {
    uint32_t shift;
    std::vector<uint32_t> physical;
  };
  PartMap MapOf(const PartEntry& part) const;
  // The extent of a logical block other than the root.
  size_t ExtentOf(uint32_t logical) const;

  std::vector<PartMap> maps;  // of `parts`
};

// Reads and checks the root at `physical` and its extents: afterwards every number of it is bounded
// by another that is, and by the source's size where the source knows it.
Result<Root> ReadRoot(BlockSource* source, uint32_t physical,
                      std::optional<uint32_t> expected_segment);

}  // namespace pigment
