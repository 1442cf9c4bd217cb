// SPDX-License-Identifier: Apache-2.0
//
// Level codes against plain code on every SIMD target; each bit more makes errors smaller. What
// estimates promise is in sign_code_test.cc, for codes of any bits.

#include "engine/vector/level_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/support/made_vectors.h"
#include "tests/support/simd_targets.h"

namespace pigment {
namespace {

// The levels of r: those whose step is so many standard deviations of its numbers.
std::vector<double> LevelsOf(const std::vector<float>& r, uint32_t bits) {
  constexpr double kSteps[] = {0, 0, 0.9957, 0.5860, 0.3352};
  double square = 0;
  for (const float value : r) square += double{value} * value;
  const double step = kSteps[bits] * std::sqrt(square / static_cast<double>(r.size()));
  const double most = std::exp2(bits) - 1;
  std::vector<double> levels;
  for (const float value : r) {
    const double level = std::min(2 * std::floor(std::fabs(value) / step) + 1, most);
    levels.push_back(value >= 0 ? level : -level);
  }
  return levels;
}

double Sum(const std::vector<double>& levels, const std::vector<float>& values) {
  double sum = 0;
  for (size_t i = 0; i < levels.size(); ++i) sum += levels[i] * values[i];
  return sum;
}

TEST(LevelCode, IsThatOfPlainCodeOnEveryTarget) {
  std::mt19937_64 random(1);
  for (uint32_t bits = 2; bits <= kLevelBitsMax; ++bits) {
    for (const uint32_t dimension : {16u, 32u, 48u, 128u, 1024u}) {
      SCOPED_TRACE(::testing::Message() << bits << " bits of " << dimension);
      const auto vector = NormalVector(random, dimension);
      const auto centre = NormalVector(random, dimension);
      const auto query = NormalVector(random, dimension);
      std::vector<float> r(dimension);
      for (size_t i = 0; i < dimension; ++i) r[i] = vector[i] - centre[i];
      const auto levels = LevelsOf(r, bits);
      constexpr size_t kIndex = 9, kCount = 11;  // in the upper half of a group's bytes
      std::vector<std::byte> expected_code;
      std::vector<SignCodeFactor> factors;
      const int targets = ForEachTarget([&] {
        std::vector<std::byte> code(SignCodeGroupBytes(bits * dimension, kCount));
        factors.push_back(EncodeLevelCode(vector, centre, bits, kIndex, kCount, code.data()));
        if (expected_code.empty()) expected_code = code;
        EXPECT_EQ(code, expected_code);
        EXPECT_EQ(std::memcmp(&factors.back(), &factors.front(), sizeof(SignCodeFactor)), 0);
        float sums[kSignCodesPerGroup];
        const SignCodeQuery prepared(query, bits);
        prepared.Sums(code.data(), kCount, sums);
        EXPECT_NEAR(sums[kIndex], Sum(levels, query), prepared.table_error() * 1.001);
      });
      EXPECT_GE(targets, 2);
      double square = 0;
      double level_square = 0;
      for (size_t i = 0; i < dimension; ++i) {
        square += double{r[i]} * r[i];
        level_square += levels[i] * levels[i];
      }
      const double scale = square / Sum(levels, r);
      const double error = std::sqrt((level_square * scale * scale - square) / (dimension - 1));
      EXPECT_NEAR(factors[0].square, square, square * 1e-5);
      EXPECT_NEAR(factors[0].scale, scale, scale * 1e-5);
      EXPECT_NEAR(factors[0].centre, Sum(levels, centre),
                  std::sqrt(level_square * dimension) * 1e-5);
      EXPECT_NEAR(factors[0].error, error, error * 1e-3);
    }
  }
}

TEST(LevelCode, OfOneBitIsASignCode) {
  std::mt19937_64 random(2);
  const auto vector = NormalVector(random, 96);
  const auto centre = NormalVector(random, 96);
  std::vector<std::byte> level(SignCodeGroupBytes(96, 3));
  std::vector<std::byte> sign(level.size());
  const SignCodeFactor of_level = EncodeLevelCode(vector, centre, 1, 2, 3, level.data());
  const SignCodeFactor of_sign = EncodeSignCode(vector, centre, 2, 3, sign.data());
  EXPECT_EQ(level, sign);
  EXPECT_EQ(std::memcmp(&of_level, &of_sign, sizeof of_sign), 0);
}

// Of normal numbers the standard errors are 0.756, 0.367, 0.197 and 0.108 of |r| / sqrt(d).
TEST(LevelCode, OfMoreBitsIsOffByLess) {
  constexpr uint32_t kDimension = 64;
  constexpr double kErrors[] = {0, 0.7555, 0.3673, 0.1972, 0.1081};
  std::mt19937_64 random(3);
  for (uint32_t bits = 1; bits <= kLevelBitsMax; ++bits) {
    double sum = 0;
    constexpr int kTrials = 500;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto vector = NormalVector(random, kDimension);
      std::vector<std::byte> group(SignCodeGroupBytes(bits * kDimension, 1));
      const SignCodeFactor factor =
          EncodeLevelCode(vector, std::vector<float>(kDimension), bits, 0, 1, group.data());
      sum += factor.error * std::sqrt(kDimension - 1) / std::sqrt(factor.square);
    }
    EXPECT_NEAR(sum / kTrials, kErrors[bits], 0.08 * kErrors[bits]) << bits << " bits";
  }
}

TEST(LevelCode, OfZerosAndOfHugeNumbersStaysFinite) {
  for (uint32_t bits = 2; bits <= kLevelBitsMax; ++bits) {
    for (const float value : {0.0f, -0.0f, 1e-38f, 1e-15f, 1e15f}) {
      SCOPED_TRACE(::testing::Message() << bits << " bits of " << value);
      std::vector<float> vector(64, value);
      vector[7] = -3 * value;
      std::vector<std::byte> group(SignCodeGroupBytes(bits * 64, 1));
      const std::vector<float> origin(64);
      const SignCodeFactor factor = EncodeLevelCode(vector, origin, bits, 0, 1, group.data());
      EXPECT_TRUE(std::isfinite(factor.square) && std::isfinite(factor.scale) &&
                  std::isfinite(factor.error));
      EXPECT_FLOAT_EQ(factor.centre, 0);
      float sums[kSignCodesPerGroup];
      SignCodeQuery(vector, bits).Sums(group.data(), 1, sums);
      EXPECT_TRUE(std::isfinite(sums[0]));
      // Squares that leave f32 downwards count as none.
      const double kept = value == 1e-38f ? 0 : value;
      EXPECT_NEAR(factor.scale * sums[0], kept * kept * 72, kept * kept * 2);
    }
  }
}

}  // namespace
}  // namespace pigment
