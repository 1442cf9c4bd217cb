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

// Codes whose bounds are computed together, headers side by side; a multiple of every register.
constexpr size_t kChunk = 64;
struct HeadersOfCodes {
  float scales[kChunk];
  float errors[kChunk];
  float norms[kChunk];
};

// The numbers of the query in ByteCodeQuery; `cosine` is what a cosine's bound is lowered by.
struct BoundArguments {
  Metric metric;
  double step;
  double levels_norm;
  double error;
  double norm;
  double rounding;
  double cosine;
};

constexpr double kUnit = 0x1p-23;  // of f32, doubled: bounds need not be tight in rounding

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

// Every bound is that of the exact distance, less what the f32 computation may be off by: sums over
// the dimension by `rounding` of the sum of magnitudes (at most |q| |x| for products), single
// operations by kUnit. Anything infinite or undefined gives NaN, which rules nothing out.
HWY_ATTR void BoundsOfProducts(const BoundArguments& query, const HeadersOfCodes& codes,
                               size_t count, const int32_t* products, float* out) {
  const hn::CappedTag<double, 8> doubles;
  const hn::Rebind<float, decltype(doubles)> floats;
  const hn::Rebind<int32_t, decltype(doubles)> ints;
  const auto set = [&doubles](double value) HWY_ATTR { return hn::Set(doubles, value); };
  for (size_t i = 0; i < count; i += hn::Lanes(doubles)) {
    const auto scale = hn::PromoteTo(doubles, hn::LoadU(floats, codes.scales + i));
    const auto error = hn::PromoteTo(doubles, hn::LoadU(floats, codes.errors + i));
    const auto norm = hn::PromoteTo(doubles, hn::LoadU(floats, codes.norms + i));
    const auto product = hn::PromoteTo(doubles, hn::LoadU(ints, products + i));
    const auto magnitude = hn::Mul(set(query.norm), norm);
    auto dot = hn::Mul(hn::Mul(set(query.step), scale), product);
    dot = hn::Add(dot, hn::Mul(set(query.levels_norm), error));
    dot = hn::Add(dot, hn::Mul(set(query.error * (1 + kUnit)), norm));
    dot = hn::Add(dot, hn::Mul(set(query.rounding), magnitude));
    auto bound = hn::Zero(doubles);
    if (IsInnerProduct(query.metric)) {
      const double begin = query.metric == Metric::kIp ? 1 : 0;
      bound = hn::Sub(hn::Sub(set(begin), dot),
                      hn::Mul(set(2 * kUnit), hn::Add(set(begin), magnitude)));
    } else if (IsCosine(query.metric)) {
      bound = hn::Sub(hn::Sub(set(1), hn::Div(dot, magnitude)), set(query.cosine));
      // Clamped as the distance is; what is undefined stays so.
      bound = hn::IfThenElse(hn::Gt(bound, set(2)), set(2), bound);
    } else {
      const auto squares = hn::Add(set(query.norm * query.norm * (1 - 0x1p-40)),
                                   hn::Mul(hn::Mul(norm, norm), set(1 - 4 * kUnit)));
      bound = hn::Sub(squares, hn::Add(dot, dot));
      bound = hn::Sub(bound, hn::Mul(set(2 * query.rounding), hn::Abs(bound)));
    }
    // Down to a float that is not above it.
    const auto lowered =
        hn::Sub(bound, hn::Add(hn::Mul(hn::Abs(bound), set(kUnit)), set(0x1p-140)));
    // Beyond this the distance itself may have left f32 on either side.
    const auto is_known = hn::Lt(hn::Abs(bound), set(1e37));
    const auto unknown = set(std::numeric_limits<double>::quiet_NaN());
    hn::StoreU(hn::DemoteTo(floats, hn::IfThenElse(is_known, lowered, unknown)), floats, out + i);
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
HWY_EXPORT(BoundsOfProducts);

constexpr double kCodeMax = 127;

// To the nearest integer, ties to even, of what is below 2^51: as nearbyint, without a call.
double RoundToInteger(double value) { return value + 0x1.8p52 - 0x1.8p52; }

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
  constexpr size_t kAtOnce = 8;
  float largest[kAtOnce] = {};
  size_t i = 0;
  for (; i + kAtOnce <= vector.size(); i += kAtOnce) {
    for (size_t lane = 0; lane < kAtOnce; ++lane)
      largest[lane] = std::max(largest[lane], std::fabs(vector[i + lane]));
  }
  for (; i < vector.size(); ++i) largest[0] = std::max(largest[0], std::fabs(vector[i]));
  return *std::max_element(largest, largest + kAtOnce);
}

}  // namespace

