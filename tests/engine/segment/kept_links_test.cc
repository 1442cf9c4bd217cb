// SPDX-License-Identifier: Apache-2.0
//
// Links of a graph in the numbers of a segment that is made of it, and the graph that starts from
// them, against what the nodes say.

#include "engine/segment/kept_links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/block/block.h"
#include "engine/segment/host_copy.h"
#include "tests/engine/segment/segment_fixture.h"
#include "tests/support/graph_links.h"
#include "tests/support/made_vectors.h"

namespace pigment {
namespace {

constexpr uint32_t kDimension = 20;
constexpr uint32_t kRows = 900;

SegmentOptions GraphOptionsOf(uint32_t vectors, MemoryBudget* budget = nullptr) {
  SegmentOptions options;
  options.segment = 7;
  options.dimension = kDimension;
  options.metric = Metric::kL2;
  options.index = {.kind = SegmentKind::kGraph, .links_max = 16};
  options.index_vectors = vectors;
  options.budget = budget;
  return options;
}

class KeptLinksTest : public testing::Test {
 protected:
  void SetUp() override {
    SegmentWriter writer(GraphOptionsOf(kRows), &blocks_);
    for (uint32_t i = 0; i < kRows; ++i) ASSERT_OK(writer.AddRow(made_.vector(i), i));
    graph_ = Finish(writer, blocks_);
  }

  static std::unique_ptr<Segment> Finish(SegmentWriter& writer, ScatteredBlocks& blocks) {
    const auto summary = writer.Finish();
    EXPECT_OK(summary);
    auto segment = Segment::Open(&blocks, summary->root, 7);
    EXPECT_OK(segment);
    EXPECT_OK((*segment)->Verify());
    return *std::move(segment);
  }

  // Every seventh row is gone; the others come behind `first` vectors.
  static bool IsGone(uint32_t row) { return row % 7 == 3; }
  static std::vector<uint32_t> Places(uint32_t first) {
    std::vector<uint32_t> to(kRows, kVectorIsGone);
    for (uint32_t row = 0, next = first; row < kRows; ++row) {
      if (!IsGone(row)) to[row] = next++;
    }
    return to;
  }

