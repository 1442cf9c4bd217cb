// SPDX-License-Identifier: Apache-2.0
//
// Runs of bits in 64-bit words, the lowest of the first word first. Pure functions; any thread.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pigment {

inline uint64_t CountSetBits(std::span<const uint64_t> words) {
  uint64_t count = 0;
  for (const uint64_t word : words) count += static_cast<uint64_t>(std::popcount(word));
  return count;
}

// The first set bit from `from` on; `end` where there is none below it. REQUIRES: words for the
// bits up to `end`; those beyond it may be anything.
inline uint32_t NextSetBit(std::span<const uint64_t> words, uint32_t from, uint32_t end) {
  if (from >= end) return end;
  size_t word = from / 64;
  uint64_t bits = words[word] & ~uint64_t{0} << (from % 64);
  while (bits == 0) {
    if (++word == words.size()) return end;
    bits = words[word];
  }
  const uint64_t bit = word * 64 + static_cast<uint64_t>(std::countr_zero(bits));
  return bit < end ? static_cast<uint32_t>(bit) : end;
}

}  // namespace pigment
