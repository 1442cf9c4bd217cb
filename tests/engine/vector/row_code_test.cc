// SPDX-License-Identifier: Apache-2.0
//
// Row codes: what they hold against plain code, and bounds as near and as sure as they say, on
// several distributions and every SIMD target.

#include "engine/vector/row_code.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "engine/vector/half.h"
#include "engine/vector/rotation.h"
#include "tests/support/simd_targets.h"

namespace pigment {
namespace {

using Vectors = std::vector<std::vector<float>>;

std::vector<float> VectorOfLength(std::mt19937_64& random, size_t dimension, float length = 1) {
  std::normal_distribution<float> normal;
  std::vector<float> vector(dimension);
  double square = 0;
  for (float& value : vector) square += std::pow(value = normal(random), 2);
  for (float& value : vector) value *= length / static_cast<float>(std::sqrt(square));
  return vector;
}

double SquareBetween(const std::vector<float>& a, const std::vector<float>& b) {
  double square = 0;
  for (size_t i = 0; i < a.size(); ++i) square += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return square;
}

struct Codes {
  Codes(const Vectors& points, uint32_t bits, float radius)
      : radius_max(radius),
        bytes(points.size() * RowCodeBytes(static_cast<uint32_t>(points[0].size()), bits)) {
    const size_t size = bytes.size() / points.size();
    for (size_t i = 0; i < points.size(); ++i) {
      EncodeRowCode(points[i], bits, radius_max, bytes.data() + i * size);
      of.push_back(bytes.data() + i * size);
    }
  }
  std::vector<float> Bounds(const RowCodeQuery& query, float errors) const {
    std::vector<float> bounds(of.size());
    query.LowerBounds(of.data(), of.size(), radius_max, errors, bounds.data());
    return bounds;
  }

