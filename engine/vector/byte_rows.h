// SPDX-License-Identifier: Apache-2.0
//
// Vectors in signed bytes, one a dimension, with a scale of their own: what builds compare instead
// of floats (member_codes.h, pair_codes.h). Pure functions over memory of the caller's; any thread.
// The same bits on every machine.

#pragma once

#include <cstddef>
#include <cstdint>

namespace pigment {

// r = vector - middle is nearly scale times its codes, off by half of the scale in each dimension.
struct ByteRow {
  float square;  // of r
  float scale;   // 0 where nothing is coded
  int32_t sum;   // of the codes
};

inline constexpr size_t kByteRowStep = 16;
inline constexpr size_t kByteProductStep = 64;
constexpr size_t PaddedTo(size_t step, size_t dimension) {
  return (dimension + step - 1) / step * step;
}

// The greatest codes that rows have: products of two are exact sums of integers with either.
inline constexpr int kByteCodeMax = 127;
inline constexpr int kSevenBitCodeMax = 63;

// Writes PaddedTo(kByteRowStep, dimension) codes from -code_max to code_max, those behind the
// dimension 0. REQUIRES: finite numbers; `middle` and `residual`, which is scratch, have room for
// as many.
ByteRow EncodeByteRow(const float* vector, const float* middle, uint32_t dimension, int code_max,
                      float* residual, int8_t* codes);

// What rounding to `scale` takes off is evenly spread over it where the vector was rotated, so
// twice its product with another of length `norm`, which a squared distance has, has the standard
// error scale norm / sqrt(3). Five of these: beyond them it nearly never is.
inline float ByteProductError(float scale, float norm) {
  constexpr float kErrors = 2 * 5 / 3.4641016f;
  return kErrors * scale * norm;
}

// Of the codes of two rows, each `bytes` long: a multiple of kByteProductStep, padded with zeros.
// `sum_of_b` is that of the second one's codes.
int32_t ByteRowProduct(const int8_t* a, const int8_t* b, size_t bytes, int32_t sum_of_b);

}  // namespace pigment
