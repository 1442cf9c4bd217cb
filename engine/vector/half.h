// SPDX-License-Identifier: Apache-2.0
//
// Numbers in 16 bits (IEEE 754 binary16): what a collection with f16 vectors keeps of each number.
// To half precision is rounded to nearest, ties to even; back is exact. The same bits on every
// machine. Pure functions; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/base/status.h"
#include "engine/record/metric.h"

namespace pigment {

inline constexpr float kHalfMax = 65504;

// From 65520 on: infinity.
uint16_t HalfOf(float value);
float FloatOfHalf(uint16_t half);

// `out` holds values.size() halves, little endian; it may be unaligned.
void NarrowToHalves(std::span<const float> values, std::byte* out);
// Rounds each number to one that a half holds. A number beyond them: kInvalidArgument,
// Detail::kNotFinite, with row and place; some are rounded then.
Status RoundToHalves(size_t dimension, std::span<float> values);
// How far rounding takes a vector.
struct HalfShift {
  double length;   // Euclidean, of the difference
  double part;     // the same of the vector's own length; 0 of a zero vector
  double taxicab;  // the sum of what each number is off by

  // What it makes to a distance at the most: of cosine distances the part, of inner products to be
  // multiplied by the other vector's length, of L2 before it is squared.
  double Of(Metric metric) const;
};
// From the squares of the difference and of the vector, and the sum of what each number is off by.
// None where more than a 1,024th of the length would be lost, or the sums are no numbers.
std::optional<HalfShift> HalfShiftOf(double lost, double square, double taxicab);
// Rounds into `out`, of the same size, or empty: nowhere. None where a number is beyond halves, or
// where more than a 1,024th of the vector's length would be lost, because it has numbers too small
// for them.
std::optional<HalfShift> RoundVector(std::span<const float> vector, std::span<float> out);
// `halves` holds out.size() of them and may be unaligned.
void WidenHalves(const std::byte* halves, std::span<float> out);

}  // namespace pigment
