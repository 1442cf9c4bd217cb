// SPDX-License-Identifier: Apache-2.0
//
// Rotations keep lengths and angles, spread any vector, and never change.

#include "engine/vector/rotation.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "engine/vector/distance.h"
#include "tests/support/simd_targets.h"

namespace pigment {
namespace {

constexpr uint32_t kRotatedDimensions[] = {1,    2,    3,    15,    16,    17,   31,   33,
                                           48,   100,  128,  251,   384,   768,  1000, 1024,
                                           1536, 3072, 4093, 16000, 65521, 65535};

std::vector<float> Rotated(const Rotation& rotation, const std::vector<float>& vector) {
  std::vector<float> rotated(rotation.rotated_dimension());
  rotation.Apply(vector, rotated.data());
  return rotated;
}

std::vector<float> RandomVector(std::mt19937_64& random, size_t dimension) {
  std::normal_distribution<float> normal;
  std::vector<float> vector(dimension);
  for (float& value : vector) value = normal(random);
  return vector;
}

TEST(Rotation, KeepsLengthsAndInnerProducts) {
  std::mt19937_64 random(1);
  for (const uint32_t dimension : kRotatedDimensions) {
    SCOPED_TRACE(::testing::Message() << "dimension " << dimension);
    const Rotation rotation(dimension, dimension);
    EXPECT_EQ(rotation.rotated_dimension() % 16, 0u);
    EXPECT_GE(rotation.rotated_dimension(), dimension);
    EXPECT_LT(rotation.rotated_dimension(), dimension + 16);
    const auto a = RandomVector(random, dimension);
    const auto b = RandomVector(random, dimension);
    const auto rotated_a = Rotated(rotation, a);
    const auto rotated_b = Rotated(rotation, b);
    const double length = Norm(a.data(), dimension);
    EXPECT_NEAR(Norm(rotated_a.data(), rotated_a.size()), length, 1e-5 * length);
    EXPECT_NEAR(InnerProduct(rotated_a.data(), rotated_b.data(), rotated_a.size()),
                InnerProduct(a.data(), b.data(), dimension),
                1e-5 * length * Norm(b.data(), dimension));
  }
}

// What sign codes live on: of a vector with all its length in one dimension, or spread over all
// alike, no rotated number stands out.
TEST(Rotation, SpreadsSpikesAndConstants) {
  for (const uint32_t dimension : {100u, 128u, 384u, 768u, 1000u, 1025u, 1536u, 16000u}) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(::testing::Message() << "dimension " << dimension << ", seed " << seed);
      const Rotation rotation(dimension, seed);
      for (const size_t spike : {size_t{0}, size_t{dimension / 2}, size_t{dimension - 1}}) {
        std::vector<float> vector(dimension);
        vector[spike] = 1;
        double fourth = 0;  // moments: d * sum x^4 is 3 for a normal distribution, d for a spike
        for (const float value : Rotated(rotation, vector)) fourth += std::pow(value, 4);
        EXPECT_LT(fourth * rotation.rotated_dimension(), 4.5);
      }
      const std::vector<float> constant(dimension, 1 / std::sqrt(static_cast<float>(dimension)));
      double fourth = 0;
      for (const float value : Rotated(rotation, constant)) fourth += std::pow(value, 4);
      EXPECT_LT(fourth * rotation.rotated_dimension(), 4.5);
    }
  }
}

TEST(Rotation, EveryTargetGivesTheSameBits) {
  std::mt19937_64 random(3);
  for (const uint32_t dimension : kRotatedDimensions) {
    const auto vector = RandomVector(random, dimension);
    const Rotation rotation(dimension, 5);
    std::vector<float> expected;
    const int targets = ForEachTarget([&] {
      const auto rotated = Rotated(rotation, vector);
      if (expected.empty()) expected = rotated;
      for (size_t i = 0; i < rotated.size(); ++i) {
        ASSERT_EQ(std::bit_cast<uint32_t>(rotated[i]), std::bit_cast<uint32_t>(expected[i]))
            << "dimension " << dimension << ", number " << i;
      }
    });
    EXPECT_GE(targets, 2);
  }
}

uint64_t HashOfRotated(uint32_t dimension) {
  std::vector<float> vector(dimension);
  for (size_t i = 0; i < vector.size(); ++i) vector[i] = static_cast<float>(i) - 7;
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const float value : Rotated(Rotation(dimension, 42), vector))
    hash = (hash ^ std::bit_cast<uint32_t>(value)) * 0x100000001B3;
  return hash;
}

// Rotated vectors are stored: these bits hold for ever.
TEST(Rotation, IsTheOneThatItWas) {
  EXPECT_EQ(HashOfRotated(20), 16697673864648688302u);
  EXPECT_EQ(HashOfRotated(40), 2019654895498781155u);
}

TEST(Rotation, OfAnotherSeedIsAnother) {
  const std::vector<float> vector(384, 1);
  EXPECT_NE(Rotated(Rotation(384, 1), vector), Rotated(Rotation(384, 2), vector));
  EXPECT_EQ(Rotated(Rotation(384, 1), vector), Rotated(Rotation(384, 1), vector));
}

}  // namespace
}  // namespace pigment
