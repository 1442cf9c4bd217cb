// SPDX-License-Identifier: Apache-2.0
//
// Distances against long double, every SIMD target against the others bit for bit, and the edges of
// f32.

#include "engine/vector/distance.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/simd_targets.h"

namespace pigment {
namespace {

constexpr Metric kMetrics[] = {Metric::kL2,         Metric::kCosine, Metric::kIp,
                               Metric::kNegativeIp, Metric::kL1,     Metric::kCosineNan};
// Small ones, both sides of every register width and of the 64 accumulators, primes, common models,
// the largest.
constexpr size_t kDimensions[] = {
    1,    2,    3,    4,   5,   7,   8,    9,    15,   16,   17,    31,    32,    33,   63,
    64,   65,   67,   96,  127, 128, 129,  251,  384,  509,  768,   1021,  1024,  1536, 2039,
    3072, 4093, 8191, 997, 100, 200, 2000, 1999, 4096, 9973, 16000, 32749, 65521, 65535};

struct Expected {
  long double value;
  long double scale;  // what rounding errors are relative to
};

Expected Model(Metric metric, const float* a, const float* b, size_t dimension) {
  long double dot = 0, magnitude = 0, aa = 0, bb = 0, l2 = 0, l1 = 0;
  for (size_t i = 0; i < dimension; ++i) {
    const long double x = a[i], y = b[i];
    dot += x * y;
    magnitude += std::fabs(x * y);
    aa += x * x;
    bb += y * y;
    l2 += (x - y) * (x - y);
    l1 += std::fabs(x - y);
  }
  switch (metric) {
    case Metric::kL2:
      return {l2, l2};
    case Metric::kCosine:
    case Metric::kCosineNan:
      return {1 - dot / std::sqrt(aa * bb), 1 + magnitude / std::sqrt(aa * bb)};
    case Metric::kIp:
      return {1 - dot, 1 + magnitude};
    case Metric::kNegativeIp:
      return {-dot, magnitude};
    case Metric::kL1:
      return {l1, l1};
    case Metric::kHamming:
      return {l2, 0};
    case Metric::kJaccard:
      return {dot == 0 ? 1 : 1 - dot / (aa + bb - dot), 1};
  }
  return {};
}

std::vector<float> RandomVector(std::mt19937_64& random, size_t dimension, float scale = 1) {
  std::normal_distribution<float> normal;
  std::vector<float> vector(dimension);
  for (float& value : vector) value = normal(random) * scale;
  return vector;
}

uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value); }

TEST(Distance, EveryTargetAgreesWithLongDouble) {
  std::mt19937_64 random(7);
  const int targets = ForEachTarget([&] {
    for (size_t dimension : kDimensions) {
      const auto a = RandomVector(random, dimension);
      const auto b = RandomVector(random, dimension);
      for (Metric metric : kMetrics) {
        SCOPED_TRACE(::testing::Message() << MetricName(metric) << " dimension " << dimension);
        const Expected expected = Model(metric, a.data(), b.data(), dimension);
        const float got = Distance(metric, a.data(), b.data(), dimension);
        // At most dimension / 64 + 8 roundings in a row.
        const long double tolerance = expected.scale * (dimension / 64 + 10) * 6e-8L;
        EXPECT_NEAR(got, static_cast<double>(expected.value), static_cast<double>(tolerance));
      }
    }
  });
  EXPECT_GE(targets, 1);
#if defined(__x86_64__)
  EXPECT_GE(targets, 3) << "a build for x86-64 has at least SSE4, AVX2 and AVX-512 or scalar code";
#endif
}

std::vector<float> RandomBits(std::mt19937_64& random, size_t dimension, double share) {
  std::bernoulli_distribution bit(share);
  std::vector<float> vector(dimension);
  for (float& value : vector) value = bit(random) ? 1 : 0;
  return vector;
}

TEST(Distance, OfBitsIsRightToTheLastBitOnEveryTarget) {
  std::mt19937_64 random(17);
  ForEachTarget([&] {
    for (const size_t dimension : kDimensions) {
      for (const double share : {0.0, 0.03, 0.5, 1.0}) {
        SCOPED_TRACE(::testing::Message() << "dimension " << dimension << " share " << share);
        const auto a = RandomBits(random, dimension, share);
        for (const auto& b : {RandomBits(random, dimension, 0.5), RandomBits(random, dimension, 0),
                              RandomBits(random, dimension, 1), a}) {
          for (const Metric metric : {Metric::kHamming, Metric::kJaccard}) {
            EXPECT_EQ(Distance(metric, a.data(), b.data(), dimension),
                      static_cast<float>(Model(metric, a.data(), b.data(), dimension).value))
                << MetricName(metric);
          }
        }
      }
    }
  });
}

