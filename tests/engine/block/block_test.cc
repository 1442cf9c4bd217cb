// SPDX-License-Identifier: Apache-2.0
//
// Trailers: what is sealed is accepted, and each kind of damage is told apart.

#include "engine/block/block.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

using Block = std::array<std::byte, kBlockBytes>;

Block SealedBlock(BlockKind kind = BlockKind::kVectors, uint32_t segment = 7,
                  uint32_t logical = 3) {
  Block block{};
  std::mt19937 random(5);
  for (std::byte& byte : block) byte = static_cast<std::byte>(random());
  SealBlock(BlockBytes(block), kind, segment, logical);
  return block;
}

Status Check(const Block& block) {
  return CheckBlock(ConstBlockBytes(block), {BlockKind::kVectors, 7, 3}, 12, "some file");
}

TEST(Block, ThatWasSealedIsAccepted) {
  const Block block = SealedBlock();
  EXPECT_OK(Check(block));
  const BlockTrailer trailer = ReadBlockTrailer(ConstBlockBytes(block));
  EXPECT_EQ(trailer.kind, BlockKind::kVectors);
  EXPECT_EQ(trailer.format, kBlockOfSegment);
  EXPECT_EQ(trailer.reserved, 0);
  EXPECT_EQ(trailer.segment, 7u);
  EXPECT_EQ(trailer.logical, 3u);
}

TEST(Block, WithAnyFlippedBitBehindTheHeaderIsDamaged) {
  const Block good = SealedBlock();
  for (size_t bit = 0; bit < kBlockBytes * 8; bit += 7) {
    Block block = good;
    block[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const Status status = Check(block);
    if (bit / 8 < kBlockHeaderBytes) {
      EXPECT_OK(status);  // the host's bytes
    } else {
      ASSERT_EQ(status.code(), Code::kDataLoss) << "bit " << bit;
      ASSERT_EQ(status.detail(), Detail::kChecksum) << "bit " << bit;
    }
  }
}

TEST(Block, OfZerosIsDamaged) { EXPECT_EQ(Check(Block{}).detail(), Detail::kChecksum); }

TEST(Block, InTheWrongPlaceIsForeign) {
  EXPECT_EQ(Check(SealedBlock(BlockKind::kVectors, 8, 3)).detail(), Detail::kForeign);
  EXPECT_EQ(Check(SealedBlock(BlockKind::kVectors, 7, 4)).detail(), Detail::kForeign);
}

TEST(Block, OfAnotherKindIsWrongKind) {
  EXPECT_EQ(Check(SealedBlock(BlockKind::kIds)).detail(), Detail::kWrongKind);
}

TEST(Block, OfANewerFormatIsAVersionMismatch) {
  Block block = SealedBlock();
  block[8177] = std::byte{9};
  // Seal by hand, as a later library would.
  Block copy = block;
  SealBlock(BlockBytes(copy), BlockKind::kVectors, 7, 3);
  EXPECT_EQ(ReadBlockTrailer(ConstBlockBytes(copy)).format, kBlockOfSegment);
  EXPECT_EQ(
      CheckBlockPlace(ConstBlockBytes(block), {BlockKind::kVectors, 7, 3}, 12, "some file").code(),
      Code::kVersionMismatch);
}

TEST(Block, DamageNamesFileOffsetAndBlock) {
  const Status status = Check(SealedBlock(BlockKind::kIds));
  EXPECT_EQ(status.file(), "some file");
  EXPECT_EQ(status.offset(), 12 * 8192);
  EXPECT_NE(status.message().find("block 12 of \"some file\": kind 8 (ids), expected 3 (vectors)"),
            std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace pigment
