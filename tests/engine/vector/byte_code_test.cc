// SPDX-License-Identifier: Apache-2.0
//
// Byte codes: no bound is above the distance that it bounds, on any SIMD target, at any magnitude;
// and the bounds are near enough to be of use.

#include "engine/vector/byte_code.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "engine/vector/distance.h"
#include "tests/support/simd_targets.h"

namespace pigment {
namespace {

constexpr Metric kBounded[] = {Metric::kL2, Metric::kCosine, Metric::kIp, Metric::kNegativeIp,
                               Metric::kCosineNan};

std::vector<float> RandomVector(std::mt19937_64& random, uint32_t dimension) {
  const float magnitudes[] = {0, 1e-45f, 1e-38f, 1e-30f, 1e-12f, 1, 1, 1, 40, 1e12f, 1e19f, 3e38f};
  const float magnitude = magnitudes[random() % std::size(magnitudes)];
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> vector(dimension);
  const uint64_t shape = random() % 4;
  for (float& value : vector) {
    value = uniform(random) * magnitude;
    if (shape == 0) value = std::fabs(value);             // one-sided: products do not cancel
    if (shape == 1 && random() % 8 != 0) value *= 1e-4f;  // a few dimensions dominate
    if (shape == 2) value = value > 0 ? magnitude : -magnitude;
  }
  return vector;
}

std::vector<std::byte> Encode(const std::vector<std::vector<float>>& vectors, uint32_t dimension) {
  std::vector<std::byte> codes(vectors.size() * ByteCodeBytes(dimension));
  for (size_t i = 0; i < vectors.size(); ++i)
    EncodeByteCode(vectors[i], codes.data() + i * ByteCodeBytes(dimension));
  return codes;
}

TEST(ByteCode, NoBoundIsAboveTheDistance) {
  constexpr uint32_t kDimensions[] = {1, 2, 3, 5, 31, 63, 64, 65, 127, 384, 700, 1536, 8136};
  uint64_t useful = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const uint32_t dimension = kDimensions[seed % std::size(kDimensions)];
    const auto query = RandomVector(random, dimension);
    std::vector<std::vector<float>> vectors;
    for (size_t i = 0; i < 70; ++i) {
      vectors.push_back(random() % 4 == 0 ? query : RandomVector(random, dimension));
      if (random() % 3 == 0) {  // almost the query, or almost its opposite
        const float sign = random() % 2 == 0 ? 1.0f : -1.0f;
        for (size_t j = 0; j < dimension; ++j)
          vectors.back()[j] = sign * query[j] * (1 - static_cast<float>(random() % 4) * 0x1p-23f);
      }
    }
    const auto codes = Encode(vectors, dimension);
    for (const Metric metric : kBounded) {
      std::vector<float> bounds(vectors.size());
      ByteCodeQuery(metric, query).LowerBounds(codes.data(), vectors.size(), bounds.data());
      for (size_t i = 0; i < vectors.size(); ++i) {
        const float distance = Distance(metric, query.data(), vectors[i].data(), dimension);
        ASSERT_FALSE(bounds[i] > distance)
            << MetricName(metric) << " of vector " << i << ", dimension " << dimension << ": "
            << bounds[i] << " > " << distance;
        useful += std::isfinite(bounds[i]) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(useful, 400u * 70 * 5 / 4);  // a bound that is always unknown would pass above
}

TEST(ByteCode, BoundsAreWithinAHundredthOfUnitVectors) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  constexpr uint32_t kDimension = 384;
  std::vector<std::vector<float>> vectors(200, std::vector<float>(kDimension));
  for (auto& vector : vectors) {
    for (float& value : vector) value = normal(random);
    const auto norm = static_cast<float>(Norm(vector.data(), kDimension));
    for (float& value : vector) value /= norm;
  }
  const auto codes = Encode(vectors, kDimension);
  for (const Metric metric : kBounded) {
    std::vector<float> bounds(vectors.size());
    ByteCodeQuery(metric, vectors[0]).LowerBounds(codes.data(), vectors.size(), bounds.data());
    for (size_t i = 0; i < vectors.size(); ++i) {
      const float distance = Distance(metric, vectors[0].data(), vectors[i].data(), kDimension);
      EXPECT_NEAR(bounds[i], distance, metric == Metric::kL2 ? 0.04 : 0.02);
    }
  }
}

TEST(ByteCode, IsDecodedWithinItsError) {
  for (const uint32_t dimension : {1u, 7u, 64u, 65u, 384u}) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE(::testing::Message() << "dimension " << dimension << ", seed " << seed);
      std::mt19937_64 random(seed);
      const auto vector = RandomVector(random, dimension);
      const auto code = Encode({vector}, dimension);
      ASSERT_TRUE(SaysByteCode(code.data()));
      std::vector<float> decoded(dimension);
      DecodeByteCode(code.data(), decoded);
      ByteCodeHeader header;
      std::memcpy(&header, code.data(), sizeof header);
      double residual = 0;
      for (uint32_t i = 0; i < dimension; ++i) {
        const double difference = double{vector[i]} - double{decoded[i]};
        residual += difference * difference;
      }
      // A product in f32 is rounded once more.
      EXPECT_LE(std::sqrt(residual), header.error + 0x1p-23 * header.norm);
    }
  }
  std::vector<std::byte> code(ByteCodeBytes(1));
  const ByteCodeHeader nothing{
      .scale = 0, .error = std::numeric_limits<float>::infinity(), .norm = 0};
  std::memcpy(code.data(), &nothing, sizeof nothing);
  EXPECT_FALSE(SaysByteCode(code.data()));
}

TEST(ByteCode, EveryTargetGivesTheSameBits) {
  std::mt19937_64 random(2);
  for (const uint32_t dimension : {1u, 63u, 64u, 100u, 384u, 1999u}) {
    const auto query = RandomVector(random, dimension);
    std::vector<std::vector<float>> vectors;
    for (size_t i = 0; i < 130; ++i) vectors.push_back(RandomVector(random, dimension));
    const auto codes = Encode(vectors, dimension);
    std::vector<float> expected;
    const int targets = ForEachTarget([&] {
      std::vector<float> bounds(vectors.size());
      ByteCodeQuery(Metric::kL2, query).LowerBounds(codes.data(), vectors.size(), bounds.data());
      if (expected.empty()) expected = bounds;
      for (size_t i = 0; i < bounds.size(); ++i) {
        EXPECT_EQ(std::bit_cast<uint32_t>(bounds[i]), std::bit_cast<uint32_t>(expected[i]))
            << "dimension " << dimension << ", vector " << i;
      }
    });
    EXPECT_GE(targets, 2);
  }
}

TEST(ByteCode, NothingBehindTheLastCodeIsRead) {
  std::mt19937_64 random(3);
  for (const uint32_t dimension : {1u, 4u, 17u, 61u, 64u, 65u, 130u}) {
    const auto query = RandomVector(random, dimension);
    for (size_t count = 1; count <= 70; ++count) {
      const auto codes =
          Encode(std::vector(count, query), dimension);  // the sanitizer watches its end
      std::vector<float> bounds(count);
      ByteCodeQuery(Metric::kIp, query).LowerBounds(codes.data(), count, bounds.data());
      for (const float bound : bounds) {
        ASSERT_EQ(std::bit_cast<uint32_t>(bound), std::bit_cast<uint32_t>(bounds[0]));
      }
    }
  }
}

}  // namespace
}  // namespace pigment
