// SPDX-License-Identifier: Apache-2.0
//
// Vectors in 12 bits a number, with one power of two for all: what pending entries of a host keep
// (engine/segment/host_pages.h). The same bits on every machine. Pure functions; any thread.
//
// A number is a sign and a whole number m below 2,048 that stands for max(m, 2m - 1024, 4m - 4096)
// times the power: up to 1,024 in steps of 1, up to 2,048 of 2, up to 4,092 of 4. So the many small
// numbers of a vector are rounded less than its few large ones. Whatever is kept so has ten bits
// from first to last and is a half (half.h), so that a segment of halves finds nothing to round.
//
//   offset  size  meaning
//   0       1     exponent of the power, signed
//   1       d     lower eight bits of each m
//   1+d     h     h = d/2, rounded up; the upper three bits of m, and above them the sign, of
//                 number i in the lower half of byte i, of number h+i in the upper half

#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "engine/vector/half.h"

namespace pigment {

constexpr size_t TwelvesBytes(size_t dimension) { return 1 + dimension + (dimension + 1) / 2; }

// Rounds to nearest, ties to even, into `out`, of the same size, or empty: nowhere. None where
// RoundVector() takes the vector not at all, or as it is while twelve bits do not, or where more
// than a 1,024th of its length would be lost, because few numbers are much larger than the others.
std::optional<HalfShift> RoundToTwelves(std::span<const float> vector, std::span<float> out);

// Writes TwelvesBytes(vector.size()) bytes. REQUIRES: RoundToTwelves() takes the vector; others are
// written as something else.
void PackTwelves(std::span<const float> vector, std::byte* out);
// Reads as many numbers as `out` has room for; `packed` may be unaligned.
void UnpackTwelves(const std::byte* packed, std::span<float> out);

}  // namespace pigment
