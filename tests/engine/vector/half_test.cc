// SPDX-License-Identifier: Apache-2.0
//
// Halves against their definition, on every target.

#include "engine/vector/half.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

// By the definition of binary16.
double ValueOf(uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

bool IsNumber(uint16_t half) { return (half >> 10 & 31) != 31; }

TEST(Half, EveryOneIsReadByItsDefinitionAndWrittenBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if (!IsNumber(half)) continue;
    ASSERT_EQ(FloatOfHalf(half), ValueOf(half)) << bits;
    ASSERT_EQ(HalfOf(FloatOfHalf(half)), half);
  }
}

TEST(Half, RoundsToTheNearestAndTiesToEven) {
  std::mt19937_64 random(3);
  const auto check = [](float value) {
    const uint16_t half = HalfOf(value);
    if (std::fabs(static_cast<double>(value)) >= 65520) {
      ASSERT_EQ(half, value < 0 ? 0xFC00 : 0x7C00) << value;
      return;
    }
    ASSERT_TRUE(IsNumber(half)) << value;
    ASSERT_EQ(half >> 15, std::signbit(value)) << value;
    const double error = std::fabs(ValueOf(half) - value);
    for (const int step : {-1, 1}) {
      const int neighbour = (half & 0x7FFF) + step;
      if (neighbour < 0 || neighbour >= 0x7C00) continue;
      const double other =
          std::fabs(ValueOf(static_cast<uint16_t>((half & 0x8000) | neighbour)) - value);
      ASSERT_LE(error, other) << value;
      if (error == other) {
        ASSERT_EQ(half & 1, 0) << value;
      }
    }
  };
  // What lies between two neighbours, the middle and beside it.
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const double low = ValueOf(static_cast<uint16_t>(bits));
    const double high = ValueOf(static_cast<uint16_t>(bits + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    for (const float value : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f)}) {
      check(value);
      check(-value);
    }
  }
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isfinite(value)) check(value);
  }
  for (const float value : {65503.9f, 65504.0f, 65519.996f, 65520.0f, 1e38f}) check(value);
}

TEST(Half, IsReadAlikeOnEveryTargetUnalignedAndInAnyNumber) {
  int targets = 0;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    std::vector<std::byte> bytes(65536 * 2 + 1);
    std::vector<uint16_t> halves;
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      if (IsNumber(static_cast<uint16_t>(bits))) halves.push_back(static_cast<uint16_t>(bits));
    }
    for (const size_t at : {0, 1}) {
      std::memcpy(bytes.data() + at, halves.data(), halves.size() * 2);
      for (const size_t count : {halves.size(), size_t{0}, size_t{1}, size_t{7}, size_t{33}}) {
        std::vector<float> out(count + 1, 42.0f);
        WidenHalves(bytes.data() + at, std::span(out).first(count));
        for (size_t i = 0; i < count; ++i) {
          ASSERT_EQ(std::bit_cast<uint32_t>(out[i]),
                    std::bit_cast<uint32_t>(FloatOfHalf(halves[i])))
              << halves[i];
        }
        ASSERT_EQ(out[count], 42.0f);
      }
    }
    ++targets;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(targets, 1);
}

