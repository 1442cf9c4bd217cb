// SPDX-License-Identifier: Apache-2.0
//
// Segments of a host with more vectors than there is memory for: their index is built through
// scratch, and is searched as any other.

#include <gtest/gtest.h>

#include "tests/c_api/host_fixture.h"
#include "tests/support/effort.h"
#include "tests/support/open_descriptors.h"

namespace host_test {
namespace {

constexpr uint32_t kScratchDimension = 48;
constexpr uint64_t kBudgetBytes = 8 << 20;
constexpr size_t kScratchRows = 12000;  // some 5,000 have room in memory

std::vector<Row> RowsInClusters(size_t count) {
  std::mt19937_64 random(7);
  std::vector<std::vector<float>> middles(60);
  for (auto& middle : middles) middle = RandomVector(random, kScratchDimension);
  std::vector<Row> rows(count);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].pointer = i;
    if (i % 50 == 9) continue;  // without a vector
    rows[i].vector = RandomVector(random, kScratchDimension);
    for (uint32_t d = 0; d < kScratchDimension; ++d)
      rows[i].vector[d] = middles[i % middles.size()][d] + 0.4f * rows[i].vector[d];
  }
  return rows;
}

// Of the ten nearest to some of the rows.
double RecallThrough(Index& index, int32_t metric, const std::vector<Row>& rows) {
  constexpr size_t kQueries = 40, kNearest = 10;
  size_t found = 0;
  for (size_t query = 0; query < kQueries; ++query) {
    std::vector<float> vector = rows[query * 101].vector;
    if (vector.empty()) vector = rows[query * 101 + 1].vector;
    for (float& number : vector) number *= 1.01f;
    const std::vector<Expected> expected = Model(rows, metric, &vector);
    pigment_host_search* const search = index.NewSearch(metric, &vector);
    pigment_host_hit hits[kNearest];
    size_t count = 0;
    Error error;
    EXPECT_EQ(pigment_host_search_next(search, hits, kNearest, &count, error.out()), PIGMENT_OK)
        << error.message();
    EXPECT_GT(CountersOf(search).walks + CountersOf(search).probes, 0u);
    for (size_t i = 0; i < count; ++i)
      found += hits[i].distance <= std::get<1>(expected[kNearest - 1]) ? 1 : 0;
    pigment_host_search_free(search);
  }
  return static_cast<double>(found) / (kQueries * kNearest);
}

TEST(HostScratch, ASegmentHasMoreVectorsThanThereIsMemoryFor) {
  struct Case {
    int32_t index;
    int32_t metric;
    bool are_bits = false;
  };
  std::vector<Case> cases = {{PIGMENT_INDEX_GRAPH, PIGMENT_METRIC_HAMMING, true},
                             {PIGMENT_INDEX_CLUSTERS, PIGMENT_METRIC_L2}};
  if (!pigment::kIsSanitized) {
    cases.insert(cases.end(), {{PIGMENT_INDEX_GRAPH, PIGMENT_METRIC_L2},
                               {PIGMENT_INDEX_GRAPH, PIGMENT_METRIC_COSINE_NAN},
                               {PIGMENT_INDEX_GRAPH, PIGMENT_METRIC_NEGATIVE_IP},
                               {PIGMENT_INDEX_GRAPH, PIGMENT_METRIC_L1},
                               {PIGMENT_INDEX_AUTO, PIGMENT_METRIC_L2}});
  }
  const std::vector<Row> made = RowsInClusters(kScratchRows);
  for (const auto& [index_kind, metric, are_bits] : cases) {
    SCOPED_TRACE(testing::Message() << "index " << index_kind << ", metric " << metric);
    std::vector<Row> rows = made;
    if (are_bits) MakeBits(rows);
    const ptrdiff_t descriptors = pigment::OpenDescriptors();
    Index index(kScratchDimension);
    index.segment_index = index_kind;
    index.segment_metric = metric;
    index.bit_vectors = are_bits;
    index.build_budget_bytes = index_kind == PIGMENT_INDEX_CLUSTERS ? 3 << 20 : kBudgetBytes;
    index.has_scratch = true;
    index.recall = 0.98;
    index.AddSegment(rows);
    EXPECT_EQ(pigment::OpenDescriptors(), descriptors);
    EXPECT_FALSE(index.pages.scratch_bytes.empty());
    pigment_segment_info info{};
    info.struct_size = sizeof info;
    pigment_segment_get_info(index.segment(0), &info);
    EXPECT_NE(info.index, PIGMENT_INDEX_FLAT);
    EXPECT_TRUE(info.index == index_kind || index_kind == PIGMENT_INDEX_AUTO) << info.index;
    EXPECT_EQ(info.rows, kScratchRows);
    Error error;
    HOST_OK(pigment_segment_verify(index.segment(0), error.out()));
    EXPECT_GE(RecallThrough(index, metric, rows), 0.97);
  }
}