bool HasByteCodeBound(Metric metric) {
  return IsSquare(metric) || IsCosine(metric) || IsInnerProduct(metric);
}

void EncodeByteCode(std::span<const float> vector, std::byte* out) {
  std::memset(out, 0, ByteCodeBytes(static_cast<uint32_t>(vector.size())));
  ByteCodeHeader header{};
  header.scale = static_cast<float>(LargestMagnitude(vector) / kCodeMax);
  // Scales without full precision would leave residuals as large as the vector: code nothing then.
  if (header.scale < std::numeric_limits<float>::min()) header.scale = 0;
  auto* codes = reinterpret_cast<int8_t*>(out + sizeof header);
  // Sums are of one number after the other, so that they are the same bits everywhere; what does
  // not wait for them is done some numbers ahead.
  double differences[kCodeStep];
  double residual = 0;
  double squares = 0;
  for (size_t begin = 0; begin < vector.size(); begin += kCodeStep) {
    const size_t some = std::min(kCodeStep, vector.size() - begin);
    for (size_t i = 0; i < some; ++i) {
      const double value = vector[begin + i];
      double code = 0;
      if (header.scale != 0)
        code = std::clamp(RoundToInteger(value / header.scale), -kCodeMax, kCodeMax);
      codes[begin + i] = static_cast<int8_t>(code);
      differences[i] = value - header.scale * code;
    }
    for (size_t i = 0; i < some; ++i) {
      const double value = vector[begin + i];
      residual += differences[i] * differences[i];
      squares += value * value;
    }
  }
  header.error = RoundUp(std::sqrt(residual));
  header.norm = ToFloatOrInfinity(std::sqrt(squares));
  std::memcpy(out, &header, sizeof header);
}

bool SaysByteCode(const std::byte* code) {
  ByteCodeHeader header;
  std::memcpy(&header, code, sizeof header);
  return std::isfinite(header.error);
}

void DecodeByteCode(const std::byte* code, std::span<float> vector) {
  ByteCodeHeader header;
  std::memcpy(&header, code, sizeof header);
  const auto* codes = reinterpret_cast<const int8_t*>(code + sizeof header);
  for (size_t i = 0; i < vector.size(); ++i)
    vector[i] = header.scale * static_cast<float>(codes[i]);
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
    const double level = RoundToInteger(query[i] / step_);
    levels_[i] = static_cast<int16_t>(level);
    const double difference = query[i] - step_ * level;
    residual += difference * difference;
    squares += step_ * level * step_ * level;
  }
  levels_norm_ = std::sqrt(squares) * (1 + kUnit);
  error_ = std::sqrt(residual) * (1 + kUnit);
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
  const BoundArguments arguments{.metric = metric_,
                                 .step = step_,
                                 .levels_norm = levels_norm_,
                                 .error = error_,
                                 .norm = norm_,
                                 .rounding = rounding_,
                                 // Norms in f32 are off by half of rounding_ each.
                                 .cosine = 3 * rounding_ + 4 * kUnit};
  int32_t products[kChunk] = {};
  HeadersOfCodes headers{};
  float bounds[kChunk];
  for (size_t begin = 0; begin < count; begin += kChunk) {
    const size_t some = std::min(kChunk, count - begin);
    const std::byte* first = codes + begin * stride;
    Products(first, some, products);
    for (size_t i = 0; i < some; ++i) {
      ByteCodeHeader header;
      std::memcpy(&header, first + i * stride, sizeof header);
      headers.scales[i] = header.scale;
      headers.errors[i] = header.error;
      headers.norms[i] = header.norm;
    }
    HWY_DYNAMIC_DISPATCH(BoundsOfProducts)(arguments, headers, some, products, bounds);
    std::memcpy(out + begin, bounds, some * sizeof(float));
  }
}

}  // namespace pigment
#endif  // HWY_ONCE
