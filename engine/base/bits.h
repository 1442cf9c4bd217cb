// SPDX-License-Identifier: Apache-2.0
//
// Runs of bits in 64-bit words, the lowest of the first word first. Pure functions; any thread.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pigment {

// How many bits are set in each byte: sums of neighbours, twice, four and eight times as wide.
// std::popcount is a call where the instruction for it is not assumed.
constexpr uint64_t SetBitsOfBytes(uint64_t word) {
  constexpr uint64_t kPairs = 0x5555555555555555, kNibbles = 0x3333333333333333;
  constexpr uint64_t kBytes = 0x0F0F0F0F0F0F0F0F;
  word -= word >> 1 & kPairs;
  word = (word & kNibbles) + (word >> 2 & kNibbles);
  return (word + (word >> 4)) & kBytes;
}

inline uint64_t CountSetBits(std::span<const uint64_t> words) {
  // So many words' counts have room in a byte each, and compilers take several at once.
  constexpr size_t kTogether = 16;
  constexpr uint64_t kEvenBytes = 0x00FF00FF00FF00FF, kEachPair = 0x0001000100010001;
  const auto total = [](uint64_t bytes) {
    return ((bytes & kEvenBytes) + (bytes >> 8 & kEvenBytes)) * kEachPair >> 48;
  };
  uint64_t count = 0;
  for (; words.size() >= kTogether; words = words.subspan(kTogether)) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < kTogether; ++i) bytes += SetBitsOfBytes(words[i]);
    count += total(bytes);
  }
  for (const uint64_t word : words) count += total(SetBitsOfBytes(word));
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