TEST(HostScratch, IsNotUsedWhereThereIsMemory) {
  Index index(kScratchDimension);
  index.segment_index = PIGMENT_INDEX_GRAPH;
  index.build_budget_bytes = uint64_t{256} << 20;
  index.has_scratch = true;
  index.AddSegment(RowsInClusters(3000));
  EXPECT_TRUE(index.pages.scratch_bytes.empty());
}

TEST(HostScratch, WithoutItThereIsNoRoom) {
  Index index(kScratchDimension);
  index.segment_index = PIGMENT_INDEX_GRAPH;
  index.build_budget_bytes = kBudgetBytes;
  index.AddSegment(RowsInClusters(kScratchRows));
  pigment_segment_info info{};
  info.struct_size = sizeof info;
  pigment_segment_get_info(index.segment(0), &info);
  EXPECT_EQ(info.index, PIGMENT_INDEX_FLAT);
}

TEST(HostScratch, MoreRowsArePromisedWithIt) {
  Pages pages;
  pigment_segment_options options = OptionsOf(pages, kScratchDimension);
  options.index = PIGMENT_INDEX_GRAPH;
  options.memory_budget_bytes = kBudgetBytes;
  const uint64_t without = pigment_segment_index_rows_max(&options);
  options.open_scratch = &Pages::OpenScratch;
  const uint64_t with = pigment_segment_index_rows_max(&options);
  EXPECT_GT(with, 3 * without);
  // Where parts have no memory it is of little use, and does no harm.
  options.memory_budget_bytes = 1 << 20;
  const uint64_t few = pigment_segment_index_rows_max(&options);
  options.open_scratch = nullptr;
  EXPECT_GE(few, pigment_segment_index_rows_max(&options));
}

// Builds as many of the rows as there is room for; what the first call said that did not succeed.
pigment_status Build(Pages& pages, const std::vector<Row>& rows, uint32_t threads,
                     size_t* had_room) {
  pigment_segment_options options = OptionsOf(pages, kScratchDimension);
  options.index = PIGMENT_INDEX_GRAPH;
  options.memory_budget_bytes = kBudgetBytes;
  options.open_scratch = &Pages::OpenScratch;
  options.threads = threads;
  pigment_segment_builder* builder = nullptr;
  EXPECT_EQ(pigment_segment_builder_new(&options, &builder, nullptr), PIGMENT_OK);
  for (*had_room = 0; *had_room < rows.size(); ++*had_room) {
    const Row& row = rows[*had_room];
    if (!pigment_segment_builder_has_room(builder)) break;
    EXPECT_EQ(pigment_segment_builder_add(builder, row.vector.empty() ? nullptr : row.vector.data(),
                                          row.pointer, nullptr),
              PIGMENT_OK);
  }
  uint32_t root = 0;
  const pigment_status status =
      pigment_segment_builder_finish(builder, &root, nullptr, nullptr, nullptr);
  pigment_segment_builder_free(builder);
  return status;
}

TEST(HostScratch, TheSegmentIsTheSameWhoeverBuildsIt) {
  const std::vector<Row> rows = RowsInClusters(kScratchRows);
  size_t had_room = 0;
  Pages alone;
  ASSERT_EQ(Build(alone, rows, 1, &had_room), PIGMENT_OK);
  EXPECT_EQ(had_room, rows.size());
  EXPECT_GE(alone.scratch_bytes.size(), 3u) << "of vectors, links and a part";
  Pages shared;
  ASSERT_EQ(Build(shared, rows, 2, &had_room), PIGMENT_OK);
  // More threads take more memory, so parts are smaller: another graph, as sound.
  EXPECT_EQ(had_room, rows.size());
  Pages again;
  ASSERT_EQ(Build(again, rows, 2, &had_room), PIGMENT_OK);
  ASSERT_EQ(shared.pages.size(), again.pages.size());
  for (size_t i = 0; i < again.pages.size(); ++i)
    ASSERT_EQ(*shared.pages[i], *again.pages[i]) << "page " << i;
}

TEST(HostScratch, WhatTheHostRefusesEndsTheBuildOrTakesTheRoom) {
  const std::vector<Row> rows = RowsInClusters(kScratchRows);
  size_t had_room = 0;
  Pages pages;
  ASSERT_EQ(Build(pages, rows, 1, &had_room), PIGMENT_OK);
  const size_t opened = pages.scratch_bytes.size();
  for (size_t given = 0; given < opened; ++given) {
    SCOPED_TRACE(testing::Message() << given << " of " << opened);
    const ptrdiff_t descriptors = pigment::OpenDescriptors();
    Pages refusing;
    refusing.scratch_max = given;
    const pigment_status status = Build(refusing, rows, 1, &had_room);
    EXPECT_EQ(pigment::OpenDescriptors(), descriptors);
    // While vectors come there is no room for more; the graph's links and parts, which are the last
    // two, have no other place.
    EXPECT_EQ(had_room < rows.size(), given + 2 < opened);
    EXPECT_EQ(status, given > 0 ? PIGMENT_ABORTED : PIGMENT_OK);
  }
}

}  // namespace
}  // namespace host_test
