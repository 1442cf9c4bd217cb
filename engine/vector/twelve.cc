// SPDX-License-Identifier: Apache-2.0
//
// Numbers in 12 bits: reading is compiled once per SIMD target by Highway; writing, which happens
// once for each vector, is plain code.

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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(UnpackLower);
HWY_EXPORT(UnpackUpper);

constexpr float kStepsMax = 4092;
constexpr int kExponentMin = -24;  // halves have none smaller

uint32_t SignOf(float number) { return std::bit_cast<uint32_t>(number) >> 31; }

// A magnitude in units of the power, rounded; up to 4,096 where it would be beyond kStepsMax.
float Steps(float magnitude) {
  // Added to so much, a float has no bits below the step, so the addition rounds.
  const float large = magnitude < 1024 ? 0x1p23f : magnitude < 2048 ? 0x1p24f : 0x1p25f;
  return (magnitude + large) - large;
}

float GreatestOf(std::span<const float> vector) {
  float greatest = 0;
  for (const float number : vector) greatest = std::max(greatest, std::fabs(number));
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
  double square = 0, lost = 0, taxicab = 0;
  for (size_t i = 0; i < vector.size(); ++i) {
    const double number = vector[i];
    const float rounded = std::copysign(Steps(std::fabs(vector[i]) * unit) * power, vector[i]);
    const double difference = number - rounded;
    square += number * number;
    lost += difference * difference;
    taxicab += std::fabs(difference);
    if (!out.empty()) out[i] = rounded;
  }
  if (halves->length == 0 && lost != 0) return std::nullopt;
  return HalfShiftOf(lost, square, taxicab);
}

void PackTwelves(std::span<const float> vector, std::byte* out) {
  const size_t upper_bytes = TwelvesBytes(vector.size()) - 1 - vector.size();
  const int exponent = ExponentFor(GreatestOf(vector));
  const float unit = std::ldexp(1.0f, -exponent);
  out[0] = static_cast<std::byte>(exponent);
  std::byte* const lower = out + 1;
  std::byte* const upper = lower + vector.size();
  for (size_t i = 0; i < vector.size(); ++i) {
    const uint32_t word = WordOf(vector[i], unit);
    const auto above = static_cast<std::byte>(word >> 8);
    lower[i] = static_cast<std::byte>(word);
    if (i < upper_bytes) {
      upper[i] = above;
    } else {
      upper[i - upper_bytes] |= above << 4;
    }
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
