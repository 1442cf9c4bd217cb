// SPDX-License-Identifier: Apache-2.0
//
// Segments with graphs: as many rows as there are, nearly always the nearest, exact distances, and
// never less than a scan where that is asked for. The scan is the oracle.

#include "engine/segment/segment_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "engine/segment/graph_part.h"
#include "engine/segment/part_reader.h"
#include "engine/vector/half.h"
#include "tests/engine/segment/segment_fixture.h"
#include "tests/support/made_vectors.h"

namespace pigment {
namespace {

struct GraphCase {
  Metric metric = Metric::kL2;
  VectorElement element = VectorElement::kF32;
  MadeVectors made;
};

// Rows of a host, which have vectors and nothing else; the last 20 vectors are queries.
struct GraphSegment {
  static constexpr uint32_t kQueries = 20;

  explicit GraphSegment(const GraphCase& of, MemoryBudget* budget = nullptr, BuildPause pause = {})
      : made(ClusteredVectors(of.made)), rows(of.made.count - kQueries), metric(of.metric) {
    SegmentOptions options;
    options.segment = 7;
    options.dimension = of.made.dimension;
    options.metric = of.metric;
    options.vector_element = of.element;
    options.codes = true;
    options.graph_vectors = rows;
    options.budget = budget;
    options.pause = std::move(pause);
    SegmentWriter writer(options, &blocks);
    for (uint32_t i = 0; i < rows && status.ok(); ++i) {
      std::vector<float> vector(made.vector(i).begin(), made.vector(i).end());
      if (of.element == VectorElement::kF16) status = RoundToHalves(vector.size(), vector);
      if (status.ok()) status = writer.AddRow(vector, i);
    }
    if (!status.ok()) return;
    auto summary = writer.Finish();
    if (!(status = summary.status()).ok()) return;
    root = summary->root;
    auto opened = Segment::Open(&blocks, root, 7);
    if (!(status = opened.status()).ok()) return;
    segment = *std::move(opened);
  }

  SegmentSearch Search(size_t k, double recall, std::span<const uint64_t> allowed = {}) const {
    uint64_t count = allowed.empty() ? rows : 0;
    for (const uint64_t word : allowed) count += static_cast<uint64_t>(std::popcount(word));
    return {.scan = {.metric = metric,
                     .queries = made.row(rows),
                     .query_count = kQueries,
                     .k = k,
                     .allowed_rows = allowed,
                     .control = nullptr},
            .allowed_count = count,
            .recall = recall};
  }

