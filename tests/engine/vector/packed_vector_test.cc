// SPDX-License-Identifier: Apache-2.0
//
// Vectors as bytes: what is packed comes back, bits where they are said to be, and no byte more.

#include "engine/vector/packed_vector.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace pigment {
namespace {

constexpr VectorElement kElements[] = {VectorElement::kF32, VectorElement::kF16,
                                       VectorElement::kBit};

std::vector<float> SomeBits(std::mt19937_64& random, size_t count) {
  std::vector<float> bits(count);
  for (float& bit : bits) bit = static_cast<float>(random() % 2);
  return bits;
}

TEST(PackedVector, ComesBackFromAnyPlace) {
  std::mt19937_64 random(1);
  for (const VectorElement element : kElements) {
    for (size_t dimension = 0; dimension < 140; ++dimension) {
      SCOPED_TRACE(testing::Message() << VectorElementName(element) << " " << dimension);
      const std::vector<float> vector = SomeBits(random, dimension);
      const size_t bytes = VectorBytes(element, dimension);
      std::vector<std::byte> packed(bytes + 3, std::byte{0xA5});
      PackVector(element, vector, packed.data() + 1);
      EXPECT_EQ(packed.front(), std::byte{0xA5});
      EXPECT_EQ(packed[bytes + 1], std::byte{0xA5});
      std::vector<float> back(dimension);
      UnpackVector(element, packed.data() + 1, back);
      EXPECT_EQ(back, vector);
    }
  }
}

TEST(PackedVector, OfBitsHasTheFirstAsTheHighestAndZerosBehindTheLast) {
  const std::vector<float> bits = {1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1};
  std::byte packed[2];
  ASSERT_EQ(VectorBytes(VectorElement::kBit, bits.size()), std::size(packed));
  PackVector(VectorElement::kBit, bits, packed);
  EXPECT_EQ(packed[0], std::byte{0b10000010});
  EXPECT_EQ(packed[1], std::byte{0b01100000});
}

TEST(PackedVector, ManyAreReadAsOneAfterTheOther) {
  std::mt19937_64 random(2);
  for (const VectorElement element : kElements) {
    for (const size_t dimension : {1, 7, 8, 77, 384}) {
      const size_t bytes = VectorBytes(element, dimension);
      constexpr size_t kCount = 5;
      std::vector<std::byte> packed(bytes * kCount);
      std::vector<float> all;
      for (size_t i = 0; i < kCount; ++i) {
        const std::vector<float> vector = SomeBits(random, dimension);
        PackVector(element, vector, packed.data() + i * bytes);
        all.insert(all.end(), vector.begin(), vector.end());
      }
      std::vector<float> back(all.size());
      UnpackVectors(element, packed.data(), dimension, kCount, back.data());
      EXPECT_EQ(back, all) << VectorElementName(element) << " " << dimension;
    }
  }
}

TEST(PackedVector, OnlyZeroAndOneAreBits) {
  size_t bad = 0;
  EXPECT_TRUE(AreBits(std::vector<float>{}, &bad));
  EXPECT_TRUE(AreBits(std::vector<float>{0, 1, -0.0f}, &bad));
  for (const float value : {2.0f, -1.0f, 0.5f, 1e-30f}) {
    EXPECT_FALSE(AreBits(std::vector<float>{0, 1, value, value}, &bad)) << value;
    EXPECT_EQ(bad, 2u);
  }
}

}  // namespace
}  // namespace pigment
