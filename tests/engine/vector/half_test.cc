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
