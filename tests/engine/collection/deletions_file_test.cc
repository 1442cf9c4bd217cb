// SPDX-License-Identifier: Apache-2.0

#include "engine/collection/deletions_file.h"

#include <gtest/gtest.h>

#include "engine/base/memory_files.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

class DeletionsFile : public ::testing::Test {
 protected:
  void SetUp() override {
    place_.store[3] = std::byte{9};
    ASSERT_OK(WriteDeletionsFile(files_, "d", place_, bitmap_));
  }
  std::vector<std::byte> Bytes() {
    auto file = files_.Open("d", OpenMode::kRead).value();
    std::vector<std::byte> bytes(file->Size().value());
    EXPECT_OK(file->ReadAt(0, bytes));
    return bytes;
  }
  void Overwrite(std::span<const std::byte> bytes) {
    ASSERT_OK(files_.Remove("d"));
    auto file = files_.Open("d", OpenMode::kCreate).value();
    ASSERT_OK(file->WriteAt(0, bytes));
  }

  MemoryFileSystem files_;
  DeletionsPlace place_{.store = {}, .segment = 4, .version = 9, .rows = 1000};
  const RowBitmap bitmap_ = RowBitmap(1000).With(std::vector<uint32_t>{0, 63, 64, 999});
};

TEST_F(DeletionsFile, ComesBackAsWritten) {
  const Result<RowBitmap> back = ReadDeletionsFile(files_, "d", place_);
  ASSERT_OK(back);
  for (uint32_t row = 0; row < 1000; ++row) ASSERT_EQ(back->Test(row), bitmap_.Test(row)) << row;
}

TEST_F(DeletionsFile, NoticesEveryFlippedBit) {
  const std::vector<std::byte> good = Bytes();
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::vector<std::byte> bad = good;
    bad[bit / 8] ^= std::byte{static_cast<uint8_t>(1 << (bit % 8))};
    Overwrite(bad);
    ASSERT_FALSE(ReadDeletionsFile(files_, "d", place_).ok()) << "bit " << bit;
  }
}

TEST_F(DeletionsFile, NoticesEveryTruncation) {
  const std::vector<std::byte> good = Bytes();
  for (size_t size = 0; size < good.size(); ++size) {
    Overwrite(std::span(good).first(size));
    const Status status = ReadDeletionsFile(files_, "d", place_).status();
    ASSERT_EQ(status.detail(), Detail::kTruncated) << size;
    ASSERT_EQ(status.file(), "d");
  }
}

TEST_F(DeletionsFile, OfAnotherPlaceIsForeign) {
  for (const auto& change : std::vector<void (*)(DeletionsPlace&)>{
           [](DeletionsPlace& place) { place.segment = 5; },
           [](DeletionsPlace& place) { place.version = 8; },
           [](DeletionsPlace& place) { place.store[0] = std::byte{1}; }}) {
    DeletionsPlace other = place_;
    change(other);
    EXPECT_EQ(ReadDeletionsFile(files_, "d", other).status().detail(), Detail::kForeign);
  }
  EXPECT_EQ(ReadDeletionsFile(files_, "missing", place_).status().detail(), Detail::kMissing);
}

TEST_F(DeletionsFile, OfANewerFormatIsAVersionMismatchNamingBoth) {
  std::vector<std::byte> bytes = Bytes();
  bytes[8] = std::byte{2};
  Overwrite(bytes);
  const Status status = ReadDeletionsFile(files_, "d", place_).status();
  EXPECT_CODE(status, Code::kVersionMismatch);
  EXPECT_NE(status.message().find("format 2"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("up to 1"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace pigment
