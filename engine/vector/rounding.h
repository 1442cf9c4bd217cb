// SPDX-License-Identifier: Apache-2.0
//
// What every form of vectors with fewer bits tells of its rounding. The kernels (rounding-inl.h)
// take whole registers; this is what remains. Pure functions.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace pigment {

// Of a vector and what rounding makes of it.
struct RoundingSums {
  double square = 0;   // of its numbers
  double lost = 0;     // of the differences
  double taxicab = 0;  // of these without their signs, not squared
  float greatest = 0;  // of what is rounded, without signs
};
// The most numbers that are rounded at a time; a multiple of what any target takes.
inline constexpr size_t kRoundedAtOnce = 8;

// Rounds a vector into `out`, of the same size, or empty: nowhere. `whole(values, count, out,
// &sums)` is a kernel by RoundEach(); zeros round to zeros, and fill its last registers.
template <typename Whole>
RoundingSums RoundAll(std::span<const float> vector, std::span<float> out, const Whole& whole) {
  float* const to = out.empty() ? nullptr : out.data();
  RoundingSums sums;
  const size_t done = whole(vector.data(), vector.size(), to, &sums);
  if (const std::span<const float> rest = vector.subspan(done); !rest.empty()) {
    std::array<float, kRoundedAtOnce> padded{}, rounded;
    std::copy(rest.begin(), rest.end(), padded.begin());
    whole(padded.data(), padded.size(), rounded.data(), &sums);
    if (to != nullptr) std::copy_n(rounded.begin(), rest.size(), to + done);
  }
  return sums;
}

}  // namespace pigment
