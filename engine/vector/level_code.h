// SPDX-License-Identifier: Apache-2.0
//
// Level codes: some bits a dimension of rotated vectors, where signs alone (sign_code.h) say too
// little because dimensions are few; after extended RaBitQ (Gao et al., SIGMOD 2025). Pure
// functions over bytes of the caller's; any thread. The same bits on every machine.
//
// Of a rotated vector r the code keeps levels u of b bits each, odd numbers from 1 - 2^b to
// 2^b - 1, whose direction is near to that of r. For any p of the same space
//   r . p  ~  |r|^2 / (u . r)  *  (u . p).
// A level is a sum of b signs, the first counted 2^(b - 1) times and the last once. A code is the
// signs of all first, then those of all second ones: a sign code of b times the dimension, packed
// and looked up as these are, by a SignCodeQuery of so many bits. One bit is a sign code.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/vector/sign_code.h"

namespace pigment {

inline constexpr uint32_t kLevelBitsMax = 4;
// Of codes of more than one bit.
inline constexpr size_t kLevelDimensionMax = 1024;

// What is worth its bytes and look-ups for points of this dimension, which may have 16 more than
// vectors: of a graph's links, whose nodes are as large as the vectors soon, and of the vectors of
// clusters, each of which has one code.
constexpr uint32_t GraphCodeBits(uint32_t dimension) {
  return dimension <= 48 ? 3 : dimension <= 80 ? 2 : 1;
}
constexpr uint32_t ClusterCodeBits(uint32_t dimension) {
  return dimension <= 48 ? 4 : dimension <= 80 ? 3 : dimension <= 208 ? 2 : 1;
}

// Of the codes of rows (row_code.h), of which each vector has one.
constexpr uint32_t RowCodeBits(uint32_t dimension) { return ClusterCodeBits(dimension); }

// Writes the signs of each plane in vector.size() / 8 bytes, as EncodeSigns does, one plane after
// the other. REQUIRES: as EncodeLevelCode.
SignCodeFactor EncodeLevels(std::span<const float> vector, std::span<const float> centre,
                            uint32_t bits, std::byte* planes);

// As EncodeSignCode, in a group for SignCodeGroupBytes(bits * vector.size(), count) bytes; the
// factor's numbers have u in place of s: scale is |r|^2 / (u . r), centre u . c, a is
// u . r / (|u| |r|). REQUIRES: 1 <= bits <= kLevelBitsMax, and with more than one bit
// vector.size() <= kLevelDimensionMax.
SignCodeFactor EncodeLevelCode(std::span<const float> vector, std::span<const float> centre,
                               uint32_t bits, size_t index, size_t count, std::byte* group);

}  // namespace pigment
