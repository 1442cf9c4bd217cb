// SPDX-License-Identifier: Apache-2.0
//
// Numbers of so many bits each, the lowest bits first, one behind the other; the last one's byte is
// filled up with zeros. Pure functions; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pigment {

inline constexpr uint32_t kPackedBitsMax = 32;
// What unpacking reads behind the numbers, at the most.
inline constexpr size_t kPackedReadAhead = 16;

// Bits that the largest of them needs.
uint8_t PackedBitsFor(std::span<const uint32_t> numbers);
inline size_t PackedBytes(size_t count, uint32_t bits) { return (count * bits + 7) / 8; }
void AppendPacked(std::span<const uint32_t> numbers, uint32_t bits, std::string& out);

// What follows REQUIRES: bits <= kPackedBitsMax, and kPackedReadAhead bytes behind the numbers.

// out[i] is number i, and one more.
void UnpackNumbers(const std::byte* from, uint32_t bits, std::span<uint32_t> out);
// out[i] is the one before it, number i and one more, modulo 2^32; before the first it is `before`.
// Gives the last of these sums, not modulo anything. REQUIRES: at most kPackedSumsMax numbers.
inline constexpr size_t kPackedSumsMax = 4096;
int64_t UnpackSums(const std::byte* from, uint32_t bits, int64_t before, std::span<uint32_t> out);

}  // namespace pigment