  VectorTable made;
  const uint32_t rows;
  const Metric metric;
  ScatteredBlocks blocks{"graph", 1};
  uint32_t root = 0;
  std::unique_ptr<Segment> segment;
  Status status;
};

// The part of what a scan finds that `found` has, with the distances that the scan gives.
double RecallOf(const GraphSegment& of, const SegmentSearch& search,
                const SegmentSearchResult& found) {
  const auto exact = ScanFlat(*of.segment, of.made.dimension(), search.scan);
  EXPECT_OK(exact);
  size_t right = 0, wanted = 0;
  for (size_t query = 0; query < GraphSegment::kQueries; ++query) {
    const auto& expected = exact->hits[query];
    const auto& hits = found.found.hits[query];
    EXPECT_EQ(hits.size(), expected.size()) << query;
    wanted += expected.size();
    std::set<uint32_t> seen;
    for (size_t i = 0; i < hits.size(); ++i) {
      EXPECT_TRUE(seen.insert(hits[i].row).second) << "row " << hits[i].row << " comes twice";
      if (i > 0) {
        EXPECT_LE(hits[i - 1].distance, hits[i].distance);
      }
      if (!search.scan.allowed_rows.empty()) {
        EXPECT_TRUE(search.scan.allowed_rows[hits[i].row / 64] >> (hits[i].row % 64) & 1);
      }
      right += hits[i].distance <= expected.back().distance ? 1 : 0;
      const auto same = std::find_if(expected.begin(), expected.end(),
                                     [&](const RowHit& hit) { return hit.row == hits[i].row; });
      if (same != expected.end()) {
        EXPECT_EQ(same->distance, hits[i].distance);
      }
    }
  }
  return wanted == 0 ? 1 : static_cast<double>(right) / static_cast<double>(wanted);
}

std::vector<uint64_t> SomeRows(uint32_t rows, double share, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> words((rows + 63) / 64);
  for (uint32_t row = 0; row < rows; ++row) {
    if (std::uniform_real_distribution<>()(random) < share)
      words[row / 64] |= uint64_t{1} << (row % 64);
  }
  return words;
}

const GraphCase kCases[] = {
    {.made = {.count = 3020, .dimension = 48, .clusters = 40, .spread = 0.5f, .seed = 1}},
    {.metric = Metric::kCosine,
     .made = {.count = 3020, .dimension = 100, .clusters = 10, .spread = 0.7f, .seed = 2}},
    {.metric = Metric::kIp,
     .made = {.count = 2020, .dimension = 31, .clusters = 10, .spread = 0.7f, .seed = 3}},
    {.element = VectorElement::kF16, .made = {.count = 2020, .dimension = 384, .seed = 4}},
    {.made = {.count = 3020, .dimension = 3, .seed = 5}},
    {.metric = Metric::kCosine,
     .made = {.count = 320, .dimension = 1536, .clusters = 10, .seed = 6}},  // nodes in streams
    {.made = {.count = 170, .dimension = 3000, .clusters = 5, .seed = 7}},  // vectors in two blocks
    {.made = {.count = 60, .dimension = 5200, .seed = 13}},  // nodes that nearly fill two blocks
    {.metric = Metric::kCosine,
     .element = VectorElement::kF16,
     .made = {.count = 60, .dimension = 20000, .seed = 8}},  // nodes in many blocks
    {.made = {.count = 22, .dimension = 16, .seed = 9}},     // two rows
};

TEST(SegmentSearch, FindsWhatIsWantedWithAndWithoutAFilter) {
  for (const GraphCase& of : kCases) {
    SCOPED_TRACE(testing::Message() << "seed " << of.made.seed);
    const GraphSegment graph(of);
    ASSERT_OK(graph.status);
    ASSERT_TRUE(graph.segment->has_graph());
    EXPECT_FALSE(graph.segment->has_codes());
    ASSERT_OK(graph.segment->Verify());
    for (const double share : {1.0, 0.5, 0.1, 0.01}) {
      const auto allowed = share == 1 ? std::vector<uint64_t>() : SomeRows(graph.rows, share, 1);
      for (const size_t k : {1u, 10u, 100u, 5000u}) {
        SCOPED_TRACE(testing::Message() << "share " << share << ", k " << k);
        const SegmentSearch search = graph.Search(k, 0.98, allowed);
        const auto found = SearchSegment(*graph.segment, of.made.dimension, search);
        ASSERT_OK(found);
        // 20 queries of one row are too few to tell 0.98 from less.
        EXPECT_GE(RecallOf(graph, search, *found), k == 1 ? 0.85 : 0.94);
      }
    }
  }
}

TEST(SegmentSearch, WalksWhereItIsWorthIt) {
  const GraphSegment graph(kCases[0]);
  ASSERT_OK(graph.status);
  const auto all = SearchSegment(*graph.segment, 48, graph.Search(10, 0.9));
  ASSERT_OK(all);
  EXPECT_EQ(all->walks, GraphSegment::kQueries);
  EXPECT_GT(all->nodes_visited, 0u);
  EXPECT_LT(all->nodes_visited, uint64_t{GraphSegment::kQueries} * graph.rows / 4);
  EXPECT_EQ(all->found.rows_scored, all->nodes_visited);
  const auto few = SomeRows(graph.rows, 0.01, 2);
  const auto scanned = SearchSegment(*graph.segment, 48, graph.Search(10, 0.98, few));
  ASSERT_OK(scanned);
  EXPECT_EQ(scanned->walks, 0u);
  EXPECT_EQ(scanned->nodes_visited, 0u);
}

TEST(SegmentSearch, AWidthIsSoManyVisits) {
  const GraphSegment graph(kCases[0]);
  ASSERT_OK(graph.status);
  double before = 0;
  for (const size_t width : {10u, 40u, 160u}) {
    SegmentSearch search = graph.Search(10, 1);
    search.width = width;
    const auto found = SearchSegment(*graph.segment, 48, search);
    ASSERT_OK(found);
    EXPECT_EQ(found->nodes_visited, GraphSegment::kQueries * width);
    const double recall = RecallOf(graph, search, *found);
    EXPECT_GE(recall, before);
    before = recall;
  }
  EXPECT_GE(before, 0.95);
}

TEST(SegmentSearch, OfARecallOfOneIsTheScan) {
  for (const GraphCase& of : kCases) {
    const GraphSegment graph(of);
    ASSERT_OK(graph.status);
    const SegmentSearch search = graph.Search(25, 1);
    const auto found = SearchSegment(*graph.segment, of.made.dimension, search);
    const auto exact = ScanFlat(*graph.segment, of.made.dimension, search.scan);
    ASSERT_OK(found);
    ASSERT_OK(exact);
    EXPECT_EQ(found->walks, 0u);
    for (size_t query = 0; query < GraphSegment::kQueries; ++query) {
      ASSERT_EQ(found->found.hits[query].size(), exact->hits[query].size());
      for (size_t i = 0; i < exact->hits[query].size(); ++i) {
        EXPECT_EQ(found->found.hits[query][i].row, exact->hits[query][i].row);
        EXPECT_EQ(found->found.hits[query][i].distance, exact->hits[query][i].distance);
      }
    }
  }
}

// The allowed rows are all of one cluster, and queries of others.
TEST(SegmentSearch, GivesAllRowsWhereTheFilterIsFarFromTheQuery) {
  const GraphCase of{
      .made = {.count = 4020, .dimension = 32, .clusters = 8, .spread = 0.05f, .seed = 10}};
  const GraphSegment graph(of);
  ASSERT_OK(graph.status);
  std::vector<uint64_t> allowed((graph.rows + 63) / 64);
  for (uint32_t row = 3; row < graph.rows; row += 8) allowed[row / 64] |= uint64_t{1} << (row % 64);
  for (const size_t k : {1u, 10u, 400u}) {
    const SegmentSearch search = graph.Search(k, 0.98, allowed);
    const auto found = SearchSegment(*graph.segment, 32, search);
    ASSERT_OK(found);
    EXPECT_GE(RecallOf(graph, search, *found), 0.9);
  }
}

TEST(SegmentSearch, QueriesWithoutSquaresAndOtherMetricsAreScans) {
  GraphSegment graph(kCases[0]);
  ASSERT_OK(graph.status);
  std::vector<float> huge(48, 3e38f);
  SegmentSearch search = graph.Search(10, 0.98);
  search.scan.queries = huge.data();
  search.scan.query_count = 1;
  auto found = SearchSegment(*graph.segment, 48, search);
  ASSERT_OK(found);
  EXPECT_EQ(found->walks, 0u);
  EXPECT_EQ(found->found.hits[0].size(), 10u);
  search = graph.Search(10, 0.98);
  search.scan.metric = Metric::kL1;
  found = SearchSegment(*graph.segment, 48, search);
  ASSERT_OK(found);
  EXPECT_EQ(found->walks, 0u);
  EXPECT_EQ(RecallOf(graph, search, *found), 1);
  EXPECT_CODE(SearchSegment(*graph.segment, 47, search), Code::kInvalidArgument);
}

TEST(SegmentSearch, ABudgetThatIsTooSmallGivesAFlatSegment) {
  const GraphCase& of = kCases[0];
  const uint64_t needed = GraphWriter::BuildBytes(of.metric, of.made.dimension, of.made.count - 20, 1);
  for (const uint64_t limit : {needed / 10, needed + (8 << 20)}) {
    MemoryBudget budget("test", limit);
    const GraphSegment graph(of, &budget);
    ASSERT_OK(graph.status);
    EXPECT_EQ(graph.segment->has_graph(), limit > needed);
    EXPECT_EQ(graph.segment->has_codes(), limit < needed);
    EXPECT_EQ(budget.used_bytes(), 0u);
    const SegmentSearch search = graph.Search(10, 0.98);
    const auto found = SearchSegment(*graph.segment, of.made.dimension, search);
    ASSERT_OK(found);
    EXPECT_GE(RecallOf(graph, search, *found), 0.94);
  }
}

TEST(SegmentSearch, VectorsThatHaveNoGraphAreFlat) {
  GraphCase same{.made = {.count = 220, .dimension = 16, .spread = 0, .seed = 11}};
  const GraphSegment graph(same);
  ASSERT_OK(graph.status);
  EXPECT_FALSE(graph.segment->has_graph());
  ASSERT_OK(graph.segment->Verify());
  const SegmentSearch search = graph.Search(10, 0.98);
  const auto found = SearchSegment(*graph.segment, 16, search);
  ASSERT_OK(found);
  EXPECT_EQ(RecallOf(graph, search, *found), 1);
}

TEST(SegmentSearch, ABuildStopsWhenItIsTold) {
  for (const int after : {0, 10, 500, 5000}) {
    int asked = 0;
    const GraphSegment graph(kCases[0], nullptr, [&] {
      return asked++ < after ? Status::Ok() : Status(Code::kCancelled, "stop");
    });
    EXPECT_CODE(graph.status, Code::kCancelled) << after;
  }
}

TEST(SegmentSearch, AsksTheCallDuringAWalk) {
  const GraphSegment graph(kCases[0]);
  ASSERT_OK(graph.status);
  CancelToken cancel;
  cancel.Set();
  const CallControl control{.cancel = &cancel, .deadline_ns = 0};
  SegmentSearch search = graph.Search(10, 0.9);
  search.scan.control = &control;
  EXPECT_CODE(SearchSegment(*graph.segment, 48, search), Code::kCancelled);
}

// Whatever byte of the three parts is wrong behind a right checksum: the whole check tells, and no
// search crashes.
TEST(SegmentSearch, DamageBehindAChecksumIsFoundOrHarmless) {
  const GraphCase of{.made = {.count = 170, .dimension = 24, .clusters = 5, .seed = 12}};
  GraphSegment graph(of);
  ASSERT_OK(graph.status);
  std::mt19937_64 random(12);
  std::vector<std::pair<uint32_t, BlockExpectation>> places;
  graph.segment->VisitBlocks([&](uint32_t physical, const BlockExpectation& expected) {
    if (expected.kind == BlockKind::kGraph || expected.kind == BlockKind::kGraphEntries ||
        expected.kind == BlockKind::kGraphNodes)
      places.emplace_back(physical, expected);
  });
  ASSERT_FALSE(places.empty());
  int found_by_check = 0;
  constexpr int kTries = 400;
  for (int i = 0; i < kTries; ++i) {
    const auto& [physical, expected] = places[random() % places.size()];
    const BlockBytes block = graph.blocks.Mutable(physical);
    const std::vector<std::byte> before(block.begin(), block.end());
    const size_t at = kBlockHeaderBytes + random() % kBlockPayloadBytes;
    block[at] ^= std::byte{static_cast<uint8_t>(1 + random() % 255)};
    SealBlock(block, expected.kind, 7, expected.logical, ReadBlockTrailer(block).format);
    auto opened = Segment::Open(&graph.blocks, graph.root, 7);
    if (opened.ok()) {
      const bool is_sound = (*opened)->Verify().ok();
      found_by_check += is_sound ? 0 : 1;
      const auto found = SearchSegment(**opened, 24, graph.Search(10, 0.98));
      if (!found.ok()) {
        EXPECT_CODE(found, Code::kDataLoss);
      } else if (is_sound) {
        EXPECT_GE(RecallOf(graph, graph.Search(10, 0.98), *found), 0.94);
      }
    } else {
      ++found_by_check;
    }
    std::copy(before.begin(), before.end(), block.begin());
  }
  // What lies behind the last node of a block means nothing.
  EXPECT_GE(found_by_check, kTries / 2);
}

}  // namespace
}  // namespace pigment
