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

// The stages within 16 numbers: 1, 2, 4 and 8 apart.
HWY_ATTR void TransformSixteen(float* values) {
  for (size_t apart = 1; apart < 16; apart *= 2) {
    float next[16];
    for (size_t i = 0; i < 16; ++i) {
      next[i] = (i & apart) == 0 ? values[i] + values[i + apart] : values[i - apart] - values[i];
    }
    std::memcpy(values, next, sizeof next);
  }
}

// The stage of numbers `apart` from each other, over twice as many.
HWY_ATTR void TransformHalves(float* values, size_t apart) {
  const hn::CappedTag<float, 8> lanes;  // halves are multiples of 8
  for (size_t i = 0; i < apart; i += hn::Lanes(lanes)) {
    const auto a = hn::LoadU(lanes, values + i);
    const auto b = hn::LoadU(lanes, values + i + apart);
    hn::StoreU(hn::Add(a, b), lanes, values + i);
    hn::StoreU(hn::Sub(a, b), lanes, values + i + apart);
  }
}

HWY_ATTR void Scale(float* values, size_t count, float scale) {
  const hn::CappedTag<float, 16> lanes;
  const auto factor = hn::Set(lanes, scale);
  for (size_t i = 0; i < count; i += hn::Lanes(lanes))
    hn::StoreU(hn::Mul(hn::LoadU(lanes, values + i), factor), lanes, values + i);
}

// The Hadamard transform of `count` numbers, times `scale`. REQUIRES: count is a power of two, 16
// or more.
HWY_ATTR void Transform(float* values, size_t count, float scale) {
  for (size_t i = 0; i < count; i += 16) TransformSixteen(values + i);
  for (size_t apart = 16; apart < count; apart *= 2) {
    for (size_t begin = 0; begin < count; begin += 2 * apart)
      TransformHalves(values + begin, apart);
  }
  Scale(values, count, scale);
}

// One stage over the two halves of `count` numbers. REQUIRES: count is a multiple of 16.
HWY_ATTR void MixHalves(float* values, size_t count, float scale) {
  TransformHalves(values, count / 2);
  Scale(values, count, scale);
}

HWY_ATTR void Multiply(float* values, const float* by, size_t count) {
  const hn::CappedTag<float, 16> lanes;
  for (size_t i = 0; i < count; i += hn::Lanes(lanes)) {
    hn::StoreU(hn::Mul(hn::LoadU(lanes, values + i), hn::LoadU(lanes, by + i)), lanes, values + i);
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
