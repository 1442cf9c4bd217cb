// SPDX-License-Identifier: Apache-2.0
//
// Encoding, the integer kernel (once per SIMD target by Highway), and the bounds.

#include "engine/vector/byte_code.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/byte_code.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef PIGMENT_VECTOR_BYTE_CODE_KERNEL_
#define PIGMENT_VECTOR_BYTE_CODE_KERNEL_
namespace pigment {

// Both sides are read in steps of this many values: the levels are padded with zeros to it, and
// what lies behind a code does not count.
constexpr size_t kCodeStep = 64;

struct CodeKernelArguments {
  const int16_t* levels;
  const std::byte* codes;  // of the first vector
  size_t stride;
  size_t count;
  size_t steps;
  int32_t* out;
};

}  // namespace pigment
#endif

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Ahead of the hardware's prefetcher, which stops at each page.
constexpr size_t kPrefetchBytes = 4096;

HWY_ATTR void ProductsOfCodes(const CodeKernelArguments& arguments) {
  const hn::CappedTag<int16_t, 32> words;
  const hn::Rebind<int8_t, decltype(words)> bytes;
  const hn::CappedTag<int32_t, 16> sums;
  const size_t lanes = hn::Lanes(words);
  for (size_t row = 0; row < arguments.count; ++row) {
    const auto* codes = reinterpret_cast<const int8_t*>(arguments.codes + row * arguments.stride);
    auto first = hn::Zero(sums);
    auto second = hn::Zero(sums);
    for (size_t at = 0; at < arguments.steps * kCodeStep; at += kCodeStep) {
      __builtin_prefetch(codes + at + kPrefetchBytes);
      for (size_t i = at; i < at + kCodeStep; i += lanes) {
        const auto code = hn::PromoteTo(words, hn::LoadU(bytes, codes + i));
        const auto level = hn::LoadU(words, arguments.levels + i);
        first = hn::ReorderWidenMulAccumulate(sums, code, level, first, second);
      }
    }
    arguments.out[row] = hn::GetLane(hn::SumOfLanes(sums, hn::Add(first, second)));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(ProductsOfCodes);

constexpr size_t kChunk = 64;
constexpr double kCodeMax = 127;
constexpr double kUnit = 0x1p-23;  // of f32, doubled: bounds need not be tight in rounding
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

double NormInDouble(std::span<const float> vector) {
  double sum = 0;
  for (const float value : vector) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

// A little more than `value`, as f32.
float RoundUp(double value) {
  const double more = value * (1 + kUnit) + std::numeric_limits<float>::denorm_min();
  if (!(more <= std::numeric_limits<float>::max())) return std::numeric_limits<float>::infinity();
  return static_cast<float>(more);
}

float ToFloatOrInfinity(double value) {
  if (value > std::numeric_limits<float>::max()) return std::numeric_limits<float>::infinity();
  return static_cast<float>(value);
}

// The largest level for which no sum of products leaves int32.
int32_t LevelMax(size_t dimension) {
  const auto bound = static_cast<int64_t>(std::numeric_limits<int32_t>::max() /
                                          (kCodeMax * static_cast<double>(dimension)));
  return static_cast<int32_t>(std::min<int64_t>(bound, std::numeric_limits<int16_t>::max()));
}

double LargestMagnitude(std::span<const float> vector) {
  float largest = 0;
  for (const float value : vector) largest = std::max(largest, std::fabs(value));
  return largest;
}

}  // namespace

bool HasByteCodeBound(Metric metric) {
  return metric == Metric::kL2 || metric == Metric::kCosine || metric == Metric::kIp;
}

void EncodeByteCode(std::span<const float> vector, std::byte* out) {
  std::memset(out, 0, ByteCodeBytes(static_cast<uint32_t>(vector.size())));
  ByteCodeHeader header{};
  header.scale = static_cast<float>(LargestMagnitude(vector) / kCodeMax);
  // Scales without full precision would leave residuals as large as the vector: code nothing then.
  if (header.scale < std::numeric_limits<float>::min()) header.scale = 0;
  auto* codes = reinterpret_cast<int8_t*>(out + sizeof header);
  double residual = 0;
  for (size_t i = 0; i < vector.size(); ++i) {
    double code = 0;
    if (header.scale != 0) {
      code = std::clamp(std::nearbyint(static_cast<double>(vector[i]) / header.scale), -kCodeMax,
                        kCodeMax);
    }
    codes[i] = static_cast<int8_t>(code);
    const double difference = vector[i] - header.scale * code;
    residual += difference * difference;
  }
  header.error = RoundUp(std::sqrt(residual));
  header.norm = ToFloatOrInfinity(NormInDouble(vector));
  std::memcpy(out, &header, sizeof header);
}

ByteCodeQuery::ByteCodeQuery(Metric metric, std::span<const float> query)
    : metric_(metric),
      dimension_(static_cast<uint32_t>(query.size())),
      levels_((query.size() + kCodeStep - 1) / kCodeStep * kCodeStep),
      norm_(NormInDouble(query)),
      // 64 accumulators, a tree of 6, the product and what is around them.
      rounding_((static_cast<double>(query.size()) / 64 + 12) * kUnit) {
  step_ = LargestMagnitude(query) / LevelMax(query.size());
  if (step_ == 0) return;
  double squares = 0;
  double residual = 0;
  for (size_t i = 0; i < query.size(); ++i) {
    const double level = std::nearbyint(query[i] / step_);
    levels_[i] = static_cast<int16_t>(level);
    const double difference = query[i] - step_ * level;
    residual += difference * difference;
    squares += step_ * level * step_ * level;
  }
  levels_norm_ = std::sqrt(squares) * (1 + kUnit);
  error_ = std::sqrt(residual) * (1 + kUnit);
}

// Every bound is that of the exact distance, less what the f32 computation may be off by: sums over
// the dimension by rounding_ of the sum of magnitudes (at most |q| |x| for products), single
// operations by kUnit. Anything infinite or undefined gives NaN, which rules nothing out.
float ByteCodeQuery::LowerBound(const ByteCodeHeader& code, int32_t product) const {
  const double estimate = step_ * code.scale * product;
  const double magnitude = norm_ * code.norm;
  const double dot = estimate + levels_norm_ * code.error + error_ * code.norm * (1 + kUnit) +
                     rounding_ * magnitude;
  double bound = kUnknown;
  if (metric_ == Metric::kIp) {
    bound = 1 - dot - 2 * kUnit * (1 + magnitude);
  } else if (metric_ == Metric::kCosine) {
    // Clamped as the distance is; norms in f32 are off by half of rounding_ each.
    bound = std::min(1 - dot / magnitude - 3 * rounding_ - 4 * kUnit, 2.0);
  } else {
    const double squares = norm_ * norm_ * (1 - 0x1p-40) +
                           static_cast<double>(code.norm) * code.norm * (1 - 4 * kUnit);
    bound = squares - 2 * dot;
    bound -= 2 * rounding_ * std::fabs(bound);
  }
  // Beyond this the distance itself may have left f32 on either side.
  if (!(std::fabs(bound) < 1e37)) return kUnknown;
  const auto rounded = static_cast<float>(bound);
  return rounded > bound ? std::nextafter(rounded, -std::numeric_limits<float>::infinity())
                         : rounded;
}

void ByteCodeQuery::Products(const std::byte* codes, size_t count, int32_t* out) const {
  const size_t stride = ByteCodeBytes(dimension_);
  const size_t steps = levels_.size() / kCodeStep;
  // Whole steps reach beyond a code, into the next ones; where there are none they read a copy.
  const size_t reach = sizeof(ByteCodeHeader) + levels_.size();
  const size_t in_place = count * stride < reach ? 0 : (count * stride - reach) / stride + 1;
  HWY_DYNAMIC_DISPATCH(ProductsOfCodes)
  ({levels_.data(), codes + sizeof(ByteCodeHeader), stride, in_place, steps, out});
  std::byte copy[kByteCodeDimensionMax + kCodeStep];
  for (size_t i = in_place; i < count; ++i) {
    std::memcpy(copy, codes + i * stride + sizeof(ByteCodeHeader), dimension_);
    std::memset(copy + dimension_, 0, levels_.size() - dimension_);
    HWY_DYNAMIC_DISPATCH(ProductsOfCodes)({levels_.data(), copy, stride, 1, steps, out + i});
  }
}

void ByteCodeQuery::LowerBounds(const std::byte* codes, size_t count, float* out) const {
  const size_t stride = ByteCodeBytes(dimension_);
  int32_t products[kChunk];
  for (size_t begin = 0; begin < count; begin += kChunk) {
    const size_t some = std::min(kChunk, count - begin);
    const std::byte* first = codes + begin * stride;
    Products(first, some, products);
    for (size_t i = 0; i < some; ++i) {
      ByteCodeHeader header;
      std::memcpy(&header, first + i * stride, sizeof header);
      out[begin + i] = LowerBound(header, products[i]);
    }
  }
}

}  // namespace pigment
#endif  // HWY_ONCE
