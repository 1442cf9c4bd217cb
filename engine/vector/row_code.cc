// SPDX-License-Identifier: Apache-2.0
//
// Codes, planes of a query, and the kernel that counts bits, compiled once per SIMD target by
// Highway: with the instruction that does so, of one word, or, where the machine has it (AVX3_DL),
// of a register; with AVX2 by looking up what is set in four bits.

#define HWY_WANT_AVX3_DL 1

#include "engine/vector/row_code.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/vector/half.h"
#include "engine/vector/sign_code.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/row_code.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef PIGMENT_VECTOR_ROW_CODE_KERNEL_
#define PIGMENT_VECTOR_ROW_CODE_KERNEL_
namespace pigment {

constexpr size_t kPlanes = 4;
constexpr size_t kWordsPerGroup = 8;

struct CountArguments {
  const uint64_t* planes;  // of each group of words the first plane, then the others; 0 at the end
  const uint64_t* shifts;  // of each word, in groups
  const uint8_t* nibbles;  // of each two words and plane lower halves of bytes, then the upper ones
  size_t words;
  const std::byte* const* codes;
  size_t count;
  uint32_t* sums;  // of each code: signs that differ from each plane's, times what both count
};

}  // namespace pigment
#endif

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

static_assert(kPlanes == 4);

#if HWY_TARGET == HWY_AVX3_DL

namespace hn = hwy::HWY_NAMESPACE;

// Weighted counts of the signs that differ in each word of a group.
template <typename V>
HWY_INLINE V CountOfWords(V signs, const V* planes, V shifts) {
  const auto count = [&](size_t plane)
                         HWY_ATTR { return hn::PopulationCount(hn::Xor(signs, planes[plane])); };
  const V low = hn::Add(count(0), hn::ShiftLeft<1>(count(1)));
  const V high = hn::Add(count(2), hn::ShiftLeft<1>(count(3)));
  return hn::Shl(hn::Add(low, hn::ShiftLeft<2>(high)), shifts);
}

using Words = hn::CappedTag<uint64_t, kWordsPerGroup>;
using HalfOfWords = hn::Half<Words>;

// Some bytes of a code, which is all that is left of it, and zeros, as the planes have there.
template <typename D>
HWY_INLINE hn::Vec<D> LoadCode(D words, const void* code, size_t bytes) {
  const hn::Repartition<uint8_t, D> lanes;
  return hn::BitCast(
      words, hn::MaskedLoad(hn::FirstN(lanes, bytes), lanes, static_cast<const uint8_t*>(code)));
}

// Of codes that take half of a group at most: two side by side.
HWY_ATTR void CountDifferencesOfPairs(const CountArguments& arguments) {
  const Words words;
  const HalfOfWords half;
  hn::Vec<Words> planes[kPlanes];
  const auto both = [&](const uint64_t* from) HWY_ATTR {
    return hn::Combine(words, hn::LoadU(half, from), hn::LoadU(half, from));
  };
  for (size_t plane = 0; plane < kPlanes; ++plane)
    planes[plane] = both(arguments.planes + plane * kWordsPerGroup);
  const hn::Vec<Words> shifts = both(arguments.shifts);
  const size_t bytes = arguments.words * sizeof(uint64_t);
  for (size_t i = 0; i < arguments.count; i += 2) {
    const size_t other = HWY_MIN(i + 1, arguments.count - 1);
    const auto signs = hn::Combine(words, LoadCode(half, arguments.codes[other], bytes),
                                   LoadCode(half, arguments.codes[i], bytes));
    auto sum = CountOfWords(signs, planes, shifts);
    sum = hn::Add(sum, hn::Reverse2(words, sum));
    sum = hn::Add(sum, hn::SwapAdjacentBlocks(sum));
    arguments.sums[i] = static_cast<uint32_t>(hn::GetLane(sum));
    arguments.sums[other] = static_cast<uint32_t>(hn::GetLane(hn::UpperHalf(half, sum)));
  }
}

