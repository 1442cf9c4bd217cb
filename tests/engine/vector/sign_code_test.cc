// SPDX-License-Identifier: Apache-2.0
//
// Sign codes: sums against plain code on every SIMD target, and estimates without bias and as near
// as they say, on several distributions; those of codes of more bits too.

#include "engine/vector/sign_code.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "engine/vector/level_code.h"
#include "engine/vector/rotation.h"
#include "tests/support/made_vectors.h"
#include "tests/support/simd_targets.h"

namespace pigment {
namespace {

using Vectors = std::vector<std::vector<float>>;

std::vector<float> Zeros(size_t dimension) { return std::vector<float>(dimension); }

std::vector<std::byte> Encode(const Vectors& vectors) {
  const auto dimension = static_cast<uint32_t>(vectors[0].size());
  std::vector<std::byte> group(SignCodeGroupBytes(dimension, vectors.size()));
  for (size_t i = 0; i < vectors.size(); ++i)
    EncodeSignCode(vectors[i], Zeros(dimension), i, vectors.size(), group.data());
  return group;
}

double SignSum(const std::vector<float>& signs, const std::vector<float>& values) {
  double sum = 0;
  for (size_t i = 0; i < signs.size(); ++i) sum += signs[i] >= 0 ? values[i] : -values[i];
  return sum;
}

TEST(SignCode, SumsAreThoseOfPlainCodeInGroupsOfAnySize) {
  std::mt19937_64 random(1);
  for (const uint32_t dimension : {16u, 32u, 48u, 64u, 112u, 384u, 1024u, 1040u, 4096u, 65536u}) {
    const auto query = NormalVector(random, dimension);
    const SignCodeQuery prepared(query);
    Vectors vectors;
    for (size_t count = 1; count <= kSignCodesPerGroup; ++count) {
      vectors.push_back(NormalVector(random, dimension));
      if (dimension > 5000 && count % 8 != 1) continue;  // one of each stride
      SCOPED_TRACE(::testing::Message() << "dimension " << dimension << ", " << count << " codes");
      const auto group = Encode(vectors);
      float sums[kSignCodesPerGroup];
      prepared.Sums(group.data(), count, sums);
      for (size_t i = 0; i < count; ++i) {
        ASSERT_NEAR(sums[i], SignSum(vectors[i], query), prepared.table_error() * 1.001)
            << "code " << i;
      }
    }
  }
}

TEST(SignCode, FactorsAreThoseOfPlainCodeOnEveryTarget) {
  std::mt19937_64 random(9);
  for (const uint32_t dimension : {16u, 48u, 384u, 65536u}) {
    const auto vector = NormalVector(random, dimension);
    const auto centre = NormalVector(random, dimension);
    double square = 0;
    double magnitude = 0;
    std::vector<float> r(dimension);
    for (size_t i = 0; i < dimension; ++i) {
      r[i] = vector[i] - centre[i];
      square += static_cast<double>(r[i]) * r[i];
      magnitude += std::fabs(r[i]);
    }
    const auto expected_code = Encode({r});
    std::vector<SignCodeFactor> factors;
    ForEachTarget([&] {
      std::vector<std::byte> code(SignCodeGroupBytes(dimension, 1));
      factors.push_back(EncodeSignCode(vector, centre, 0, 1, code.data()));
      EXPECT_EQ(code, expected_code);
      EXPECT_EQ(std::memcmp(&factors.back(), &factors.front(), sizeof(SignCodeFactor)), 0);
    });
    EXPECT_NEAR(factors[0].square, square, square * 1e-5);
    EXPECT_NEAR(factors[0].scale, square / magnitude, square / magnitude * 1e-5);
    EXPECT_NEAR(factors[0].centre, SignSum(r, centre), magnitude * 1e-5);
  }
}

TEST(SignCode, TablesAreMuchFinerThanTheirBound) {
  std::mt19937_64 random(2);
  const auto query = NormalVector(random, 384);
  const SignCodeQuery prepared(query);
  double squares = 0;
  constexpr int kGroups = 50;
  for (int round = 0; round < kGroups; ++round) {
    Vectors vectors;
    for (size_t i = 0; i < 32; ++i) vectors.push_back(NormalVector(random, 384));
    float sums[kSignCodesPerGroup];
    prepared.Sums(Encode(vectors).data(), 32, sums);
    for (size_t i = 0; i < 32; ++i) squares += std::pow(sums[i] - SignSum(vectors[i], query), 2);
  }
  // Rounding errors of 96 tables are independent: the square root of 96 / 12 steps.
  const double step = prepared.table_error() / 48;
  EXPECT_NEAR(std::sqrt(squares / (kGroups * 32)), step * std::sqrt(8.0), step);
}

TEST(SignCode, EveryTargetGivesTheSameBits) {
  std::mt19937_64 random(3);
  for (const uint32_t dimension : {16u, 48u, 384u, 1040u, 8192u}) {
    const auto query = NormalVector(random, dimension);
    for (const size_t count : {size_t{1}, size_t{8}, size_t{11}, size_t{24}, size_t{32}}) {
      Vectors vectors;
      for (size_t i = 0; i < count; ++i) vectors.push_back(NormalVector(random, dimension));
      const auto group = Encode(vectors);
      std::vector<float> expected;
      const int targets = ForEachTarget([&] {
        std::vector<float> sums(kSignCodesPerGroup);
        SignCodeQuery(query).Sums(group.data(), count, sums.data());
        sums.resize(count);
        if (expected.empty()) expected = sums;
        for (size_t i = 0; i < count; ++i) {
          ASSERT_EQ(std::bit_cast<uint32_t>(sums[i]), std::bit_cast<uint32_t>(expected[i]))
              << "dimension " << dimension << ", code " << i << " of " << count;
        }
      });
      EXPECT_GE(targets, 2);
    }
  }
}

TEST(SignCode, OfAGroupAnywhereInMemoryIsTheSame) {
  std::mt19937_64 random(4);
  Vectors vectors;
  for (size_t i = 0; i < 20; ++i) vectors.push_back(NormalVector(random, 96));
  const auto group = Encode(vectors);
  const SignCodeQuery query(vectors[3]);
  float expected[kSignCodesPerGroup];
  query.Sums(group.data(), 20, expected);
  for (size_t shift = 0; shift < 64; ++shift) {
    std::vector<std::byte> moved(shift + group.size());  // the sanitizer watches its end
    std::memcpy(moved.data() + shift, group.data(), group.size());
    float sums[kSignCodesPerGroup];
    query.Sums(moved.data() + shift, 20, sums);
    for (size_t i = 0; i < 20; ++i) ASSERT_EQ(sums[i], expected[i]) << "shift " << shift;
  }
}

TEST(SignCode, OfZerosAndOfHugeNumbersStaysFinite) {
  for (const float value : {0.0f, -0.0f, 1e-38f, 1e-15f, 1e15f}) {
    const std::vector<float> vector(64, value);
    std::vector<std::byte> group(SignCodeGroupBytes(64, 1));
    const SignCodeFactor factor = EncodeSignCode(vector, Zeros(64), 0, 1, group.data());
    EXPECT_TRUE(std::isfinite(factor.square) && std::isfinite(factor.scale)) << value;
    // Squares that leave f32 downwards count as none.
    const float kept = value == 1e-38f ? 0 : std::fabs(value);
    EXPECT_NEAR(factor.scale, kept, kept * 1e-6);
    EXPECT_NEAR(factor.error, 0, std::fabs(value) * 1e-3);
    float sums[kSignCodesPerGroup];
    const SignCodeQuery query(vector);
    query.Sums(group.data(), 1, sums);
    EXPECT_NEAR(sums[0], 64 * std::fabs(value), query.table_error() * 1.001) << value;
  }
}

// One kind of data: what a residual and a query may look like before they are rotated.
struct Distribution {
  const char* name;
  std::vector<float> (*draw)(std::mt19937_64&, size_t dimension);
};

const Distribution kDistributions[] = {
    {"normal", [](std::mt19937_64& random, size_t d) { return NormalVector(random, d); }},
    {"positive",
     [](std::mt19937_64& random, size_t d) {
       auto vector = NormalVector(random, d);
       for (float& value : vector) value = std::fabs(value);
       return vector;
     }},
    {"sparse",
     [](std::mt19937_64& random, size_t d) {
       std::vector<float> vector(d);
       for (int i = 0; i < 3; ++i) vector[random() % d] = static_cast<float>(random() % 100) - 50;
       vector[0] += 1;  // never zero
       return vector;
     }},
    {"few large dimensions",
     [](std::mt19937_64& random, size_t d) {
       auto vector = NormalVector(random, d);
       for (size_t i = 0; i < d / 50; ++i) vector[i] *= 100;
       return vector;
     }},
    {"constant",
     [](std::mt19937_64& random, size_t d) {
       return std::vector<float>(d, static_cast<float>(random() % 9) + 1);
     }},
};

class SignCodeOfBits : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Bits, SignCodeOfBits, ::testing::Range(1u, kLevelBitsMax + 1));

// Over many rotations the mean of the errors is near zero, and they are as large as they say.
TEST_P(SignCodeOfBits, EstimatesHaveNoBiasAndTheErrorThatTheyState) {
  constexpr uint32_t kDimension = 128;
  constexpr int kTrials = 4000;
  const uint32_t bits = GetParam();
  std::mt19937_64 random(5);
  for (const Distribution& of_vectors : kDistributions) {
    for (const Distribution& of_queries : kDistributions) {
      SCOPED_TRACE(::testing::Message() << of_vectors.name << " by " << of_queries.name);
      double sum = 0;
      double squares = 0;
      int beyond = 0;
      int trials = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        const auto vector = of_vectors.draw(random, kDimension);
        const auto query = of_queries.draw(random, kDimension);
        const Rotation rotation(kDimension, random());
        std::vector<float> r(kDimension);
        std::vector<float> p(kDimension);
        rotation.Apply(vector, r.data());
        rotation.Apply(query, p.data());
        std::vector<std::byte> group(SignCodeGroupBytes(bits * kDimension, 1));
        const SignCodeFactor factor =
            EncodeLevelCode(r, Zeros(kDimension), bits, 0, 1, group.data());
        double exact = 0;
        double length = 0;
        for (size_t i = 0; i < kDimension; ++i) {
          exact += static_cast<double>(vector[i]) * query[i];
          length += static_cast<double>(query[i]) * query[i];
        }
        // A query along the vector itself is estimated without any error but rounding.
        if (exact * exact > 0.99 * factor.square * length) continue;
        float sums[kSignCodesPerGroup];
        SignCodeQuery(p, bits).Sums(group.data(), 1, sums);
        const double error = (factor.scale * sums[0] - exact) / (factor.error * std::sqrt(length));
        sum += error;
        squares += error * error;
        beyond += std::fabs(error) > 4 ? 1 : 0;
        ++trials;
      }
      if (trials == 0) continue;  // constants by constants
      EXPECT_GT(trials, kTrials / 2);
      EXPECT_NEAR(sum / trials, 0, 5 / std::sqrt(trials));
      EXPECT_LT(std::sqrt(squares / trials), 1.1);
      EXPECT_LE(beyond, trials / 200);
    }
  }
}

}  // namespace
}  // namespace pigment
