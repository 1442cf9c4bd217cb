// SPDX-License-Identifier: Apache-2.0
//
// Row codes: the sign code (sign_code.h) of one point after the other, for scans that look at some
// rows here and there. A query has 4 bits a dimension, one plane for each, so that a sum of signs
// is four counts of bits (the estimator of single codes of RaBitQ; Gao and Long, SIGMOD 2024). Pure
// functions over bytes of the caller's; any thread. The same bits on every machine.
//
//   offset  size       meaning
//   0       16 * n     signs s of r, n = dimension / 128 rounded up: bit i % 8 of byte i / 8 is set
//                      for +; those beyond the dimension are zero
//   16 n    2          f16: |r|, as a part of the greatest of all
//   …       2          f16: 1 / a, with a = sum |r_i| / (sqrt(d) |r|); 1 where r is zero
//
// The squared distance of a point r to a query q is estimated as
//   |q|^2 + |r|^2 - 2 scale (s . q),  scale = |r| / (a sqrt(d)).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pigment {

// Bytes of a code. REQUIRES: dimension (of rotated points) is a multiple of 16.
constexpr size_t RowCodeBytes(uint32_t dimension) {
  return (size_t{dimension} + 127) / 128 * 16 + 2 * sizeof(uint16_t);
}

// Writes RowCodeBytes(point.size()) bytes. REQUIRES: finite values, |point| <= radius_max.
void EncodeRowCode(std::span<const float> point, float radius_max, std::byte* out);

// A rotated query, prepared once.
class RowCodeQuery {
 public:
  // REQUIRES: finite values; radius_max is that of the codes.
  RowCodeQuery(std::span<const float> query, float radius_max);

  // Estimates of the squared distances of `count` codes, less `errors` standard errors of each. A
  // code that is damaged gives any number, or none.
  void LowerBounds(const std::byte* const* codes, size_t count, float errors, float* bounds) const;

 private:
  const uint32_t dimension_;
  const float radius_max_;
  const size_t words_;            // of 64 signs
  std::vector<uint64_t> planes_;  // of each eight words the four planes, the lowest first
  float unit_ = 0;                // q_i is about unit * an odd number from -15 to 15
  float square_ = 0;              // |q|^2
};

}  // namespace pigment