TEST(Distance, EveryTargetGivesTheSameBits) {
  // Sums whose order matters: magnitudes over twelve decades.
  std::mt19937_64 random(11);
  std::uniform_real_distribution<float> exponent(-6, 6);
  std::vector<std::vector<float>> inputs;
  for (size_t dimension : kDimensions) {
    for (int i = 0; i < 2; ++i) {
      auto vector = RandomVector(random, dimension);
      for (float& value : vector) value *= std::pow(10.0f, exponent(random));
      inputs.push_back(vector);
    }
  }
  std::vector<uint32_t> first;
  ForEachTarget([&] {
    std::vector<uint32_t> bits;
    for (size_t i = 0; i < inputs.size(); i += 2) {
      for (Metric metric : kMetrics) {
        bits.push_back(
            Bits(Distance(metric, inputs[i].data(), inputs[i + 1].data(), inputs[i].size())));
      }
      bits.push_back(Bits(InnerProduct(inputs[i].data(), inputs[i + 1].data(), inputs[i].size())));
    }
    if (first.empty()) first = bits;
    EXPECT_EQ(bits, first);
  });
}

TEST(Distance, ManyGivesTheBitsOfOneAtATimeAlsoUnaligned) {
  std::mt19937_64 random(13);
  for (size_t dimension : {1, 5, 16, 63, 64, 100, 384, 509, 2039}) {
    for (size_t shift : {0, 1, 3}) {
      for (size_t count : {1, 2, 3, 5, 63, 64, 65, 130}) {
        const size_t stride = dimension + 3;
        const auto storage = RandomVector(random, shift + stride * count);
        const auto query = RandomVector(random, dimension + shift);
        const std::span<const float> tail(query.data() + shift, dimension);
        for (Metric metric : kMetrics) {
          const DistanceFunction function(metric, tail);
          std::vector<float> out(count, -7.0f);
          function.Many(storage.data() + shift, stride, count, out.data());
          for (size_t i = 0; i < count; ++i) {
            const float* vector = storage.data() + shift + i * stride;
            ASSERT_EQ(Bits(out[i]), Bits(function(vector)))
                << MetricName(metric) << " dimension " << dimension << " row " << i;
            ASSERT_EQ(Bits(out[i]), Bits(Distance(metric, tail.data(), vector, dimension)));
          }
        }
      }
    }
  }
}

TEST(Distance, IsTheSameInBothDirections) {
  std::mt19937_64 random(15);
  for (size_t dimension : {1, 17, 384, 1021}) {
    const auto a = RandomVector(random, dimension);
    const auto b = RandomVector(random, dimension);
    for (Metric metric : kMetrics) {
      EXPECT_EQ(Bits(Distance(metric, a.data(), b.data(), dimension)),
                Bits(Distance(metric, b.data(), a.data(), dimension)));
    }
  }
}

TEST(Distance, ReadsNothingBeyondTheVectors) {
  // Under AddressSanitizer a read past the heap block fails the test; elsewhere it checks that the
  // values do not count.
  std::mt19937_64 random(17);
  ForEachTarget([&] {
    for (size_t dimension = 1; dimension <= 130; ++dimension) {
      const auto a = RandomVector(random, dimension);
      auto longer = RandomVector(random, dimension + 64);
      const std::vector<float> b(longer.begin(),
                                 longer.begin() + static_cast<ptrdiff_t>(dimension));
      for (Metric metric : kMetrics) {
        EXPECT_EQ(Bits(Distance(metric, a.data(), b.data(), dimension)),
                  Bits(Distance(metric, a.data(), longer.data(), dimension)));
      }
    }
  });
}

TEST(Distance, ToItselfIsZeroAtEveryMagnitude) {
  std::mt19937_64 random(19);
  for (float scale :
       {1e-44f, 1e-38f, 1e-30f, 1e-20f, 1e-10f, 1.0f, 1e10f, 1e18f, 1e19f, 1e30f, 1e37f}) {
    for (size_t dimension : {1, 2, 3, 64, 100, 384, 1021}) {
      SCOPED_TRACE(::testing::Message() << "scale " << scale << " dimension " << dimension);
      auto a = RandomVector(random, dimension, scale);
      a[0] = scale;  // never a zero vector
      for (Metric metric : {Metric::kCosine, Metric::kCosineNan, Metric::kL2, Metric::kL1}) {
        EXPECT_EQ(Distance(metric, a.data(), a.data(), dimension), 0.0f) << MetricName(metric);
      }
      std::vector<float> opposite = a;
      for (float& value : opposite) value = -value;
      EXPECT_EQ(Distance(Metric::kCosine, a.data(), opposite.data(), dimension), 2.0f);
    }
  }
}

