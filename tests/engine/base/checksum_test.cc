// SPDX-License-Identifier: Apache-2.0
//
// Checksums against published values and a bit-by-bit model.

#include "engine/base/checksum.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "engine/base/bytes.h"

namespace pigment {
namespace {

uint32_t Crc32cBitByBit(std::span<const std::byte> bytes) {
  uint32_t crc = ~0u;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

TEST(Checksum, Crc32cHasThePublishedCheckValues) {
  EXPECT_EQ(Crc32c(AsBytes("123456789")), 0xe3069283u);
  EXPECT_EQ(Crc32c(AsBytes(std::string(32, '\0'))), 0x8a9136aau);  // RFC 3720, B.4
  EXPECT_EQ(Crc32c({}), 0u);
}

TEST(Checksum, Crc32cEqualsTheBitByBitModelAtEveryLengthAndSplit) {
  std::mt19937_64 random(7);
  for (size_t length = 0; length < 600; ++length) {
    std::vector<std::byte> bytes(length);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    const uint32_t expected = Crc32cBitByBit(bytes);
    ASSERT_EQ(Crc32c(bytes), expected) << length;
    const size_t split = random() % (length + 1);
    ASSERT_EQ(Crc32c(std::span(bytes).subspan(split), Crc32c(std::span(bytes).first(split))),
              expected)
        << length;
  }
}

TEST(Checksum, ACrcTellsWhatItWasContinuedFrom) {
  std::mt19937 random(3);
  for (size_t size = 0; size < 300; ++size) {
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    const auto before = static_cast<uint32_t>(random());
    ASSERT_EQ(Crc32cBefore(bytes, Crc32c(bytes, before)), before) << size;
  }
}

TEST(Checksum, EqualBytesAtAnotherPlaceHaveAnotherCrc) {
  std::array<std::byte, 16> store{}, other{};
  other[3] = std::byte{1};
  std::set<uint32_t> seen;
  size_t places = 0;
  for (const auto& owner : {store, other}) {
    for (uint64_t file = 0; file < 10; ++file) {
      for (uint64_t offset = 0; offset < 1000; offset += 8, ++places) {
        seen.insert(Crc32c(AsBytes("the same bytes"), PlaceSeed(owner, file, offset)));
      }
    }
  }
  EXPECT_EQ(seen.size(), places);
}

TEST(Checksum, Xxh3HasThePublishedValueOfNothingAndDependsOnTheSeed) {
  EXPECT_EQ(Xxh3_64({}), 0x2d06800538d394c2u);
  EXPECT_EQ(Xxh3_128({}), (Hash128{.low = 0x6001c324468d497fu, .high = 0x99aa06d3014798d8u}));
  EXPECT_NE(Xxh3_64(AsBytes("a"), 1), Xxh3_64(AsBytes("a"), 2));
  EXPECT_NE(Xxh3_128(AsBytes("a"), 1), Xxh3_128(AsBytes("a"), 2));
}

}  // namespace
}  // namespace pigment
