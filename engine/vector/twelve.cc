// SPDX-License-Identifier: Apache-2.0
//
// Numbers in 12 bits: reading, rounding and writing are compiled once per SIMD target by Highway.

#include "engine/vector/twelve.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// Vectors of unknown size need another tail.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/twelve.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "engine/vector/rounding-inl.h"

#ifndef PIGMENT_ENGINE_VECTOR_TWELVE_STEPS
#define PIGMENT_ENGINE_VECTOR_TWELVE_STEPS
namespace pigment {
inline constexpr float kStepsMax = 4092;
}  // namespace pigment
#endif

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Of the numbers whose upper bits are in the lower (kShift 0) or in the upper half (4) of `upper`,
// as many as whole registers hold; returns how many.
template <int kShift>
size_t UnpackWhole(const uint8_t* lower, const uint8_t* upper, size_t count, float power,
                   float* out) {
  const hn::CappedTag<float, 16> floats;
  const hn::RebindToSigned<decltype(floats)> words;
  const hn::Rebind<uint8_t, decltype(floats)> bytes;
  const size_t lanes = hn::Lanes(floats);
  const auto scale = hn::Set(floats, power);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto low = hn::PromoteTo(words, hn::LoadU(bytes, lower + i));
    const auto high = hn::ShiftRight<kShift>(hn::PromoteTo(words, hn::LoadU(bytes, upper + i)));
    const auto above = hn::ShiftLeft<8>(hn::And(high, hn::Set(words, 7)));
    const auto m = hn::ConvertTo(floats, hn::Or(low, above));
    const auto twice = hn::Add(m, m);
    const auto steps = hn::Max(hn::Max(m, hn::Sub(twice, hn::Set(floats, 1024))),
                               hn::Sub(hn::Add(twice, twice), hn::Set(floats, 4096)));
    const auto sign = hn::ShiftLeft<28>(hn::And(high, hn::Set(words, 8)));
    hn::StoreU(hn::Or(hn::Mul(steps, scale), hn::BitCast(floats, sign)), floats, out + i);
  }
  return i;
}

size_t UnpackLower(const uint8_t* lower, const uint8_t* upper, size_t count, float power,
                   float* out) {
  return UnpackWhole<0>(lower, upper, count, power, out);
}
size_t UnpackUpper(const uint8_t* lower, const uint8_t* upper, size_t count, float power,
                   float* out) {
  return UnpackWhole<4>(lower, upper, count, power, out);
}

// Magnitudes in units of the power, rounded; up to 4,096 where they would be beyond kStepsMax.
// Added to so much, a float has no bits below the step, so the addition rounds.
template <class D>
HWY_INLINE hn::Vec<D> StepsOf(D floats, hn::Vec<D> magnitude) {
  const auto upper = hn::IfThenElse(hn::Lt(magnitude, hn::Set(floats, 2048)),
                                    hn::Set(floats, 0x1p24f), hn::Set(floats, 0x1p25f));
  const auto large =
      hn::IfThenElse(hn::Lt(magnitude, hn::Set(floats, 1024)), hn::Set(floats, 0x1p23f), upper);
  return hn::Sub(hn::Add(magnitude, large), large);
}

// The greatest magnitude of as many as whole registers hold; returns how many.
size_t GreatestWhole(const float* values, size_t count, float* greatest) {
  const RoundedFloats floats;
  const size_t lanes = hn::Lanes(floats);
  auto most = hn::Zero(floats);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    most = hn::Max(most, hn::Abs(hn::LoadU(floats, values + i)));
  *greatest = hn::GetLane(hn::MaxOfLanes(floats, most));
  return i;
}

size_t RoundWhole(const float* values, size_t count, float unit, float power, float* out,
                  RoundingSums* sums) {
  const RoundedFloats floats;
  return RoundEach(values, count, out, sums, [&](auto value) HWY_ATTR {
    const auto steps = StepsOf(floats, hn::Mul(hn::Abs(value), hn::Set(floats, unit)));
    return hn::CopySignToAbs(hn::Mul(steps, hn::Set(floats, power)), value);
  });
}