  float radius_max;
  std::vector<std::byte> bytes;
  std::vector<const std::byte*> of;
};

// Calls check(bits) for those that codes of a dimension may have.
template <typename Check>
void ForAllBits(size_t dimension, const Check& check) {
  for (uint32_t bits = 1; bits <= (dimension <= kLevelDimensionMax ? kLevelBitsMax : 1); ++bits) {
    SCOPED_TRACE(::testing::Message() << bits << " bits of " << dimension);
    check(bits);
  }
}

TEST(RowCode, HoldsLevelsRadiusAndShape) {
  std::mt19937_64 random(1);
  for (const uint32_t dimension : {16u, 48u, 112u, 128u, 384u, 1040u, 65536u}) {
    const auto point = VectorOfLength(random, dimension, 3);
    ForAllBits(dimension, [&](uint32_t bits) {
      std::vector<std::byte> code(RowCodeBytes(dimension, bits) + 1, std::byte{0xA5});
      EncodeRowCode(point, bits, 4, code.data());
      EXPECT_EQ(code.back(), std::byte{0xA5}) << "wrote beyond its end";
      const size_t numbers_at = RowCodeBytes(dimension, bits) - 4;
      EXPECT_EQ(numbers_at % 16, 0u);
      const auto is_set = [&](size_t i) {
        return (std::to_integer<uint32_t>(code[i / 8]) >> i % 8 & 1) != 0;
      };
      const size_t plane = 64 * RowCodePlaneWords(dimension);
      double product = 0;
      for (size_t i = 0; i < plane; ++i) {
        int level = 0;
        for (uint32_t p = 0; p < bits; ++p) {
          const bool sign = is_set(p * plane + i);
          EXPECT_TRUE(i < dimension || !sign) << i;
          level += (sign ? 1 : -1) << (bits - 1 - p);
        }
        if (i < dimension) {
          EXPECT_EQ(level > 0, point[i] >= 0) << i;
          product += level * double{point[i]};
        }
      }
      for (size_t i = bits * plane; i < numbers_at * 8; ++i) EXPECT_FALSE(is_set(i)) << i;
      float numbers[2];
      WidenHalves(code.data() + numbers_at, numbers);
      EXPECT_NEAR(numbers[0], 0.75, 1e-3);
      EXPECT_NEAR(numbers[1], std::sqrt(dimension) * 3 / product, 2e-3);
    });
  }
}

struct Errors {
  double sum = 0;    // of estimates, in standard errors
  double error = 0;  // the sum of these
  int bounds_above = 0;
  int count = 0;
};

// Of points at all distances from a query, rotated by one rotation.
void AddErrors(const std::vector<float>& query, uint32_t bits, uint64_t seed, Errors& errors) {
  const auto dimension = static_cast<uint32_t>(query.size());
  std::mt19937_64 random(seed);
  const Rotation rotation(dimension, seed);
  const auto rotated = [&](const std::vector<float>& vector) {
    std::vector<float> out(dimension);
    rotation.Apply(vector, out.data());
    return out;
  };
  Vectors points;
  for (int i = 0; i < 500; ++i) {
    const float part = static_cast<float>(i % 100) / 100;
    std::vector<float> point = VectorOfLength(random, dimension, 1 - part);
    for (size_t d = 0; d < dimension; ++d) point[d] += part * query[d];
    points.push_back(rotated(point));
  }
  const Codes codes(points, bits, 1.5f);
  const RowCodeQuery prepared(rotated(query), bits);
  const auto estimates = codes.Bounds(prepared, 0);
  const auto bounds = codes.Bounds(prepared, 2);
  for (size_t i = 0; i < points.size(); ++i) {
    const double square = SquareBetween(points[i], rotated(query));
    const double error = (estimates[i] - bounds[i]) / 2;
    ASSERT_GT(error, 0);
    ASSERT_LT(error, 3.5 / std::sqrt(dimension));
    errors.sum += (estimates[i] - square) / error;
    errors.error += error;
    errors.bounds_above += bounds[i] > square ? 1 : 0;
    ++errors.count;
  }
}

// Rounding to 4 bits leaves a query with an error of its own, a third of that of a code of signs
// and nearly that of one of 4 bits: so many queries.
TEST(RowCode, BoundsMissAsSeldomAsTheirErrorsSay) {
  std::mt19937_64 random(2);
  for (const uint32_t dimension : {64u, 384u, 1536u}) {
    for (const bool is_spike : {false, true}) {
      double error_before = 1;
      ForAllBits(dimension, [&](uint32_t bits) {
        SCOPED_TRACE(is_spike ? "a spike" : "");
        Errors errors;
        for (uint64_t seed = 1; seed <= 20; ++seed) {
          std::vector<float> query = VectorOfLength(random, dimension);
          if (is_spike) query.assign(dimension, 0), query[seed] = 1;
          AddErrors(query, bits, seed, errors);
        }
        EXPECT_NEAR(errors.sum / errors.count, 0, bits < 3 ? 0.1 : 0.2);
        EXPECT_LT(errors.bounds_above, 0.035 * errors.count);
        EXPECT_GT(errors.bounds_above, 0);
        EXPECT_LT(errors.error / errors.count, error_before);
        error_before = 0.8 * errors.error / errors.count;
      });
    }
  }
}

TEST(RowCode, EveryTargetGivesTheSameBits) {
  std::mt19937_64 random(3);
  for (const uint32_t dimension : {16u, 48u, 192u, 384u, 1040u, 8192u}) {
    Vectors points;
    for (int i = 0; i < 70; ++i) points.push_back(VectorOfLength(random, dimension));
    const auto query = VectorOfLength(random, dimension);
    ForAllBits(dimension, [&](uint32_t bits) {
      std::vector<float> expected;
      const int targets = ForEachTarget([&] {
        const Codes codes(points, bits, 1.25f);
        const auto bounds = codes.Bounds(RowCodeQuery(query, bits), 2);
        if (expected.empty()) expected = bounds;
        EXPECT_EQ(std::memcmp(bounds.data(), expected.data(), bounds.size() * sizeof(float)), 0);
      });
      EXPECT_GE(targets, 2);
    });
  }
}

TEST(RowCode, OfOneAloneAndAnywhereInMemoryIsTheSame) {
  std::mt19937_64 random(4);
  Vectors points;
  for (int i = 0; i < 9; ++i) points.push_back(VectorOfLength(random, 112));
  ForAllBits(112, [&](uint32_t bits) {
    const RowCodeQuery query(points[2], bits);
    const Codes codes(points, bits, 1);
    const auto expected = codes.Bounds(query, 1);
    const size_t size = RowCodeBytes(112, bits);
    for (size_t shift = 0; shift < 16; ++shift) {
      std::vector<std::byte> moved(shift + size);  // the sanitizer watches its end
      for (size_t i = 0; i < points.size(); ++i) {
        std::memcpy(moved.data() + shift, codes.of[i], size);
        const std::byte* const code = moved.data() + shift;
        float bound = 0;
        query.LowerBounds(&code, 1, 1, 1, &bound);
        ASSERT_EQ(bound, expected[i]) << "shift " << shift;
      }
    }
  });
}

TEST(RowCode, OfZeroIsAsFarAsTheQueryIsLong) {
  std::mt19937_64 random(6);
  const std::vector<float> zero(48);
  const auto point = VectorOfLength(random, 48, 2);
  ForAllBits(48, [&](uint32_t bits) {
    const Codes codes({zero, point}, bits, 2);
    const auto of_point = codes.Bounds(RowCodeQuery(point, bits), 2);
    EXPECT_NEAR(of_point[0], 4, 1e-5);
    const auto of_zero = codes.Bounds(RowCodeQuery(zero, bits), 2);
    EXPECT_EQ(of_zero[0], 0);
    EXPECT_NEAR(of_zero[1], 4, 1e-2);
    EXPECT_EQ(Codes({zero}, bits, 0).Bounds(RowCodeQuery(zero, bits), 2)[0], 0);
  });
}

}  // namespace
}  // namespace pigment
