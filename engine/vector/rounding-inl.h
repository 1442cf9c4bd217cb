// SPDX-License-Identifier: Apache-2.0
//
// The loop of all kernels that round vectors and tell what that loses, for sources that Highway
// compiles once per SIMD target.

#include "engine/vector/rounding.h"

// Included once per target, as Highway's own headers are: no #pragma once.
#if defined(PIGMENT_VECTOR_ROUNDING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PIGMENT_VECTOR_ROUNDING_INL_H_
#undef PIGMENT_VECTOR_ROUNDING_INL_H_
#else
#define PIGMENT_VECTOR_ROUNDING_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using RoundedDoubles = hn::CappedTag<double, kRoundedAtOnce>;
using RoundedFloats = hn::Rebind<float, RoundedDoubles>;

// Of as many numbers as whole registers hold, each as `round` of a register has it; returns how
// many. `out` may be null.
template <typename Round>
HWY_INLINE size_t RoundEach(const float* values, size_t count, float* out, RoundingSums* sums,
                            const Round& round) {
  const RoundedDoubles doubles;
  const RoundedFloats floats;
  const size_t lanes = hn::Lanes(doubles);
  auto square = hn::Zero(doubles), lost = hn::Zero(doubles), taxicab = hn::Zero(doubles);
  auto greatest = hn::Zero(floats);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(floats, values + i);
    const auto rounded = round(value);
    if (out != nullptr) hn::StoreU(rounded, floats, out + i);
    greatest = hn::Max(greatest, hn::Abs(rounded));
    const auto wide = hn::PromoteTo(doubles, value);
    const auto difference = hn::Sub(wide, hn::PromoteTo(doubles, rounded));
    square = hn::Add(square, hn::Mul(wide, wide));
    lost = hn::Add(lost, hn::Mul(difference, difference));
    taxicab = hn::Add(taxicab, hn::Abs(difference));
  }
  sums->square += hn::GetLane(hn::SumOfLanes(doubles, square));
  sums->lost += hn::GetLane(hn::SumOfLanes(doubles, lost));
  sums->taxicab += hn::GetLane(hn::SumOfLanes(doubles, taxicab));
  sums->greatest = std::max(sums->greatest, hn::GetLane(hn::MaxOfLanes(floats, greatest)));
  return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#endif  // the guard of the target