// Of `count` numbers and those `apart` behind them, which share bytes of `upper`, as many as whole
// registers hold; returns how many.
size_t PackWhole(const float* values, size_t apart, size_t count, float unit, uint8_t* lower,
                 uint8_t* upper) {
  const hn::CappedTag<float, 16> floats;
  const hn::RebindToSigned<decltype(floats)> words;
  const hn::Rebind<uint8_t, decltype(floats)> bytes;
  const size_t lanes = hn::Lanes(floats);
  // The sign above m, as in a word of twelve bits.
  const auto word_of = [&](const float* from) HWY_ATTR {
    const auto value = hn::LoadU(floats, from);
    const auto magnitude = hn::Mul(hn::Abs(value), hn::Set(floats, unit));
    const auto rounded = hn::Min(StepsOf(floats, magnitude), hn::Set(floats, kStepsMax));
    const auto steps = hn::ConvertTo(words, rounded);
    const auto of_four = hn::Add(hn::ShiftRight<2>(steps), hn::Set(words, 1024));
    const auto of_two = hn::Add(hn::ShiftRight<1>(steps), hn::Set(words, 512));
    const auto above = hn::IfThenElse(hn::Lt(steps, hn::Set(words, 2048)), of_two, of_four);
    const auto m = hn::IfThenElse(hn::Lt(steps, hn::Set(words, 1024)), steps, above);
    const auto sign = hn::And(hn::ShiftRight<20>(hn::BitCast(words, value)), hn::Set(words, 2048));
    return hn::Or(m, sign);
  };
  const auto low_of = [&](hn::Vec<decltype(words)> word) HWY_ATTR {
    return hn::DemoteTo(bytes, hn::And(word, hn::Set(words, 255)));
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto first = word_of(values + i);
    const auto second = word_of(values + apart + i);
    hn::StoreU(low_of(first), bytes, lower + i);
    hn::StoreU(low_of(second), bytes, lower + apart + i);
    const auto both = hn::Or(hn::ShiftRight<8>(first), hn::ShiftLeft<4>(hn::ShiftRight<8>(second)));
    hn::StoreU(hn::DemoteTo(bytes, both), bytes, upper + i);
  }
  return i;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(UnpackLower);
HWY_EXPORT(UnpackUpper);
HWY_EXPORT(GreatestWhole);
HWY_EXPORT(RoundWhole);
HWY_EXPORT(PackWhole);

constexpr int kExponentMin = -24;  // halves have none smaller

uint32_t SignOf(float number) { return std::bit_cast<uint32_t>(number) >> 31; }

// As StepsOf() has it.
float Steps(float magnitude) {
  const float large = magnitude < 1024 ? 0x1p23f : magnitude < 2048 ? 0x1p24f : 0x1p25f;
  return (magnitude + large) - large;
}

float GreatestOf(std::span<const float> vector) {
  float greatest = 0;
  for (size_t i = HWY_DYNAMIC_DISPATCH(GreatestWhole)(vector.data(), vector.size(), &greatest);
       i < vector.size(); ++i)
    greatest = std::max(greatest, std::fabs(vector[i]));
  return greatest;
}

// Of the smallest power with which the greatest number can be said. REQUIRES: it is finite.
int ExponentFor(float greatest) {
  int exponent = 0;
  std::frexp(greatest, &exponent);  // below 2^exponent
  exponent = std::max(exponent - 12, kExponentMin);
  return Steps(std::ldexp(greatest, -exponent)) > kStepsMax ? exponent + 1 : exponent;
}

uint32_t WordOf(float number, float unit) {
  const auto steps = static_cast<uint32_t>(std::min(kStepsMax, Steps(std::fabs(number) * unit)));
  const uint32_t m = steps < 1024 ? steps : steps < 2048 ? steps / 2 + 512 : steps / 4 + 1024;
  return SignOf(number) << 11 | m;
}

float NumberOf(uint32_t word, float power) {
  const auto m = static_cast<float>(word & 2047);
  const float number = std::max({m, 2 * m - 1024, 4 * m - 4096}) * power;
  return (word & 2048) != 0 ? -number : number;
}

}  // namespace

std::optional<HalfShift> RoundToTwelves(std::span<const float> vector, std::span<float> out) {
  const std::optional<HalfShift> halves = RoundVector(vector, {});
  if (!halves) return std::nullopt;
  const float greatest = GreatestOf(vector);
  const int exponent = ExponentFor(greatest);
  const float unit = std::ldexp(1.0f, -exponent), power = std::ldexp(1.0f, exponent);
  if (Steps(greatest * unit) * power > kHalfMax) return std::nullopt;
  const RoundingSums sums =
      RoundAll(vector, out, [&](const float* values, size_t count, float* to, RoundingSums* of) {
        return HWY_DYNAMIC_DISPATCH(RoundWhole)(values, count, unit, power, to, of);
      });
  if (halves->length == 0 && sums.lost != 0) return std::nullopt;
  return HalfShiftOf(sums.lost, sums.square, sums.taxicab);
}

void PackTwelves(std::span<const float> vector, std::byte* out) {
  const size_t first = (vector.size() + 1) / 2, second = vector.size() - first;
  const int exponent = ExponentFor(GreatestOf(vector));
  const float unit = std::ldexp(1.0f, -exponent);
  out[0] = static_cast<std::byte>(exponent);
  auto* const lower = reinterpret_cast<uint8_t*>(out + 1);
  uint8_t* const upper = lower + vector.size();
  const auto put = [&](size_t i) {
    const uint32_t word = WordOf(vector[i], unit);
    lower[i] = static_cast<uint8_t>(word);
    return word >> 8;
  };
  for (size_t i = HWY_DYNAMIC_DISPATCH(PackWhole)(vector.data(), first, second, unit, lower, upper);
       i < first; ++i) {
    const uint32_t above = put(i);
    upper[i] = static_cast<uint8_t>(i < second ? above | put(first + i) << 4 : above);
  }
}

void UnpackTwelves(const std::byte* packed, std::span<float> out) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(packed);
  const float power = std::ldexp(1.0f, static_cast<int8_t>(bytes[0]));
  const uint8_t* const lower = bytes + 1;
  const uint8_t* const upper = lower + out.size();
  const size_t first = (out.size() + 1) / 2, second = out.size() - first;
  for (size_t i = HWY_DYNAMIC_DISPATCH(UnpackLower)(lower, upper, first, power, out.data());
       i < first; ++i)
    out[i] = NumberOf(lower[i] | (upper[i] & 15u) << 8, power);
  for (size_t i = HWY_DYNAMIC_DISPATCH(UnpackUpper)(lower + first, upper, second, power,
                                                    out.data() + first);
       i < second; ++i)
    out[first + i] = NumberOf(lower[first + i] | static_cast<uint32_t>(upper[i] >> 4) << 8, power);
}

}  // namespace pigment
#endif  // HWY_ONCE
