// SPDX-License-Identifier: Apache-2.0
//
// The block: 8,192 bytes, the unit in which segments are stored in files and in the pages of a
// host, with one layout in both. Pure functions over bytes; any thread.
//
//   offset size meaning
//   0      24   the host's (PostgreSQL's page header); zero in files; not covered by the checksum
//   24     8152 payload
//   8176   1    kind (BlockKind)
//   8177   1    format of the block: 1 numbered within its segment, 2 within its part
//   8178   2    reserved, zero
//   8180   4    segment id: the stamp that tells whose block this is
//   8184   4    logical block number
//   8188   4    CRC32C of bytes 24..8187
//
// A block whose stored place differs from where it was read is `foreign`, one with another kind
// `wrong kind`, one with another checksum `checksum` (see Detail). All integers are little endian;
// a big-endian machine fails the build.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/status.h"

namespace pigment {

static_assert(std::endian::native == std::endian::little, "the on-disk format is little endian");

inline constexpr size_t kBlockBytes = 8192;
inline constexpr size_t kBlockHeaderBytes = 24;
inline constexpr size_t kBlockTrailerBytes = 16;
inline constexpr size_t kBlockPayloadBytes = kBlockBytes - kBlockHeaderBytes - kBlockTrailerBytes;
inline constexpr uint8_t kBlockOfSegment = 1;  // numbered within the segment
inline constexpr uint8_t kBlockOfPart = 2;     // numbered within the part that its kind names
inline constexpr uint8_t kBlockFormatMax = kBlockOfPart;
inline constexpr uint32_t kNoBlock = 0xFFFFFFFF;
static_assert(kBlockPayloadBytes == 8152);

// Numbers are stored and never change. 1..63 belong to segments, 64..127 to the pages of a host's
// index.
enum class BlockKind : uint8_t {
  kRoot = 1,         // last logical block of a segment: counts, parts, extents
  kExtents = 2,      // overflow of the root's extent map
  kVectors = 3,      // full vectors, row by row
  kRowVectors = 4,   // row number -> vector number
  kRowPointers = 5,  // row number -> 64-bit host row pointer
  kOrdinals = 6,     // row number -> insertion ordinal
  kIdIndex = 7,      // row numbers sorted by id (segments of version 1)
  kIds = 8,          // id bytes, with kIdOffsets
  kIdOffsets = 9,
  kRecords = 10,  // metadata and uri of each row, with kRecordOffsets; in version 1 documents too
  kRecordOffsets = 11,
  kCodes = 12,           // byte codes of the vectors (engine/vector/byte_code.h)
  kIdHashes = 13,        // hashes of ids with their rows, sorted
  kDocuments = 14,       // documents, as they are or compressed in chunks
  kDocumentChunks = 15,  // where each chunk begins
  kPacked = 16,          // small parts, several in a block
  kIndex = 17,           // what is to be known of an index before a search (segment/index_part.h)
  kEntries = 18,         // nodes that link to its entries
  kGraphNodes = 19,      // a node for each vector
  kClusterSizes = 20,    // how many vectors each cluster has
  kCentroids = 21,
  kClusterNodes = 22,  // the nodes of each cluster
  kRowGroups = 23,     // rows that have an inverted index together (segment/inverted_part.h)
  kFields = 24,        // keys with a type, of each group
  kTermBlocks = 25,    // where blocks of terms and their posting lists lie
  kTerms = 26,         // keys, and values as bytes
  kPostings = 27,      // the rows that have each term
  kCells = 28,         // an index of documents that is not read any more, as the next six
  kCellGroups = 29,    // (segment/cell_part.h)
  kCellFields = 30,
  kCellTermBlocks = 31,
  kCellTerms = 38,
  kCellPostings = 39,
  kCellRows = 40,
  kDocumentBegins = 50,  // where the documents of each 64 rows begin (segment/cell_part.h)
  kDocumentEnds = 51,    // where the document of each row ends, from there
  kGramGroups = 52,      // the index of documents by their grams: as kRowGroups to kPostings
  kGramFields = 53,
  kGramTermBlocks = 54,
  kGramTerms = 55,
  kGramPostings = 56,
  kIndexRules = 41,    // the schema: which values have an inverted index (record/index_rules.h)
  kRowCodes = 42,      // a code for each vector of an index (engine/vector/row_code.h)
  kVectorHashes = 43,  // hashes of a host's vectors with their rows, sorted (segment/vector_hash.h)
  kTextHead = 32,      // what made the terms of the text index (segment/text_part.h)
  kTextGroups = 33,    // rows that have a text index together
  kTextLengths = 34,   // words of each document
  kTextTermBlocks = 35,  // where blocks of terms and their posting lists lie
  kTextTerms = 36,
  kTextPostings = 37,  // the rows that have each term, how often and where
  kPending = 64,       // inserted rows that are in no segment yet (a host's mutable tail)
  kOverflow = 65,      // continuation of a pending entry that no page can hold
  kDeletions = 66,     // deletion bits of a segment
  kMeta = 67,          // a host's own page (PostgreSQL's metapage)
};

struct BlockTrailer {
  BlockKind kind;
  uint8_t format;
  uint16_t reserved;
  uint32_t segment;
  uint32_t logical;
  uint32_t checksum;
};
static_assert(sizeof(BlockTrailer) == kBlockTrailerBytes);

using BlockBytes = std::span<std::byte, kBlockBytes>;
using ConstBlockBytes = std::span<const std::byte, kBlockBytes>;

inline std::span<std::byte, kBlockPayloadBytes> BlockPayload(BlockBytes block) {
  return block.subspan<kBlockHeaderBytes, kBlockPayloadBytes>();
}
inline std::span<const std::byte, kBlockPayloadBytes> BlockPayload(ConstBlockBytes block) {
  return block.subspan<kBlockHeaderBytes, kBlockPayloadBytes>();
}

inline BlockTrailer ReadBlockTrailer(ConstBlockBytes block) {
  BlockTrailer trailer;
  std::memcpy(&trailer, block.data() + kBlockBytes - kBlockTrailerBytes, sizeof trailer);
  return trailer;
}

// Whether this library reads blocks of this format.
inline bool IsKnownFormat(const BlockTrailer& trailer) {
  return trailer.format != 0 && trailer.format <= kBlockFormatMax;
}

// Writes the trailer with its checksum; call after the last change to the payload.
void SealBlock(BlockBytes block, BlockKind kind, uint32_t segment, uint32_t logical,
               uint8_t format = kBlockOfSegment);

// What a reader expects of a block. Checked in the order checksum, format, kind, place (segment,
// then logical number).
struct BlockExpectation {
  BlockKind kind;
  uint32_t segment;
  uint32_t logical;
};

// The kind's name in messages ("vectors"), or "unknown".
std::string_view BlockKindName(BlockKind kind);

// `physical` is where the block was read, and gives the offset in errors. `where` names the source
// in the error (a path, or the host's name for the relation).
Status CheckBlock(ConstBlockBytes block, const BlockExpectation& expected, uint32_t physical,
                  const std::string& where);

// What CheckBlockPlace says of a trailer that is not as expected.
Status WrongBlockPlace(const BlockTrailer& trailer, const BlockExpectation& expected,
                       uint32_t physical, const std::string& where);

// All of CheckBlock but the checksum, for a block whose checksum was verified when it was loaded.
inline Status CheckBlockPlace(ConstBlockBytes block, const BlockExpectation& expected,
                              uint32_t physical, const std::string& where) {
  const BlockTrailer trailer = ReadBlockTrailer(block);
  if (IsKnownFormat(trailer) && trailer.kind == expected.kind &&
      trailer.segment == expected.segment && trailer.logical == expected.logical) {
    return Status::Ok();
  }
  return WrongBlockPlace(trailer, expected, physical, where);
}

// What whoever loads a block from a segment file can check: all but the kind, and the number only
// of a block that is numbered within its segment (in a file that is the physical one); one that is
// numbered within its part is held against that number by whoever pins it.
Status CheckBlockOfFile(ConstBlockBytes block, uint32_t segment, uint32_t physical,
                        const std::string& where);

// Checksum and format version alone.
Status CheckBlockBytes(ConstBlockBytes block, uint32_t physical, const std::string& where);

}  // namespace pigment
