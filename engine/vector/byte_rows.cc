// SPDX-License-Identifier: Apache-2.0
//
// Encoding and products of two rows, once per SIMD target by Highway.

#include "engine/vector/byte_rows.h"

#include <algorithm>
#include <limits>

#define HWY_WANT_AVX3_DL 1  // see byte_products-inl.h
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/byte_rows.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "engine/vector/byte_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

using Floats = hn::CappedTag<float, 16>;
using Ints = hn::RebindToSigned<Floats>;
constexpr size_t kLanes = HWY_MIN(HWY_LANES(float), 16);

// residual = vector - middle, for a multiple of kByteRowStep numbers; adds its squares to
// kByteRowStep sums and raises `greatest`, of as many.
HWY_ATTR void Subtract(const float* vector, const float* middle, size_t count, float* residual,
                       float* sums, float* greatest) {
  const Floats lanes;
  for (size_t lane = 0; lane < kByteRowStep; lane += kLanes) {
    auto square = hn::LoadU(lanes, sums + lane);
    auto most = hn::LoadU(lanes, greatest + lane);
    for (size_t d = lane; d < count; d += kByteRowStep) {
      const auto r = hn::Sub(hn::LoadU(lanes, vector + d), hn::LoadU(lanes, middle + d));
      hn::StoreU(r, lanes, residual + d);
      square = hn::Add(square, hn::Mul(r, r));
      most = hn::Max(most, hn::Abs(r));
    }
    hn::StoreU(square, lanes, sums + lane);
    hn::StoreU(most, lanes, greatest + lane);
  }
}

// codes = residual * inverse, to the nearest integer; returns their sum.
HWY_ATTR int32_t Narrow(const float* residual, size_t count, float inverse, int8_t* codes) {
  // A float of this size has no bits for halves: what is added to it is rounded, ties to even.
  constexpr float kWhole = 0x1.8p23f;
  constexpr int32_t kBitsOfWhole = 0x4B400000;
  const Floats lanes;
  const Ints ints;
  const hn::Rebind<int8_t, Ints> bytes;
  auto sum = hn::Zero(ints);
  for (size_t d = 0; d < count; d += kLanes) {
    const auto level = hn::Mul(hn::LoadU(lanes, residual + d), hn::Set(lanes, inverse));
    const auto rounded = hn::BitCast(ints, hn::Add(level, hn::Set(lanes, kWhole)));
    const auto code = hn::Sub(rounded, hn::Set(ints, kBitsOfWhole));
    sum = hn::Add(sum, code);
    hn::StoreU(hn::DemoteTo(bytes, code), bytes, codes + d);
  }
  return hn::GetLane(hn::SumOfLanes(ints, sum));
}

HWY_ATTR int32_t ProductOf(const int8_t* a, const int8_t* b, size_t bytes, int32_t sum_of_b) {
  const ByteQuads quads;
  ByteQuadsV sum = hn::Zero(quads);
  for (size_t i = 0; i < bytes; i += hn::Lanes(quads) * kBytesOfQuad) {
    const ByteSide side(hn::LoadU(quads, reinterpret_cast<const int32_t*>(a + i)));
    sum = side.AddProducts(hn::LoadU(quads, reinterpret_cast<const int32_t*>(b + i)), sum);
  }
  return hn::GetLane(hn::SumOfLanes(quads, sum)) - kByteOffset * sum_of_b;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(Subtract);
HWY_EXPORT(Narrow);
HWY_EXPORT(ProductOf);

}  // namespace

ByteRow EncodeByteRow(const float* vector, const float* middle, uint32_t dimension, int code_max,
                      float* residual, int8_t* codes) {
  float squares[kByteRowStep] = {};
  float greatest[kByteRowStep] = {};
  const size_t padded = PaddedTo(kByteRowStep, dimension);
  const size_t whole = dimension / kByteRowStep * kByteRowStep;
  HWY_DYNAMIC_DISPATCH(Subtract)(vector, middle, whole, residual, squares, greatest);
  if (whole != padded) {
    float rest[kByteRowStep] = {};
    float middle_of_rest[kByteRowStep] = {};
    std::copy(vector + whole, vector + dimension, rest);
    std::copy(middle + whole, middle + dimension, middle_of_rest);
    HWY_DYNAMIC_DISPATCH(Subtract)
    (rest, middle_of_rest, kByteRowStep, residual + whole, squares, greatest);
  }
  ByteRow row{};
  for (const float square : squares) row.square += square;
  row.scale = *std::max_element(greatest, greatest + kByteRowStep) / static_cast<float>(code_max);
  // Of scales without full precision there is no inverse: code nothing then.
  if (row.scale < std::numeric_limits<float>::min()) row.scale = 0;
  const float inverse = row.scale > 0 ? 1 / row.scale : 0;
  row.sum = HWY_DYNAMIC_DISPATCH(Narrow)(residual, padded, inverse, codes);
  return row;
}

int32_t ByteRowProduct(const int8_t* a, const int8_t* b, size_t bytes, int32_t sum_of_b) {
  return HWY_DYNAMIC_DISPATCH(ProductOf)(a, b, bytes, sum_of_b);
}

}  // namespace pigment
#endif  // HWY_ONCE
