// SPDX-License-Identifier: Apache-2.0
//
// Byte codes: a vector in 8 bits a dimension with what is needed to bound any distance to it from
// below, so that an exact search reads the full vector only where the bound cannot rule it out.
// Pure functions over bytes of the caller's; any thread.
//
// A code is x ~ scale * codes with the residual r = x - scale * codes. For a query q, itself
// q ~ step * levels in 16 bits or fewer,
//   |q.x - step * scale * (levels . codes)| <= |step * levels| |r| + |q - step * levels| |x|,
// where the integer product is exact on every machine; rounding of the f32 distance that is to be
// bounded is added on top (see the .cc file). The inequality holds for every vector and query, so
// nothing is lost; how often it helps depends on the data.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/record/metric.h"

namespace pigment {

// The stored form of one vector: this, then one signed byte a dimension, padded to 4.
struct ByteCodeHeader {
  float scale;  // >= 0; 0 where nothing is coded (r = x)
  float error;  // at least |r|; infinite where |x| is beyond f32
  float norm;   // |x|, rounded to nearest
};
static_assert(sizeof(ByteCodeHeader) == 12);

// Larger vectors have no codes: a code lies within one block.
inline constexpr uint32_t kByteCodeDimensionMax = 8136;

constexpr size_t ByteCodeBytes(uint32_t dimension) {
  return sizeof(ByteCodeHeader) + (size_t{dimension} + 3) / 4 * 4;
}

// True for the metrics that codes bound: all but l1.
bool HasByteCodeBound(Metric metric);

// Writes ByteCodeBytes(vector.size()) bytes to `out`. REQUIRES: 1 to kByteCodeDimensionMax finite
// values.
void EncodeByteCode(std::span<const float> vector, std::byte* out);

// Whether a code says anything of its vector: otherwise that is beyond f32.
bool SaysByteCode(const std::byte* code);
// Nearly the vector that was encoded, off by the code's error. REQUIRES: as many values as were
// encoded, SaysByteCode(code).
void DecodeByteCode(const std::byte* code, std::span<float> vector);

// A query prepared once. Copies what it needs.
class ByteCodeQuery {
 public:
  // REQUIRES: HasByteCodeBound(metric), 1 to kByteCodeDimensionMax finite values.
  ByteCodeQuery(Metric metric, std::span<const float> query);

  // For `count` codes that lie one after the other: numbers that DistanceFunction's result for the
  // coded vector is never below. NaN where nothing is known: compare so that NaN passes.
  void LowerBounds(const std::byte* codes, size_t count, float* out) const;

 private:
  void Products(const std::byte* codes, size_t count, int32_t* out) const;

  Metric metric_;
  uint32_t dimension_;
  std::vector<int16_t> levels_;  // padded with zeros to whole registers
  double step_ = 0;
  double levels_norm_ = 0;  // |step * levels|
  double error_ = 0;        // |q - step * levels|
  double norm_ = 0;
  double rounding_ = 0;  // relative rounding of f32 sums over the dimension, doubled
};

}  // namespace pigment
