// SPDX-License-Identifier: Apache-2.0
//
// Lengths by row, from a source that keeps no more than it promises.

#include "engine/fulltext/text_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

constexpr uint32_t kRows = 1000;

uint32_t LengthOf(uint32_t row) { return row * 7 + 1; }

// Runs of ten rows, of which it spoils each when kLengthsKept more have been asked for.
class RunsOfTen final : public TextSource {
 public:
  RunsOfTen() : TextSource(kRows, kRows, kRows, 0) {}

  Result<TextTermBlock> ReadBlock(uint32_t) override { return Internal("not asked for"); }
  TextBytes& terms() override { std::abort(); }
  std::unique_ptr<TextBytes> NewPostings() override { return nullptr; }
  Result<Lengths> ReadLengths(uint32_t row) override {
    ++reads;
    if (row == fails_at) return Internal("lengths that cannot be read");
    std::vector<uint32_t>& run = runs_[reads % kLengthsKept];
    run.resize(10);
    const uint32_t first = row / 10 * 10;
    for (uint32_t i = 0; i < 10; ++i) run[i] = LengthOf(first + i);
    return Lengths{first, 10, reinterpret_cast<const std::byte*>(run.data())};
  }
  Status Damaged(const std::string& message) const override { return Internal(message); }

  uint64_t reads = 0;
  uint32_t fails_at = kRows;

 private:
  std::array<std::vector<uint32_t>, kLengthsKept> runs_;
};

TEST(LengthReader, RowsInAnyOrderHaveTheirLengths) {
  RunsOfTen source;
  LengthReader reader(&source);
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    // Mostly near to each other, so that each of the last runs is asked for again.
    const auto row = static_cast<uint32_t>(i / 20 % 950 + static_cast<int>(random() % 50));
    ASSERT_EQ(reader.Of(row), LengthOf(row)) << row;
  }
  for (int i = 0; i < 1000; ++i) {
    std::vector<uint32_t> rows, lengths(40);
    for (auto row = static_cast<uint32_t>(random() % 900); row < kRows && rows.size() < 40;
         row += 1 + static_cast<uint32_t>(random() % 5))
      rows.push_back(row);
    reader.Of(rows, lengths.data());
    for (size_t j = 0; j < rows.size(); ++j) ASSERT_EQ(lengths[j], LengthOf(rows[j])) << rows[j];
  }
  EXPECT_OK(reader.status());
}

TEST(LengthReader, ListsThroughTheSameRunsReadThemOnce) {
  RunsOfTen source;
  LengthReader reader(&source);
  const std::vector<uint32_t> rows = {103, 109, 110, 118, 127, 139};
  std::vector<uint32_t> lengths(rows.size());
  for (int list = 0; list < 30; ++list) reader.Of(rows, lengths.data());
  EXPECT_EQ(source.reads, TextSource::kLengthsKept);
  EXPECT_EQ(lengths.back(), LengthOf(139));
}

TEST(LengthReader, AnErrorIsKeptAndMakesEveryLengthZero) {
  RunsOfTen source;
  source.fails_at = 510;
  LengthReader reader(&source);
  EXPECT_EQ(reader.Of(505), LengthOf(505));
  const std::vector<uint32_t> rows = {506, 510, 520};
  std::vector<uint32_t> lengths(rows.size(), 9);
  reader.Of(rows, lengths.data());
  EXPECT_EQ(lengths, (std::vector<uint32_t>{LengthOf(506), 0, 0}));
  EXPECT_FALSE(reader.status().ok());
  EXPECT_EQ(source.reads, 2u);
}

}  // namespace
}  // namespace pigment
