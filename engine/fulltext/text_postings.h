// SPDX-License-Identifier: Apache-2.0
//
// Posting lists of a text index as bytes: the rows that have a term, how often each has it, and at
// which places. Pure functions and plain values; any thread. What is read may be damaged.
//
// Fewer than 128 rows: for each of them
//   varint  the row less the one before, less one (of the first: the row), << 1 | 1 where it has
//           the term more than once, and then varint how often, less 2
// 128 rows or more, in blocks of 128: a PostingEntry for each block; then each block:
//   u8 u8   bits of a row number, bits of a frequency
//   …       of each row what it is more than the one before, less one; of each row how often, less
//           one; both packed, the lowest bits first, and begun at a byte
// Positions, behind the postings, row by row: varint the place of the first occurrence; varint of
// each other, less the one before, less one. A place is the number of the word in its document.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pigment {

inline constexpr uint32_t kPostingsPerBlock = 128;

// Bounds what any row of a block scores, whatever the parameters of BM25: a score grows with the
// frequency and falls with the length of the document. The shortest of the documents that have the
// term once, twice, up to four times and more often, and the largest frequency of the last; 65,535
// stands for all that is more, 0 for none.
struct Impacts {
  static constexpr uint32_t kMany = 5;
  std::array<uint16_t, kMany> shortest{};
  uint16_t frequency_max = 0;  // of those that have it kMany times or more

  void Add(uint32_t frequency, uint32_t length);
};

struct PostingEntry {
  uint32_t last_row;
  uint32_t postings_end;   // from the first block on
  uint32_t positions_end;  // from the first positions on
  Impacts impacts;
};
static_assert(sizeof(PostingEntry) == 24);

// A list before it is encoded: rows ascend, each once.
struct PostingsToEncode {
  std::span<const uint32_t> rows;
  std::span<const uint32_t> frequencies;  // of each row, at least 1
  std::span<const uint32_t> positions;    // as many of each row as it has the term, ascending
  std::span<const uint32_t> lengths;      // of all documents, by row
};
struct EncodedSize {
  uint64_t postings_bytes;
  uint64_t positions_bytes;
};
EncodedSize AppendTextPostings(const PostingsToEncode& list, std::string& out);

// A short list of `count` rows below `rows`. False: damaged.
bool DecodeShortPostings(std::span<const std::byte> bytes, uint32_t count, uint32_t rows,
                         std::vector<uint32_t>& out_rows, std::vector<uint32_t>& frequencies);

// The rows after `before` (-1: from the first on) and frequencies of one block of `count`. False:
// damaged, or its last row is not `last_row`.
bool DecodePostingBlock(std::span<const std::byte> bytes, int64_t before, uint32_t last_row,
                        std::span<uint32_t> out_rows, std::span<uint32_t> frequencies);

// Positions of rows that follow each other, with what they end at in `ends`. False: damaged.
bool DecodePositions(std::span<const std::byte> bytes, std::span<const uint32_t> frequencies,
                     std::vector<uint32_t>& positions, std::vector<uint32_t>& ends);

}  // namespace pigment
