// SPDX-License-Identifier: Apache-2.0
//
// Distances between f32 vectors, on the widest SIMD that the machine has, chosen at run time
// (Highway). Pure functions; any thread. Every path gives bit-equal results: 64 virtual
// accumulators, one fixed reduction tree, multiplication and addition rounded apart (no fused
// multiply-add), so two machines rank alike.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/record/metric.h"

namespace pigment {

// A query prepared once and compared with many vectors. Borrows `query` for its lifetime.
class DistanceFunction {
 public:
  DistanceFunction(Metric metric, std::span<const float> query);

  // Distance of the query to one vector of the same dimension.
  float operator()(const float* vector) const;

  // Distances to `count` vectors that lie `stride` floats apart, into out[count]. Vectors need no
  // alignment beyond a float's. Bit-equal to `count` calls of operator().
  void Many(const float* vectors, size_t stride, size_t count, float* out) const;

  Metric metric() const { return metric_; }

 private:
  Metric metric_;
  std::span<const float> query_;
  float query_square_ = 0;  // squared norm, where the metric needs it
};

// Where f32 would over- or underflow, the same sum is computed in double; only a result beyond f32
// becomes infinite.
float Distance(Metric metric, const float* a, const float* b, size_t dimension);

// Inner product, accumulated as above, and Euclidean norm, accumulated in double: neither overflows
// where its result is representable.
float InnerProduct(const float* a, const float* b, size_t dimension);
double Norm(const float* a, size_t dimension);

// True when no element is NaN or infinite; otherwise *bad is the first index that is.
bool AllFinite(const float* values, size_t count, size_t* bad);

// The name of the SIMD target in use ("AVX3", "AVX2", "SSE4", "SCALAR", "NEON"), for build info and
// tests.
std::string_view SimdTargetName();

}  // namespace pigment