HWY_ATTR void CountDifferences(const CountArguments& arguments) {
  const Words words;
  static_assert(hn::MaxLanes(words) == kWordsPerGroup);
  if (arguments.words <= kWordsPerGroup / 2) return CountDifferencesOfPairs(arguments);
  for (size_t i = 0; i < arguments.count; ++i) {
    auto sum = hn::Zero(words);
    const uint64_t* from = arguments.planes;
    for (size_t word = 0; word < arguments.words; word += kWordsPerGroup) {
      const size_t some = HWY_MIN(arguments.words - word, kWordsPerGroup) * sizeof(uint64_t);
      const auto signs = LoadCode(words, arguments.codes[i] + word * sizeof(uint64_t), some);
      hn::Vec<Words> planes[kPlanes];
      for (size_t plane = 0; plane < kPlanes; ++plane)
        planes[plane] = hn::LoadU(words, from + plane * kWordsPerGroup);
      sum = hn::Add(sum, CountOfWords(signs, planes, hn::LoadU(words, arguments.shifts + word)));
      from += kPlanes * kWordsPerGroup;
    }
    arguments.sums[i] = static_cast<uint32_t>(hn::GetLane(hn::SumOfLanes(words, sum)));
  }
}

#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

namespace hn = hwy::HWY_NAMESPACE;

// How many of four bits are set, times what those of a plane count.
struct CountsOfNibbles {
  constexpr CountsOfNibbles() {
    for (size_t plane = 0; plane < kPlanes; ++plane) {
      for (size_t nibble = 0; nibble < 16; ++nibble) {
        for (size_t bit = 0; bit < 4; ++bit)
          of[plane][nibble] =
              static_cast<uint8_t>(of[plane][nibble] + ((nibble >> bit & 1) << plane));
      }
    }
  }
  uint8_t of[kPlanes][16] = {};
};

// Two codes side by side, of each two words at a time.
HWY_ATTR void CountDifferences(const CountArguments& arguments) {
  static constexpr CountsOfNibbles kCounts;
  const hn::FixedTag<uint8_t, 32> bytes;
  const hn::Half<decltype(bytes)> block;
  const hn::Repartition<uint16_t, decltype(bytes)> shorts;
  const hn::Repartition<uint64_t, decltype(bytes)> words;
  const auto counts = [&](size_t plane)
                          HWY_ATTR { return hn::LoadDup128(bytes, kCounts.of[plane]); };
  const hn::Vec<decltype(bytes)> tables[kPlanes] = {counts(0), counts(1), counts(2), counts(3)};
  const auto lower_half = hn::Set(bytes, 15);
  const auto load = [&](size_t code, size_t word) HWY_ATTR {
    return hn::LoadU(
        block, reinterpret_cast<const uint8_t*>(arguments.codes[code]) + word * sizeof(uint64_t));
  };
  for (size_t i = 0; i < arguments.count; i += 2) {
    const size_t other = HWY_MIN(i + 1, arguments.count - 1);
    auto sum = hn::Zero(words);
    const uint8_t* query = arguments.nibbles;
    for (size_t word = 0; word < arguments.words; word += 2) {
      const auto signs = hn::Combine(bytes, load(other, word), load(i, word));
      const auto lower = hn::And(signs, lower_half);
      const auto upper =
          hn::And(hn::BitCast(bytes, hn::ShiftRight<4>(hn::BitCast(shorts, signs))), lower_half);
      // Of a byte at most 8 * 15.
      auto differences = hn::Zero(bytes);
      for (size_t plane = 0; plane < kPlanes; ++plane, query += 32) {
        const auto of_lower = hn::Xor(lower, hn::LoadDup128(bytes, query));
        const auto of_upper = hn::Xor(upper, hn::LoadDup128(bytes, query + 16));
        differences = hn::Add(differences, hn::Add(hn::TableLookupBytes(tables[plane], of_lower),
                                                   hn::TableLookupBytes(tables[plane], of_upper)));
      }
      const auto of_words = hn::SumsOf8(differences);
      sum = hn::Add(sum, hn::Shl(of_words, hn::LoadDup128(words, arguments.shifts + word)));
    }
    sum = hn::Add(sum, hn::Reverse2(words, sum));
    arguments.sums[i] = static_cast<uint32_t>(hn::GetLane(sum));
    arguments.sums[other] =
        static_cast<uint32_t>(hn::GetLane(hn::UpperHalf(hn::Half<decltype(words)>(), sum)));
  }
}

