// SPDX-License-Identifier: Apache-2.0
//
// Rotation: a random rotation that spreads what a vector says evenly over its dimensions, so that
// the sign of each is worth as much as any other's (sign_code.h). Rounds of random signs and
// Hadamard transforms, as in the fast Johnson-Lindenstrauss transform (Ailon and Chazelle, 2009),
// in O(d log d) and without a matrix. Where the dimension is no power of two, the largest one that
// fits is transformed at either end in turns, and in the middle of it the two halves are mixed (a
// step of Kac's walk). Immutable; any thread. The same bits on every machine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pigment {

class Rotation {
 public:
  // REQUIRES: 1 <= dimension <= 65,535. Equal arguments give equal rotations, now and in future
  // versions: what was rotated is stored.
  Rotation(uint32_t dimension, uint64_t seed);

  // Of rotated vectors: `dimension`, rounded up to a multiple of 16.
  static constexpr uint32_t RotatedDimension(uint32_t dimension) {
    return (dimension + 15) / 16 * 16;
  }
  uint32_t dimension() const { return dimension_; }
  uint32_t rotated_dimension() const { return RotatedDimension(dimension_); }

  // Writes rotated_dimension() numbers. Lengths and distances stay, but for rounding. REQUIRES:
  // vector.size() == dimension(); finite values below 1e30, or the result may not be finite.
  void Apply(std::span<const float> vector, float* out) const;

 private:
  static constexpr size_t kRounds = 4;

  const uint32_t dimension_;
  std::vector<float> signs_;  // kRounds x rotated_dimension(), each 1 or -1
};

}  // namespace pigment
