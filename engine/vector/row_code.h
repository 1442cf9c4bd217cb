// SPDX-License-Identifier: Apache-2.0
//
// Row codes: the level code (level_code.h) of one point after the other, for scans that look at
// some rows here and there. A query has 4 bits a dimension, one plane for each, so that a sum of
// signs is four counts of bits (the estimator of single codes of RaBitQ; Gao and Long, SIGMOD
// 2024). Pure functions over bytes of the caller's; any thread. The same bits on every machine.
//
//   offset  size       meaning
//   0       16 * n     signs of each plane of the levels u of r, from a word of 64 on: bit i % 8 of
//                      byte i / 8 is set for +; those beyond the dimension are zero, and what is
//                      beyond the last word, to a multiple of 16 bytes
//   16 n    2          f16: |r|, as a part of the greatest of all
//   …       2          f16: sqrt(d) / (a |u|), with a = u . r / (|u| |r|); 1 where r is zero
//
// The squared distance of a point r to a query q is estimated as
//   |q|^2 + |r|^2 - 2 scale (u . q),  scale = |r| / (a |u|).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/vector/level_code.h"

namespace pigment {

// Words of 64 signs that a plane takes.
constexpr size_t RowCodePlaneWords(uint32_t dimension) { return (size_t{dimension} + 63) / 64; }
// Bytes of a code of so many bits a dimension. REQUIRES: dimension (of rotated points) is a
// multiple of 16; bits as for EncodeLevelCode.
constexpr size_t RowCodeBytes(uint32_t dimension, uint32_t bits) {
  return (bits * RowCodePlaneWords(dimension) + 1) / 2 * 16 + 2 * sizeof(uint16_t);
}

// Writes RowCodeBytes(point.size(), bits) bytes. REQUIRES: finite values, |point| <= radius_max.
void EncodeRowCode(std::span<const float> point, uint32_t bits, float radius_max, std::byte* out);

// A rotated query, prepared once.
class RowCodeQuery {
 public:
  // REQUIRES: finite values; bits are those of the codes.
  RowCodeQuery(std::span<const float> query, uint32_t bits);

  // Estimates of the squared distances of `count` codes, of which radius_max is that of
  // EncodeRowCode, less `errors` standard errors of each. A code that is damaged gives any number,
  // or none.
  void LowerBounds(const std::byte* const* codes, size_t count, float radius_max, float errors,
                   float* bounds) const;

 private:
  const uint32_t dimension_;
  const uint32_t bits_;
  const size_t words_;            // of a code's signs
  std::vector<uint64_t> planes_;  // of each eight words the four planes, the lowest first
  std::vector<uint64_t> shifts_;  // of each word: what its signs count, as a power of two
  std::vector<uint8_t> nibbles_;  // of each two words the planes again, in halves of bytes
  float unit_ = 0;                // q_i is about unit * an odd number from -15 to 15
  float square_ = 0;              // |q|^2
};

}  // namespace pigment