#else

HWY_ATTR void CountDifferences(const CountArguments& arguments) {
  for (size_t i = 0; i < arguments.count; ++i) {
    const std::byte* const code = arguments.codes[i];
    size_t sum = 0;
    const uint64_t* planes = arguments.planes;
    for (size_t begin = 0; begin < arguments.words; begin += kWordsPerGroup) {
      const size_t end = HWY_MIN(begin + kWordsPerGroup, arguments.words);
      for (size_t word = begin; word < end; ++word, ++planes) {
        uint64_t signs;
        std::memcpy(&signs, code + word * sizeof signs, sizeof signs);
        const size_t low =
            hwy::PopCount(signs ^ planes[0]) + 2 * hwy::PopCount(signs ^ planes[kWordsPerGroup]);
        const size_t high = hwy::PopCount(signs ^ planes[2 * kWordsPerGroup]) +
                            2 * hwy::PopCount(signs ^ planes[3 * kWordsPerGroup]);
        sum += (low + 4 * high) << arguments.shifts[word];
      }
      planes += (kPlanes - 1) * kWordsPerGroup;
    }
    arguments.sums[i] = static_cast<uint32_t>(sum);
  }
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(CountDifferences);

// Codes that are counted in one go.
constexpr size_t kCodesAtOnce = 64;
constexpr float kLevels = 15;  // odd numbers from -15 to 15

}  // namespace

void EncodeRowCode(std::span<const float> point, uint32_t bits, float radius_max, std::byte* out) {
  const auto dimension = static_cast<uint32_t>(point.size());
  const size_t numbers_at = RowCodeBytes(dimension, bits) - 2 * sizeof(uint16_t);
  std::memset(out, 0, numbers_at);
  const std::vector<float> origin(point.size());
  std::vector<std::byte> planes(bits * point.size() / 8);
  const SignCodeFactor factor = EncodeLevels(point, origin, bits, planes.data());
  for (size_t plane = 0; plane < bits; ++plane) {
    std::memcpy(out + plane * RowCodePlaneWords(dimension) * sizeof(uint64_t),
                planes.data() + plane * point.size() / 8, point.size() / 8);
  }
  const float radius = std::sqrt(factor.square);
  const float scaled[] = {
      radius_max > 0 ? radius / radius_max : 0,
      radius > 0 ? factor.scale * std::sqrt(static_cast<float>(dimension)) / radius : 1};
  NarrowToHalves(scaled, out + numbers_at);
}

