// SPDX-License-Identifier: Apache-2.0
//
// Halves: reading and rounding are compiled once per SIMD target by Highway; writing, which happens
// once for each vector, is plain code, because not every target converts alike.

#include "engine/vector/half.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

// Vectors of unknown size need another tail.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/half.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "engine/vector/rounding-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// As many as whole registers hold; returns how many.
size_t WidenWhole(const std::byte* halves, size_t count, float* out) {
  const hn::CappedTag<float, 16> floats;
  const hn::Rebind<hwy::float16_t, decltype(floats)> packed;
  const size_t lanes = hn::Lanes(floats);
  const auto* from = reinterpret_cast<const hwy::float16_t*>(halves);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::PromoteTo(floats, hn::LoadU(packed, from + i)), floats, out + i);
  return i;
}

// Each number as the half that is nearest, for those up to kHalfMax: with 13 bits less, or, below
// 2^-14, as a multiple of 2^-24.
template <class D>
hn::Vec<D> Rounded(D floats, hn::Vec<D> value) {
  const hn::RebindToUnsigned<D> bits;
  const auto sign = hn::And(value, hn::SignBit(floats));
  const auto magnitude = hn::Xor(value, sign);
  auto word = hn::BitCast(bits, magnitude);
  const auto is_odd = hn::And(hn::ShiftRight<13>(word), hn::Set(bits, 1));
  word = hn::Add(word, hn::Add(hn::Set(bits, 0x0FFF), is_odd));
  const auto usual = hn::BitCast(floats, hn::AndNot(hn::Set(bits, 0x1FFF), word));
  const auto half = hn::Set(floats, 0.5f);
  const auto small = hn::Sub(hn::Add(magnitude, half), half);
  const auto is_small = hn::Lt(magnitude, hn::Set(floats, 0x1p-14f));
  return hn::Or(hn::IfThenElse(is_small, small, usual), sign);
}

size_t RoundWhole(const float* values, size_t count, float* out, RoundingSums* sums) {
  return RoundEach(values, count, out, sums,
                   [](auto value) HWY_ATTR { return Rounded(RoundedFloats(), value); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(WidenWhole);
HWY_EXPORT(RoundWhole);

}  // namespace

float FloatOfHalf(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 31u;
  const uint32_t fraction = half & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | fraction << 13);
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

uint16_t HalfOf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return sign | 0x7E00u;   // NaN
  if (magnitude >= 0x477FF000u) return sign | 0x7C00u;  // 65520 and above
  if (magnitude < 0x38800000u) {                        // below 2^-14: fixed point, in 2^-24
    // The sum has the fraction, rounded to nearest even by the addition, in its lowest bits.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3F000000u);
  }
  magnitude += 0x0FFFu + ((magnitude >> 13) & 1u);  // half a unit, less where the unit is even
  return sign | static_cast<uint16_t>((magnitude - 0x38000000u) >> 13);
}

void NarrowToHalves(std::span<const float> values, std::byte* out) {
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half = HalfOf(values[i]);
    std::memcpy(out + i * sizeof half, &half, sizeof half);
  }
}

Status RoundToHalves(size_t dimension, std::span<float> values) {
  const size_t width = std::max<size_t>(dimension, 1);
  for (size_t i = 0; i < values.size(); ++i) {
    const float rounded = FloatOfHalf(HalfOf(values[i]));
    if (!std::isfinite(rounded)) {
      return InvalidArgument(
                 Detail::kNotFinite,
                 fmt::format("embeddings kept in f16 must be within {} and -{}, got {} at place {} "
                             "of row {}",
                             kHalfMax, kHalfMax, values[i], i % width, i / width))
          .WithRow(static_cast<int64_t>(i / width));
    }
    values[i] = rounded;
  }
  return Status::Ok();
}

double HalfShift::Of(Metric metric) const {
  if (IsCosine(metric)) return part;
  return metric == Metric::kL1 ? taxicab : length;
}

std::optional<HalfShift> HalfShiftOf(double lost, double square, double taxicab) {
  constexpr double kPartMax = 1.0 / 1024;  // of usual numbers halves lose half of it at the most
  // A number that is none makes both sums none, and no comparison holds.
  if (!(lost <= square * kPartMax * kPartMax)) return std::nullopt;
  return HalfShift{.length = std::sqrt(lost),
                   .part = lost == 0 ? 0 : std::sqrt(lost / square),
                   .taxicab = taxicab};
}

std::optional<HalfShift> RoundVector(std::span<const float> vector, std::span<float> out) {
  const RoundingSums sums = RoundAll(vector, out, HWY_DYNAMIC_DISPATCH(RoundWhole));
  if (!(sums.greatest <= kHalfMax)) return std::nullopt;
  return HalfShiftOf(sums.lost, sums.square, sums.taxicab);
}

void WidenHalves(const std::byte* halves, std::span<float> out) {
  constexpr size_t kRegisterMax = 16;  // numbers in the widest register, a multiple of all others
  const size_t whole = HWY_DYNAMIC_DISPATCH(WidenWhole)(halves, out.size(), out.data());
  if (whole == out.size()) return;
  if (out.size() >= kRegisterMax) {  // the last ones, some of them again
    const size_t first = out.size() - kRegisterMax;
    HWY_DYNAMIC_DISPATCH(WidenWhole)
    (halves + first * sizeof(uint16_t), kRegisterMax, out.data() + first);
    return;
  }
  if (out.size() <= kRegisterMax / 2) {  // sooner done one by one
    for (size_t i = whole; i < out.size(); ++i) {
      uint16_t half;
      std::memcpy(&half, halves + i * sizeof half, sizeof half);
      out[i] = FloatOfHalf(half);
    }
    return;
  }
  std::array<std::byte, kRegisterMax * sizeof(uint16_t)> padded{};
  std::array<float, kRegisterMax> widened;
  std::memcpy(padded.data(), halves, out.size() * sizeof(uint16_t));
  HWY_DYNAMIC_DISPATCH(WidenWhole)(padded.data(), kRegisterMax, widened.data());
  std::copy_n(widened.begin(), out.size(), out.begin());
}

}  // namespace pigment
#endif  // HWY_ONCE