TEST(Distance, AgreesWithLongDoubleWhereSquaresLeaveF32) {
  std::mt19937_64 random(23);
  for (float a_scale : {1e-38f, 1e-25f, 1e-12f, 1.0f, 1e12f, 1e25f, 1e37f}) {
    for (float b_scale : {1e-38f, 1e-25f, 1e-12f, 1.0f, 1e12f, 1e25f, 1e37f}) {
      for (size_t dimension : {1, 3, 8, 9, 64, 384}) {
        const auto a = RandomVector(random, dimension, a_scale);
        const auto b = RandomVector(random, dimension, b_scale);
        for (Metric metric : kMetrics) {
          SCOPED_TRACE(::testing::Message() << MetricName(metric) << " " << a_scale << " x "
                                            << b_scale << " dimension " << dimension);
          const Expected expected = Model(metric, a.data(), b.data(), dimension);
          const float got = Distance(metric, a.data(), b.data(), dimension);
          if (std::fabs(expected.value) > std::numeric_limits<float>::max()) {
            EXPECT_TRUE(std::isinf(got)) << got;
            EXPECT_EQ(std::signbit(got), std::signbit(expected.value));
            continue;
          }
          const double tolerance = static_cast<double>(expected.scale * 2e-6L) + 3e-45;
          EXPECT_NEAR(got, static_cast<double>(expected.value), tolerance);
        }
      }
    }
  }
}

TEST(Distance, OfOverflowingTermsWithASmallSumIsThatSum) {
  const float a[] = {3e19f, 3e19f, 1e15f};
  const float b[] = {3e19f, -3e19f, 1e15f};
  EXPECT_FLOAT_EQ(InnerProduct(a, b, 3), 1e30f);
  EXPECT_FLOAT_EQ(Distance(Metric::kIp, a, b, 3), -1e30f);
  EXPECT_FLOAT_EQ(Distance(Metric::kNegativeIp, a, b, 3), -1e30f);
  const float c[] = {1e-30f, 0};
  const float d[] = {3e-30f, 0};
  EXPECT_FLOAT_EQ(Distance(Metric::kL2, c, d, 1), 0.0f);
  EXPECT_FLOAT_EQ(Distance(Metric::kCosine, c, d, 2), 0.0f);
}

TEST(Distance, OfAZeroVectorIsAsTheMetricSays) {
  const float zero[] = {0, -0.0f, 0};
  const float some[] = {1, 2, 3};
  for (const float* other : {zero, some}) {
    EXPECT_EQ(Distance(Metric::kCosine, zero, other, 3), 1.0f);
    EXPECT_EQ(Distance(Metric::kCosine, other, zero, 3), 1.0f);
    EXPECT_TRUE(std::isnan(Distance(Metric::kCosineNan, zero, other, 3)));
    EXPECT_TRUE(std::isnan(Distance(Metric::kCosineNan, other, zero, 3)));
  }
  EXPECT_EQ(Distance(Metric::kL2, zero, some, 3), 14.0f);
  EXPECT_EQ(Distance(Metric::kIp, zero, some, 3), 1.0f);
  EXPECT_EQ(Bits(Distance(Metric::kNegativeIp, zero, some, 3)), Bits(0.0f));
  EXPECT_EQ(Distance(Metric::kL1, zero, some, 3), 6.0f);
}

TEST(Distance, OfAnUnknownMetricIsNotANumber) {
  const float a[] = {1};
  EXPECT_TRUE(std::isnan(Distance(static_cast<Metric>(99), a, a, 1)));
}

TEST(Norm, DoesNotOverflowNorUnderflow) {
  const float large[] = {3e38f, 0, 3e38f};
  EXPECT_NEAR(Norm(large, 3), 3e38 * std::sqrt(2.0), 1e32);
  const float small[] = {3e-45f, 4e-45f};
  EXPECT_GT(Norm(small, 2), 0);
  const float exact[] = {3, 4};
  EXPECT_EQ(Norm(exact, 2), 5.0);
  EXPECT_EQ(Norm(exact, 0), 0.0);
}

TEST(AllFinite, NamesTheFirstThatIsNot) {
  for (float bad_value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (size_t count : {1, 63, 64, 65, 384, 1000}) {
      std::vector<float> values(count, std::numeric_limits<float>::max());
      size_t bad = 12345;
      EXPECT_TRUE(AllFinite(values.data(), count, &bad));
      for (size_t position : {size_t{0}, count / 2, count - 1}) {
        auto damaged = values;
        damaged[position] = bad_value;
        damaged[count - 1] = bad_value;
        ASSERT_FALSE(AllFinite(damaged.data(), count, &bad));
        EXPECT_EQ(bad, position);
      }
    }
  }
}

}  // namespace
}  // namespace pigment
