// SPDX-License-Identifier: Apache-2.0
//
// The transform, once per SIMD target by Highway. Each number of a stage is one sum or difference
// of two of the stage before, so the width of a register never shows.

#include "engine/vector/rotation.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "engine/vector/seeded_random.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/rotation.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, 16>;
constexpr size_t kLanes = HWY_MIN(HWY_LANES(float), 16);

// The stage of numbers `apart` from each other, over twice as many. REQUIRES: apart is a multiple
// of the tag's lanes.
template <class D>
HWY_INLINE void TransformHalves(D lanes, float* values, size_t apart) {
  for (size_t i = 0; i < apart; i += hn::Lanes(lanes)) {
    const auto a = hn::LoadU(lanes, values + i);
    const auto b = hn::LoadU(lanes, values + i + apart);
    hn::StoreU(hn::Add(a, b), lanes, values + i);
    hn::StoreU(hn::Sub(a, b), lanes, values + i + apart);
  }
}

// The stage of numbers `apart` from each other, within registers: the first of a pair becomes first
// + second, the second first - second.
HWY_INLINE void TransformLanes(float* values, size_t count, size_t apart) {
  HWY_ALIGN int32_t partners[kLanes];
  HWY_ALIGN float signs[kLanes];
  for (size_t i = 0; i < kLanes; ++i) {
    partners[i] = static_cast<int32_t>(i ^ apart);
    signs[i] = (i & apart) != 0 ? -0.0f : 0.0f;
  }
  const auto partner = hn::SetTableIndices(Lanes(), partners);
  const auto sign = hn::Load(Lanes(), signs);
  for (size_t i = 0; i < count; i += kLanes) {
    const auto v = hn::LoadU(Lanes(), values + i);
    hn::StoreU(hn::Add(hn::TableLookupLanes(v, partner), hn::Xor(v, sign)), Lanes(), values + i);
  }
}

HWY_INLINE void Scale(float* values, size_t count, float scale) {
  const auto factor = hn::Set(Lanes(), scale);
  for (size_t i = 0; i < count; i += kLanes)
    hn::StoreU(hn::Mul(hn::LoadU(Lanes(), values + i), factor), Lanes(), values + i);
}

// The Hadamard transform of `count` numbers, times `scale`. REQUIRES: count is a power of two, 16
// or more.
HWY_ATTR void Transform(float* values, size_t count, float scale) {
  for (size_t apart = 1; apart < kLanes; apart *= 2) TransformLanes(values, count, apart);
  for (size_t apart = kLanes; apart < count; apart *= 2) {
    for (size_t begin = 0; begin < count; begin += 2 * apart)
      TransformHalves(Lanes(), values + begin, apart);
  }
  Scale(values, count, scale);
}

// One stage over the two halves of `count` numbers. REQUIRES: count is a multiple of 16.
HWY_ATTR void MixHalves(float* values, size_t count, float scale) {
  TransformHalves(hn::CappedTag<float, 8>(), values, count / 2);
  Scale(values, count, scale);
}

HWY_ATTR void Multiply(float* values, const float* by, size_t count) {
  for (size_t i = 0; i < count; i += kLanes) {
    const auto product = hn::Mul(hn::LoadU(Lanes(), values + i), hn::LoadU(Lanes(), by + i));
    hn::StoreU(product, Lanes(), values + i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

constexpr float kHalfRoot = 0.70710678f;  // sqrt(1 / 2)

HWY_EXPORT(Transform);
HWY_EXPORT(MixHalves);
HWY_EXPORT(Multiply);

}  // namespace

Rotation::Rotation(uint32_t dimension, uint64_t seed)
    : dimension_(dimension), signs_(kRounds * size_t{RotatedDimension(dimension)}) {
  SeededRandom random(seed);
  uint64_t bits = 0;
  for (size_t i = 0; i < signs_.size(); ++i) {
    if (i % 64 == 0) bits = random.Next();
    signs_[i] = (bits >> (i % 64) & 1) != 0 ? 1.0f : -1.0f;
  }
}

void Rotation::Apply(std::span<const float> vector, float* out) const {
  const size_t count = rotated_dimension();
  const size_t part = std::bit_floor(count);
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(part)));
  std::memcpy(out, vector.data(), vector.size_bytes());
  std::memset(out + vector.size(), 0, (count - vector.size()) * sizeof(float));
  for (size_t round = 0; round < kRounds; ++round) {
    HWY_DYNAMIC_DISPATCH(Multiply)(out, signs_.data() + round * count, count);
    HWY_DYNAMIC_DISPATCH(Transform)(round % 2 == 0 ? out : out + count - part, part, scale);
    // Both ends were spread within themselves; what follows spreads their mixture.
    if (round == 1 && part != count) HWY_DYNAMIC_DISPATCH(MixHalves)(out, count, kHalfRoot);
  }
}

}  // namespace pigment
#endif  // HWY_ONCE