  ScatteredBlocks blocks_{"graph", 0};
  std::unique_ptr<Segment> graph_;
  const VectorTable made_ = ClusteredVectors(
      {.count = kRows + 300, .dimension = kDimension, .clusters = 15, .spread = 0.5f, .seed = 3});
};

TEST_F(KeptLinksTest, AreThoseOfTheNodesAndOfThoseThatWent) {
  const auto old_links = GraphLinks(*graph_);
  const std::vector<uint32_t> to = Places(5);
  MemoryBudget budget("test");
  auto kept = KeepLinks(*graph_, to, &budget, {});
  ASSERT_OK(kept);
  ASSERT_TRUE(kept->has_value());
  EXPECT_EQ((*kept)->vectors, static_cast<uint32_t>(std::ranges::count_if(
                                  to, [](uint32_t place) { return place != kVectorIsGone; })));
  const NumberLists& links = (*kept)->links;
  for (uint32_t i = 0; i < 5; ++i) EXPECT_TRUE(links.of(i).empty());
  size_t with_others = 0;
  for (uint32_t row = 0; row < kRows; ++row) {
    if (IsGone(row)) continue;
    std::vector<uint32_t> expected;
    for (const uint32_t link : old_links[row]) {
      if (!IsGone(link)) expected.push_back(to[link]);
    }
    const size_t own = expected.size();
    for (const uint32_t link : old_links[row]) {
      if (!IsGone(link)) continue;
      for (const uint32_t other : old_links[link]) {
        if (IsGone(other) || other == row || expected.size() == 64) continue;
        if (std::ranges::count(expected, to[other]) == 0) expected.push_back(to[other]);
      }
    }
    with_others += expected.size() > own ? 1 : 0;
    EXPECT_TRUE(std::ranges::equal(links.of(to[row]), expected)) << row;
  }
  EXPECT_GT(with_others, kRows / 2);
  EXPECT_GT(budget.used_bytes(), 0u);
  *kept = std::optional<KeptLinks>();
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST_F(KeptLinksTest, AreWhatTheGraphOfACopyStartsFrom) {
  std::vector<uint8_t> deleted((kRows + 7) / 8);
  for (uint32_t row = 0; row < kRows; ++row) deleted[row / 8] |= uint8_t{IsGone(row)} << (row % 8);
  const std::vector<uint32_t> to = Places(100);
  MemoryBudget budget("test");
  ScatteredBlocks blocks("copy", 1);
  SegmentWriter writer(GraphOptionsOf(kRows + 300, &budget), &blocks);
  for (uint32_t i = 0; i < 100; ++i) ASSERT_OK(writer.AddRow(made_.vector(kRows + i), kRows + i));
  ASSERT_OK(CopySegment(*graph_, deleted,
                        {.writer = &writer,
                         .rows = HostRows::kAll,
                         .dimension = kDimension,
                         .row_keys = false,
                         .key_bytes_max = 0,
                         .budget = &budget}));
  for (uint32_t i = 100; i < 300; ++i) ASSERT_OK(writer.AddRow(made_.vector(kRows + i), kRows + i));
  const std::unique_ptr<Segment> copy = Finish(writer, blocks);
  ASSERT_EQ(copy->info().kind, SegmentKind::kGraph);
  const NumberLists kept = (*KeepLinks(*graph_, to, nullptr, {}))->links;
  const auto is_new = [&](uint32_t vector) { return vector >= kept.count() || vector < 100; };
  const auto links = GraphLinks(*copy);
  size_t to_new = 0, to_others = 0;
  for (uint32_t vector = 0; vector < kept.count(); ++vector) {
    for (const uint32_t link : links[vector]) {
      if (is_new(vector)) continue;
      if (is_new(link)) {
        ++to_new;
      } else if (std::ranges::count(kept.of(vector), link) == 0) {
        ++to_others;  // what could not be reached is linked to at the end
      }
    }
  }
  EXPECT_GT(to_new, kRows / 2);
  EXPECT_LT(to_others, 10u);
}

TEST_F(KeptLinksTest, AreNoneWhereMemoryIsShortOrNodesAreDamaged) {
  MemoryBudget small("small", kRows * sizeof(uint32_t));
  auto kept = KeepLinks(*graph_, Places(0), &small, {});
  ASSERT_OK(kept);
  EXPECT_FALSE(kept->has_value());
  EXPECT_EQ(small.used_bytes(), 0u);
  // Also where others that share it have taken the memory.
  MemoryBudget whole("whole", kRows * sizeof(uint32_t));
  MemoryBudget part("part", 0, &whole);
  kept = KeepLinks(*graph_, Places(0), &part, {});
  ASSERT_OK(kept);
  EXPECT_FALSE(kept->has_value());
  EXPECT_EQ(whole.used_bytes(), 0u);
  graph_->VisitBlocks([&](uint32_t physical, const BlockExpectation& expected) {
    if (expected.kind == BlockKind::kGraphNodes && expected.logical == 1)
      blocks_.Mutable(physical)[kBlockHeaderBytes] ^= std::byte{1};
  });
  kept = KeepLinks(*graph_, Places(0), nullptr, {});
  ASSERT_OK(kept);
  EXPECT_FALSE(kept->has_value());
}

TEST_F(KeptLinksTest, EndWhenTheyAreTold) {
  MemoryBudget budget("test");
  int asked = 0;
  const auto kept = KeepLinks(*graph_, Places(0), &budget, [&] {
    return ++asked == 100 ? Status(Code::kCancelled, "stopped") : Status::Ok();
  });
  EXPECT_CODE(kept, Code::kCancelled);
  EXPECT_EQ(budget.used_bytes(), 0u);
}

}  // namespace
}  // namespace pigment
