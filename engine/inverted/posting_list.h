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
//     u8    form: 1 array, 2 bits, 3 intervals; the one that takes the fewest bytes, in this order
//     u16   items - 1
//     …     items: u16 row within the run; u64 bits of 64 rows, from the first of the run on;
//           u16 first, u16 last
// Containers of three forms: Chambi, Lemire, Kaser, Godin, "Better bitmap performance with Roaring
// bitmaps" (2016); the bytes are our own.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/base/bytes.h"

namespace pigment {

inline constexpr uint32_t kFewRows = 8;

// Appends the list of `rows`: ascending, each once, at least one.
void AppendPostings(std::span<const uint32_t> rows, std::string& out);

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

// Sets or toggles the bits of a list's rows among those of the first `rows` rows. `list` is what the
// head says. False: damaged, and some may have been.
bool ApplyPostings(std::span<const std::byte> list, PostingsUse use, std::span<uint64_t> words,
                   uint32_t rows);

}  // namespace pigment