RowCodeQuery::RowCodeQuery(std::span<const float> query, uint32_t bits)
    : dimension_(static_cast<uint32_t>(query.size())),
      bits_(bits),
      words_(bits * RowCodePlaneWords(dimension_)),
      planes_((words_ + kWordsPerGroup - 1) / kWordsPerGroup * kWordsPerGroup * kPlanes),
      shifts_(planes_.size() / kPlanes) {
  float greatest = 0;
  double square = 0;
  for (const float value : query) {
    greatest = std::max(greatest, std::fabs(value));
    square += static_cast<double>(value) * value;
  }
  square_ = static_cast<float>(square);
  unit_ = greatest / kLevels;
  const float inverse = unit_ > 0 ? 0.5f / unit_ : 0;
  const size_t plane_words = RowCodePlaneWords(dimension_);
  for (size_t word = 0; word < plane_words; ++word) {
    const std::span<const float> some =
        query.subspan(word * 64, std::min<size_t>(64, query.size() - word * 64));
    uint64_t of_levels[kPlanes] = {};
    for (size_t i = 0; i < some.size(); ++i) {
      // Never below 0, so that the cast rounds down.
      const auto level = static_cast<uint64_t>(std::min(some[i] * inverse + 8, kLevels));
      for (size_t plane = 0; plane < kPlanes; ++plane)
        of_levels[plane] |= (level >> plane & 1) << i;
    }
    for (size_t same = word; same < words_; same += plane_words) {  // for every plane of a code
      uint64_t* const group = planes_.data() + same / kWordsPerGroup * kWordsPerGroup * kPlanes;
      for (size_t plane = 0; plane < kPlanes; ++plane)
        group[plane * kWordsPerGroup + same % kWordsPerGroup] = of_levels[plane];
    }
  }
  for (size_t word = 0; word < words_; ++word) shifts_[word] = bits_ - 1 - word / plane_words;
  nibbles_.resize((words_ + 1) / 2 * kPlanes * 4 * sizeof(uint64_t));
  uint8_t* nibbles = nibbles_.data();
  for (size_t word = 0; word < words_; word += 2) {
    for (size_t plane = 0; plane < kPlanes; ++plane, nibbles += 4 * sizeof(uint64_t)) {
      const size_t group = word / kWordsPerGroup * kWordsPerGroup;
      uint8_t bytes[2 * sizeof(uint64_t)];
      std::memcpy(bytes, planes_.data() + group * kPlanes + plane * kWordsPerGroup + word - group,
                  sizeof bytes);
      for (size_t i = 0; i < sizeof bytes; ++i) {
        nibbles[i] = bytes[i] & 15;
        nibbles[sizeof bytes + i] = bytes[i] >> 4;
      }
    }
  }
}

// The standard error of u . q is |q| |u| sqrt(1 - a^2) / sqrt(d), where a and |u| of rotated points
// are near to those of normal numbers (graph_node.cc), and that of the query's levels, which are 2
// units apart, |u| unit / sqrt(3).
void RowCodeQuery::LowerBounds(const std::byte* const* codes, size_t count, float radius_max,
                               float errors, float* bounds) const {
  static constexpr float kVarianceOfCode[kLevelBitsMax + 1] = {0, 0.3634f, 0.4225f, 0.4198f,
                                                               0.4061f};
  static constexpr float kSquareOfLevel[kLevelBitsMax + 1] = {0, 1, 3.555f, 11.21f, 35.2f};
  const auto dimension = static_cast<float>(dimension_);
  const float shift = errors * std::sqrt(kVarianceOfCode[bits_] * square_ +
                                         kSquareOfLevel[bits_] * dimension * unit_ * unit_ / 3);
  const float slope = -2 / std::sqrt(dimension);
  const size_t numbers_at = RowCodeBytes(dimension_, bits_) - 2 * sizeof(uint16_t);
  const float greatest_sum = kLevels * dimension * static_cast<float>((1u << bits_) - 1);
  uint32_t sums[kCodesAtOnce];
  std::byte halves[kCodesAtOnce * 2 * sizeof(uint16_t)];
  float numbers[kCodesAtOnce * 2];
  for (size_t begin = 0; begin < count; begin += kCodesAtOnce) {
    const size_t some = std::min(kCodesAtOnce, count - begin);
    HWY_DYNAMIC_DISPATCH(CountDifferences)
    ({planes_.data(), shifts_.data(), nibbles_.data(), words_, codes + begin, some, sums});
    for (size_t i = 0; i < some; ++i)
      std::memcpy(halves + i * 4, codes[begin + i] + numbers_at, 2 * sizeof(uint16_t));
    WidenHalves(halves, std::span(numbers).first(2 * some));
    for (size_t i = 0; i < some; ++i) {
      const float product = unit_ * (greatest_sum - 2 * static_cast<float>(sums[i]));
      const float radius = radius_max * numbers[2 * i];
      bounds[begin + i] =
          (square_ + radius * radius) + slope * radius * numbers[2 * i + 1] * (product + shift);
    }
  }
}

}  // namespace pigment
#endif  // HWY_ONCE
