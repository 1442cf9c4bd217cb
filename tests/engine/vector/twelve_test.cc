// SPDX-License-Identifier: Apache-2.0
//
// Numbers in 12 bits against their definition, on every target.

#include "engine/vector/twelve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/support/simd_targets.h"

namespace pigment {
namespace {

std::vector<float> PackedAndUnpacked(std::span<const float> vector) {
  std::vector<std::byte> bytes(TwelvesBytes(vector.size()), std::byte{0xAA});
  PackTwelves(vector, bytes.data());
  std::vector<float> out(vector.size());
  UnpackTwelves(bytes.data(), out);
  return out;
}

bool SameBits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// By the definition: the lists of numbers that there are, in units of the power.
std::vector<double> AllSteps() {
  std::vector<double> steps;
  for (int m = 0; m < 2048; ++m) steps.push_back(std::max({m, 2 * m - 1024, 4 * m - 4096}));
  return steps;
}

TEST(Twelves, AreReadAsTheyAreDefinedOnEveryTargetUnalignedAndInAnyNumber) {
  const std::vector<double> steps = AllSteps();
  std::mt19937_64 random(3);
  const int targets = ForEachTarget([&] {
    for (size_t count = 0; count <= 70; ++count) {
      const size_t upper = (count + 1) / 2;
      std::vector<std::byte> bytes(TwelvesBytes(count) + 1);
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
      const auto exponent = static_cast<int8_t>(static_cast<int>(random() % 30) - 24);
      bytes[1] = static_cast<std::byte>(exponent);
      std::vector<float> out(count + 1, 42.0f);
      UnpackTwelves(bytes.data() + 1, std::span(out).first(count));
      for (size_t i = 0; i < count; ++i) {
        const auto lower = std::to_integer<uint32_t>(bytes[2 + i]);
        const auto both = std::to_integer<uint32_t>(bytes[2 + count + i % upper]);
        const uint32_t four = i < upper ? both & 15 : both >> 4;
        const double magnitude = std::ldexp(steps[lower | (four & 7) << 8], exponent);
        const auto expected = static_cast<float>(four >= 8 ? -magnitude : magnitude);
        ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(expected))
            << count << ", " << i;
      }
      ASSERT_EQ(out[count], 42.0f);
    }
  });
  EXPECT_GT(targets, 0);
}

TEST(Twelves, AreRoundedAndWrittenAlikeOnEveryTarget) {
  std::mt19937_64 random(4);
  std::normal_distribution<float> numbers;
  for (size_t count = 0; count <= 70; ++count) {
    std::vector<float> vector(count);
    for (float& number : vector) number = random() % 5 == 0 ? 0 : numbers(random) * 0.3f;
    std::vector<float> rounded(count + 1), first_rounded;
    std::vector<std::byte> bytes, first_bytes;
    double length = 0;
    const int targets = ForEachTarget([&] {
      rounded.back() = 42;
      const auto shift = RoundToTwelves(vector, std::span(rounded).first(count));
      ASSERT_TRUE(shift) << count;
      EXPECT_EQ(rounded.back(), 42);
      bytes.assign(TwelvesBytes(count) + 1, std::byte{0xAA});
      PackTwelves(vector, bytes.data());
      EXPECT_EQ(bytes.back(), std::byte{0xAA}) << "wrote beyond its end";
      if (first_rounded.empty()) {
        first_rounded = rounded;
        first_bytes = bytes;
        length = shift->length;
      }
      EXPECT_TRUE(SameBits(rounded, first_rounded)) << count;
      EXPECT_EQ(bytes, first_bytes) << count;
      EXPECT_NEAR(shift->length, length, length * 1e-12);
    });
    EXPECT_GT(targets, 0);
    std::vector<float> read(count);
    UnpackTwelves(bytes.data(), read);
    EXPECT_TRUE(SameBits(read, std::span(rounded).first(count))) << count;
  }
}

TEST(Twelves, RoundToTheNearestAndToEvenBetweenTwo) {
  const std::vector<double> steps = AllSteps();
  for (size_t m = 1; m < steps.size(); ++m) {
    const auto low = static_cast<float>(steps[m - 1]), high = static_cast<float>(steps[m]);
    const float middle = (low + high) / 2;
    const bool is_even = (m - 1) % 2 == 0;
    // The last number fixes the power at 1.
    const std::vector<float> vector = {low,  middle,  std::nextafter(middle, 0.0f),
                                       high, -middle, std::nextafter(middle, 1e9f),
                                       4092};
    const float even = is_even ? low : high;
    EXPECT_EQ(PackedAndUnpacked(vector),
              (std::vector<float>{low, even, low, high, -even, high, 4092}));
  }
}

TEST(Twelves, AreAsFarFromAVectorAsIsSaid) {
  std::mt19937_64 random(11);
  std::normal_distribution<float> numbers;
  for (const size_t dimension : {1u, 2u, 3u, 7u, 64u, 383u, 384u, 1537u}) {
    for (const float scale : {1.0f, 0.01f, 600.0f, 0.003f, 8000.0f}) {
      std::vector<float> vector(dimension), rounded(dimension), again(dimension);
      for (float& number : vector) number = numbers(random) * scale;
      const auto shift = RoundToTwelves(vector, rounded);
      if (!shift) continue;  // a few large ones alone
      double lost = 0, square = 0, taxicab = 0;
      for (size_t i = 0; i < dimension; ++i) {
        lost += std::pow(double{vector[i]} - rounded[i], 2);
        square += std::pow(double{vector[i]}, 2);
        taxicab += std::fabs(double{vector[i]} - rounded[i]);
      }
      EXPECT_NEAR(shift->length, std::sqrt(lost), shift->length * 1e-9);
      EXPECT_NEAR(shift->part, std::sqrt(lost / square), shift->part * 1e-9);
      EXPECT_NEAR(shift->taxicab, taxicab, taxicab * 1e-9);
      EXPECT_LE(shift->part, 1.0 / 1024);
      EXPECT_TRUE(SameBits(PackedAndUnpacked(vector), rounded));
      EXPECT_TRUE(SameBits(PackedAndUnpacked(rounded), rounded));
      for (const auto& same : {RoundToTwelves(rounded, again), RoundVector(rounded, again)}) {
        ASSERT_TRUE(same);
        EXPECT_EQ(same->length, 0);
        EXPECT_TRUE(SameBits(again, rounded)) << "halves hold what twelve bits do";
      }
    }
  }
}

TEST(Twelves, TakeTheVectorsOfUsualModelsAndRoundThemToNeitherSide) {
  std::mt19937_64 random(5);
  std::normal_distribution<float> numbers;
  constexpr size_t kDimension = 384;
  constexpr int kVectors = 2000;
  double off = 0, far = 0, parts = 0;
  for (int n = 0; n < kVectors; ++n) {
    std::vector<float> vector(kDimension), rounded(kDimension);
    for (float& number : vector) number = numbers(random) * 0.05f;
    const auto shift = RoundToTwelves(vector, rounded);
    ASSERT_TRUE(shift) << n;
    parts += shift->part;
    for (size_t i = 0; i < kDimension; ++i) {
      const double difference = double{std::fabs(rounded[i])} - std::fabs(vector[i]);
      off += difference;
      far += std::fabs(difference);
    }
  }
  EXPECT_LT(std::fabs(off) / far, 0.01);
  EXPECT_LT(parts / kVectors, 5e-4);
}

TEST(Twelves, HoldZerosAndTheirSigns) {
  const std::vector<float> zeros = {0.0f, -0.0f, 0.0f, -0.0f, -0.0f};
  std::vector<float> rounded(5, 1.0f);
  const auto shift = RoundToTwelves(zeros, rounded);
  ASSERT_TRUE(shift);
  EXPECT_EQ(shift->length, 0);
  EXPECT_EQ(shift->part, 0);
  EXPECT_TRUE(SameBits(rounded, zeros));
  EXPECT_TRUE(SameBits(PackedAndUnpacked(zeros), zeros));
}

TEST(Twelves, LeaveToOtherFormsWhatTheyWouldRoundFar) {
  std::vector<float> vector(384, 0.05f);
  std::mt19937_64 random(6);
  std::normal_distribution<float> numbers;
  const auto refill = [&](float scale) {
    for (float& number : vector) number = numbers(random) * scale;
  };
  for (const float scale : {1e-38f, 1e-42f, 1e-30f, 1e-6f, 1e6f, 1e37f}) {
    refill(scale);
    EXPECT_FALSE(RoundToTwelves(vector, {})) << "halves do not hold " << scale;
  }
  refill(1);
  vector[100] = 30;
  EXPECT_FALSE(RoundToTwelves(vector, {})) << "one number makes the steps of all others large";
  EXPECT_TRUE(RoundVector(vector, {}));
  refill(1);
  vector[383] = std::nanf("");
  EXPECT_FALSE(RoundToTwelves(vector, {}));
  vector[383] = INFINITY;
  EXPECT_FALSE(RoundToTwelves(vector, {}));
  EXPECT_FALSE(RoundToTwelves(std::vector<float>{65504, 1}, {})) << "the next are no halves";
  EXPECT_TRUE(RoundToTwelves(std::vector<float>{65472, 16}, {}));
  // 16 bits hold it as it is.
  EXPECT_FALSE(RoundToTwelves(std::vector<float>{1.0009765625f, 1}, {}));
  EXPECT_TRUE(RoundToTwelves(std::vector<float>{1.0009766f + 1e-5f, 1}, {}));
}

}  // namespace
}  // namespace pigment
