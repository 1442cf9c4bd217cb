// SPDX-License-Identifier: Apache-2.0
//
// Levels of a vector's numbers, compiled once per SIMD target by Highway: see the header.

#include "engine/vector/level_code.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/level_code.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef PIGMENT_VECTOR_LEVEL_CODE_KERNEL_
#define PIGMENT_VECTOR_LEVEL_CODE_KERNEL_
namespace pigment {

struct LevelArguments {
  const float* vector;
  const float* centre;
  size_t dimension;      // a multiple of kCodeSums
  uint32_t bits;         // more than one
  float inverse_step;    // of levels: two of them are as far apart as this step
  uint8_t* signs;        // of the second plane and all that follow, dimension / 8 bytes each
  float* products;       // kCodeSums: u . r
  float* squares;        // kCodeSums: |u|^2
  float* centre_levels;  // kCodeSums: u . c
};

}  // namespace pigment
#endif

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

HWY_ATTR void EncodeLevels(const LevelArguments& arguments) {
  const hn::CappedTag<float, kCodeSums> lanes;
  const hn::Rebind<int32_t, decltype(lanes)> ints;
  using V = hn::Vec<decltype(lanes)>;
  constexpr size_t kLanes = HWY_MIN(HWY_LANES(float), kCodeSums);
  constexpr size_t kRegisters = kCodeSums / kLanes;
  const V zero = hn::Zero(lanes);
  const V inverse_step = hn::Set(lanes, arguments.inverse_step);
  const auto most = hn::Set(lanes, static_cast<float>((1u << (arguments.bits - 1)) - 1));
  V products[kRegisters];
  V squares[kRegisters];
  V centre_levels[kRegisters];
  for (size_t i = 0; i < kRegisters; ++i) products[i] = squares[i] = centre_levels[i] = zero;
  const size_t plane_bytes = arguments.dimension / 8;
  for (size_t begin = 0; begin < arguments.dimension; begin += kCodeSums) {
    uint32_t signs[kLevelBitsMax] = {};
    for (size_t i = 0; i < kRegisters; ++i) {
      const V centre = hn::LoadU(lanes, arguments.centre + begin + i * kLanes);
      const V r = hn::Sub(hn::LoadU(lanes, arguments.vector + begin + i * kLanes), centre);
      const V magnitude = hn::Abs(r);
      // Steps from zero, and their odd level.
      const auto steps = hn::ConvertTo(ints, hn::Min(hn::Mul(magnitude, inverse_step), most));
      const V level = hn::ConvertTo(lanes, hn::Add(hn::Add(steps, steps), hn::Set(ints, 1)));
      const auto is_positive = hn::Ge(r, zero);
      products[i] = hn::Add(products[i], hn::Mul(level, magnitude));
      squares[i] = hn::Add(squares[i], hn::Mul(level, level));
      const V signed_centre = hn::IfThenElse(is_positive, centre, hn::Neg(centre));
      centre_levels[i] = hn::Add(centre_levels[i], hn::Mul(level, signed_centre));
      // What follows the sign is the number of steps, of a negative one with all bits turned.
      const auto turned = hn::IfThenElse(hn::RebindMask(ints, is_positive), steps, hn::Not(steps));
      for (uint32_t plane = 1; plane < arguments.bits; ++plane) {
        const auto bit = hn::Set(ints, 1 << (arguments.bits - 1 - plane));
        uint8_t bits[8] = {};
        hn::StoreMaskBits(ints, hn::TestBit(turned, bit), bits);
        signs[plane] |= (bits[0] | static_cast<uint32_t>(bits[1]) << 8) << (i * kLanes);
      }
    }
    for (uint32_t plane = 1; plane < arguments.bits; ++plane) {
      uint8_t* const out = arguments.signs + (plane - 1) * plane_bytes + begin / 8;
      out[0] = static_cast<uint8_t>(signs[plane]);
      out[1] = static_cast<uint8_t>(signs[plane] >> 8);
    }
  }
  for (size_t i = 0; i < kRegisters; ++i) {
    hn::StoreU(products[i], lanes, arguments.products + i * kLanes);
    hn::StoreU(squares[i], lanes, arguments.squares + i * kLanes);
    hn::StoreU(centre_levels[i], lanes, arguments.centre_levels + i * kLanes);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(EncodeLevels);

// What lies between two levels, in standard deviations of normal numbers, where levels of 2, 3 and
// 4 bits are nearest to them (Max, 1960): rotated vectors have numbers like these.
constexpr double kStepsOfDeviation[kLevelBitsMax + 1] = {0, 0, 0.9957, 0.5860, 0.3352};

}  // namespace

SignCodeFactor EncodeLevels(std::span<const float> vector, std::span<const float> centre,
                            uint32_t bits, std::byte* planes) {
  const SignCodeFactor of_signs = EncodeSigns(vector, centre, planes);
  if (bits == 1) return of_signs;
  const double square = of_signs.square;
  const auto dimension = static_cast<double>(vector.size());
  const double step = kStepsOfDeviation[bits] * std::sqrt(square / dimension);
  float products[kCodeSums];
  float squares[kCodeSums];
  float centre_levels[kCodeSums];
  HWY_DYNAMIC_DISPATCH(EncodeLevels)
  ({vector.data(), centre.data(), vector.size(), bits, step > 0 ? static_cast<float>(1 / step) : 0,
    reinterpret_cast<uint8_t*>(planes) + vector.size() / 8, products, squares, centre_levels});
  return FactorOfCode(square, TotalOf(products), TotalOf(squares), dimension,
                      TotalOf(centre_levels));
}

SignCodeFactor EncodeLevelCode(std::span<const float> vector, std::span<const float> centre,
                               uint32_t bits, size_t index, size_t count, std::byte* group) {
  if (bits == 1) return EncodeSignCode(vector, centre, index, count, group);
  std::byte planes[kLevelBitsMax * kLevelDimensionMax / 8];
  const SignCodeFactor factor = EncodeLevels(vector, centre, bits, planes);
  PlaceSigns(std::span(planes).first(bits * vector.size() / 8), index, count, group);
  return factor;
}

}  // namespace pigment
#endif  // HWY_ONCE