TEST(Half, EveryTargetRoundsAVectorAsItsNumbersAre) {
  std::vector<float> numbers;
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const auto low = static_cast<float>(ValueOf(static_cast<uint16_t>(bits)));
    const auto high = static_cast<float>(ValueOf(static_cast<uint16_t>(bits + 1)));
    const float middle = (low + high) / 2;
    for (const float value :
         {low, middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f)}) {
      numbers.push_back(value);
      numbers.push_back(-value);
    }
  }
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    for (const size_t size : {size_t{1}, size_t{13}, size_t{384}, size_t{1000}}) {
      std::vector<float> rounded(size);
      for (size_t at = 0; at + size <= numbers.size(); at += size) {
        const std::span<const float> vector = std::span(numbers).subspan(at, size);
        // What is lost of very small ones is asked elsewhere.
        if (!RoundVector(vector, rounded)) continue;
        for (size_t i = 0; i < size; ++i) {
          ASSERT_EQ(std::bit_cast<uint32_t>(rounded[i]),
                    std::bit_cast<uint32_t>(FloatOfHalf(HalfOf(vector[i]))))
              << vector[i];
        }
      }
    }
    for (const float beyond : {65520.0f, 1e10f, 3e38f}) {
      for (const size_t size : {size_t{1}, size_t{40}}) {
        EXPECT_FALSE(RoundVector(std::vector<float>(size, beyond), {})) << beyond;
        EXPECT_FALSE(RoundVector(std::vector<float>(size, -beyond), {})) << beyond;
        EXPECT_TRUE(RoundVector(std::vector<float>(size, 65519.9f), {}));
        for (size_t place = 0; place < size; ++place) {
          std::vector<float> one(size, 1.0f);
          one[place] = std::numeric_limits<float>::quiet_NaN();
          EXPECT_FALSE(RoundVector(one, {})) << "no number at place " << place;
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(Half, AVectorIsRoundedWhereLittleOfItIsLost) {
  std::mt19937_64 random(7);
  std::normal_distribution<float> numbers;
  std::vector<float> vector(100), rounded(100);
  // Down to where most numbers have a few bits left.
  for (const float scale : {1.0f, 0.03f, 600.0f, 0.003f}) {
    for (float& number : vector) number = numbers(random) * scale;
    const auto shift = RoundVector(vector, rounded);
    ASSERT_TRUE(shift) << scale;
    double lost = 0, square = 0, taxicab = 0;
    for (size_t i = 0; i < vector.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(rounded[i]),
                std::bit_cast<uint32_t>(FloatOfHalf(HalfOf(vector[i]))));
      lost += std::pow(double{vector[i]} - rounded[i], 2);
      square += std::pow(double{vector[i]}, 2);
      taxicab += std::fabs(double{vector[i]} - rounded[i]);
    }
    EXPECT_GT(shift->length, 0);
    EXPECT_NEAR(shift->length, std::sqrt(lost), shift->length * 1e-9);
    EXPECT_NEAR(shift->part, std::sqrt(lost / square), shift->part * 1e-9);
    EXPECT_NEAR(shift->taxicab, taxicab, taxicab * 1e-9);
    EXPECT_LT(shift->part, 1.0 / 1024);
    const auto again = RoundVector(rounded, vector);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->length, 0);
    EXPECT_EQ(again->part, 0);
  }
  const std::vector<float> zeros(100, 0.0f);
  const auto none = RoundVector(zeros, rounded);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->part, 0);
  EXPECT_FALSE(RoundVector(std::vector<float>(100, 1e-6f), rounded)) << "a few bits are left";
  EXPECT_FALSE(RoundVector(std::vector<float>(100, 1e-30f), rounded)) << "nothing is left";
  std::vector<float> large(100, 1.0f);
  large[99] = 65520;
  EXPECT_FALSE(RoundVector(large, rounded)) << "beyond what halves hold";
}

TEST(Half, RoundingNamesTheRowThatDoesNotFit) {
  std::vector<float> values = {1.0001f, -2, 1e-9f, 4, 5, 65520};
  const Status status = RoundToHalves(3, values);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.detail(), Detail::kNotFinite);
  EXPECT_EQ(status.row(), 1);
  EXPECT_EQ(
      status.message(),
      "embeddings kept in f16 must be within 65504 and -65504, got 65520 at place 2 of row 1");
  values.back() = 65519;
  ASSERT_OK(RoundToHalves(3, values));
  EXPECT_EQ(values, (std::vector<float>{1, -2, 0, 4, 5, 65504}));
}

}  // namespace
}  // namespace pigment
