// SPDX-License-Identifier: Apache-2.0
//
// Posting lists: the rows of a row group that have a term, as bytes. Lists lie one after the other
// and each tells where the next one begins. What is read may be damaged: nothing is believed that
// the bytes and the number of rows do not bear out. Pure functions and plain values; any thread.
//
// A list:
//   varint  rows << 1 | is chunked
//   of at most kFewRows: varint of the first row, then of each gap to the next, less one
//   chunked: varint of the bytes that follow; then for each run of 65,536 rows with any of them:
//     u16   number of the run
//     u8    form: 1 array, 2 bits, 3 intervals, 4 packed; the one that takes the fewest bytes, in
//           this order
//     u16   items - 1
//     …     items: u16 row within the run; u64 bits of 64 rows, from the first of the run on;
//           u16 first, u16 last; packed as below
// Packed, of n rows of a run of r (65,536, or as many as the group has left): each row's lowest l
// bits apart from the others, where l = floor(log2(r / n)), or 0. First (n + (r >> l) + 7) / 8
// bytes: bit (row >> l) + i is set for row number i; then l bits of each row. Both have the lowest
// bits first. Lists of metadata are never packed: they are few, or long.
//
// Containers of three forms: Chambi, Lemire, Kaser, Godin, "Better bitmap performance with Roaring
// bitmaps" (2016); the fourth: Elias, "Efficient Storage and Retrieval by Content and Address of
// Static Files" (1974), and Fano. The bytes are our own.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/bytes.h"

namespace pigment {

inline constexpr uint32_t kFewRows = 8;

// Appends the list of `rows`: ascending, each once, at least one. `packed_of`: rows of the group,
// where lists may be packed; 0: they may not.
void AppendPostings(std::span<const uint32_t> rows, std::string& out, uint32_t packed_of = 0);

// What a list says of itself.
struct PostingsHead {
  uint64_t rows = 0;
  uint64_t bytes = 0;  // of the list, this head included
};
inline constexpr size_t kPostingsHeadBytesMax = 64;
// `begin`: the list's first kPostingsHeadBytesMax bytes, or all that there are. False: damaged.
bool ReadPostingsHead(std::span<const std::byte> begin, PostingsHead* head);

// What a list does to a set of bits.
enum class PostingsUse { kUnite, kToggle };

// Sets or toggles the bits of a list's rows among those of the first `rows` rows. `list` is what
// the head says. False: damaged, and some may have been.
bool ApplyPostings(std::span<const std::byte> list, PostingsUse use, std::span<uint64_t> words,
                   uint32_t rows);

// How many of a list's rows have their bit set. False: damaged.
bool CountPostings(std::span<const std::byte> list, std::span<const uint64_t> words, uint32_t rows,
                   uint64_t* count);

// Appends a list's rows in the order in which they are stored. `room` is of so many bits as there
// are rows; what it holds is not looked at. False: damaged, and some may have been appended.
bool ReadPostings(std::span<const std::byte> list, std::span<const uint64_t> room, uint32_t rows,
                  std::vector<uint32_t>& out);

}  // namespace pigment
