// SPDX-License-Identifier: Apache-2.0
//
// Segments with a graph or clusters: as many rows as there are, nearly always the nearest, exact
// distances, and never less than a scan where that is asked for. The scan is the oracle.

#include "engine/segment/segment_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>

#include "engine/segment/code_scan.h"
#include "engine/segment/index_part.h"
#include "engine/segment/part_reader.h"
#include "engine/vector/half.h"
#include "tests/engine/segment/segment_fixture.h"
#include "tests/support/effort.h"
#include "tests/support/made_vectors.h"

namespace pigment {
namespace {

struct IndexCase {
  SegmentKind kind = SegmentKind::kGraph;
  Metric metric = Metric::kL2;
  VectorElement element = VectorElement::kF32;
  MadeVectors made;
  bool may_be_clusters = false;
};

// Rows of a host, which have vectors and nothing else; the last 20 vectors are queries.
struct IndexedSegment {
  static constexpr uint32_t kQueries = 20;

  explicit IndexedSegment(const IndexCase& of, MemoryBudget* budget = nullptr,
                          BuildPause pause = {})
      : made(VectorsOf(of)), rows(of.made.count - kQueries), metric(of.metric) {
    SegmentOptions options;
    options.segment = 7;
    options.dimension = of.made.dimension;
    options.metric = of.metric;
    options.vector_element = of.element;
    options.codes = SegmentOptions::Codes::kOfFlat;
    options.index = IndexOf(of);
    options.index_vectors = rows;
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

  static VectorTable VectorsOf(const IndexCase& of) {
    VectorTable vectors = ClusteredVectors(of.made);
    std::vector<float> bits(of.made.dimension);
    for (uint32_t i = 0; of.element == VectorElement::kBit && i < vectors.count(); ++i) {
      std::ranges::transform(vectors.vector(i), bits.begin(),
                             [](float value) { return value > 0 ? 1.0f : 0.0f; });
      vectors.Set(i, bits);
    }
    return vectors;
  }
  // Clusters of a few vectors: as many as a large segment has.
  static SegmentIndex IndexOf(const IndexCase& of) {
    return {.kind = of.kind, .may_be_clusters = of.may_be_clusters, .vectors_per_cluster = 25};
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
  ScatteredBlocks blocks{"indexed", 1};
  uint32_t root = 0;
  std::unique_ptr<Segment> segment;
  Status status;
};

// The part of what a scan finds that `found` has, with the distances that the scan gives.
double RecallOf(const IndexedSegment& of, const SegmentSearch& search,
                const SegmentSearchResult& found) {
  const auto exact = ScanFlat(*of.segment, of.made.dimension(), search.scan);
  EXPECT_OK(exact);
  size_t right = 0, wanted = 0;
  for (size_t query = 0; query < IndexedSegment::kQueries; ++query) {
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

// Blocks that are on a disk until they are pinned.
class FarBlocks final : public BlockSource {
 public:
  explicit FarBlocks(BlockSource* blocks) : blocks_(*blocks) {}

  Result<const std::byte*> Pin(uint32_t physical) override {
    if (pinned.insert(physical).second && !expected.contains(physical)) ++waited_for;
    return blocks_.Pin(physical);
  }
  void Unpin(uint32_t physical, const std::byte* bytes) override { blocks_.Unpin(physical, bytes); }
  bool ReadAhead(uint32_t physical) override {
    if (pinned.contains(physical)) return false;
    expected.insert(physical);
    return true;
  }
  std::optional<uint32_t> blocks() const override { return blocks_.blocks(); }
  bool verifies_on_load() const override { return false; }
  const std::string& name() const override { return blocks_.name(); }

  std::set<uint32_t> pinned, expected;
  size_t waited_for = 0;  // which nobody had expected

 private:
  BlockSource& blocks_;
};

std::vector<uint64_t> SomeRows(uint32_t rows, double share, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> words((rows + 63) / 64);
  for (uint32_t row = 0; row < rows; ++row) {
    if (std::uniform_real_distribution<>()(random) < share)
      words[row / 64] |= uint64_t{1} << (row % 64);
  }
  return words;
}

const IndexCase kGraphCases[] = {
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
    {.metric = Metric::kHamming,
     .element = VectorElement::kBit,
     .made = {.count = 1520, .dimension = 77, .clusters = 40, .spread = 0.7f, .seed = 15}},
    {.metric = Metric::kHamming,
     .element = VectorElement::kBit,
     .made = {.count = 120, .dimension = 12000, .clusters = 5, .seed = 16}},
    {.metric = Metric::kL1,
     .element = VectorElement::kF16,
     .made = {.count = 1520, .dimension = 48, .clusters = 40, .spread = 0.5f, .seed = 17}},
    {.metric = Metric::kJaccard,
     .element = VectorElement::kBit,
     .made = {.count = 1520, .dimension = 200, .clusters = 40, .spread = 0.7f, .seed = 18}},
};

std::vector<IndexCase> AllCases() {
  std::vector<IndexCase> cases;
  for (const SegmentKind kind : {SegmentKind::kGraph, SegmentKind::kClusters}) {
    for (IndexCase of : kGraphCases) {
      of.kind = kind;
      cases.push_back(of);
    }
  }
  return cases;
}

// Tests of both kinds.
class OfBothKinds : public testing::TestWithParam<SegmentKind> {
 protected:
  static IndexCase FirstCase() {
    IndexCase of = kGraphCases[0];
    of.kind = GetParam();
    return of;
  }
};
INSTANTIATE_TEST_SUITE_P(Segments, OfBothKinds,
                         testing::Values(SegmentKind::kGraph, SegmentKind::kClusters),
                         [](const auto& kind) { return std::string(SegmentKindName(kind.param)); });

TEST(SegmentSearch, FindsWhatIsWantedWithAndWithoutAFilter) {
  const std::vector<double> shares =
      kIsSanitized ? std::vector{1.0, 0.1} : std::vector{1.0, 0.5, 0.1, 0.01};
  for (const IndexCase& of : AllCases()) {
    SCOPED_TRACE(::testing::Message() << SegmentKindName(of.kind) << ", seed " << of.made.seed);
    const IndexedSegment indexed(of);
    ASSERT_OK(indexed.status);
    ASSERT_EQ(indexed.segment->info().kind, of.kind);
    EXPECT_FALSE(indexed.segment->has_codes());
    ASSERT_OK(indexed.segment->Verify());
    for (const double share : shares) {
      const auto allowed = share == 1 ? std::vector<uint64_t>() : SomeRows(indexed.rows, share, 1);
      for (const size_t k : {1u, 10u, 100u, 5000u}) {
        SCOPED_TRACE(::testing::Message() << "share " << share << ", k " << k);
        const SegmentSearch search = indexed.Search(k, 0.98, allowed);
        const auto found = SearchSegment(*indexed.segment, of.made.dimension, search);
        ASSERT_OK(found);
        // 20 queries of one row are too few to tell 0.98 from less.
        EXPECT_GE(RecallOf(indexed, search, *found), k == 1 ? 0.85 : 0.94);
      }
    }
  }
}

// What a walk visits comes from the disk while it is elsewhere, most of it some visits before.
TEST(SegmentSearch, OfAGraphOnADiskWaitsForFewBlocks) {
  IndexedSegment indexed({.made = {.count = 4020, .dimension = 256, .seed = 5}});
  ASSERT_OK(indexed.status);
  FarBlocks far(&indexed.blocks);
  const auto segment = Segment::Open(&far, indexed.root, 7).value();
  SegmentSearch search = indexed.Search(10, 0.98);
  search.scan.query_count = 1;
  size_t blocks = 0, expected = 0, waited_for = 0;
  for (uint32_t query = 0; query < IndexedSegment::kQueries; ++query) {
    search.scan.queries = indexed.made.row(indexed.rows + query);
    far.pinned.clear();
    far.expected.clear();
    far.waited_for = 0;
    const auto found = SearchSegment(*segment, 256, search);
    ASSERT_OK(found);
    const auto same = SearchSegment(*indexed.segment, 256, search);
    ASSERT_OK(same);
    EXPECT_TRUE(std::ranges::equal(found->found.hits[0], same->found.hits[0], {}, &RowHit::row,
                                   &RowHit::row));
    blocks += far.pinned.size();
    expected += far.expected.size();
    waited_for += far.waited_for;
  }
  EXPECT_LT(waited_for * 4, blocks);
  EXPECT_LT(expected, blocks) << "what was not looked at then";
}

// Of metrics that another stands in for, indexes are asked as of others, and give their own
// distances.
TEST(SegmentSearch, ByMetricsWithAStandInGoesByTheIndex) {
  const IndexCase cases[] = {
      {.metric = Metric::kL1, .made = {.count = 2520, .dimension = 96, .clusters = 30, .seed = 21}},
      {.metric = Metric::kJaccard,
       .element = VectorElement::kBit,
       .made = {.count = 2520, .dimension = 96, .clusters = 30, .seed = 22}}};
  for (IndexCase of : cases) {
    for (const SegmentKind kind : {SegmentKind::kGraph, SegmentKind::kClusters}) {
      of.kind = kind;
      SCOPED_TRACE(::testing::Message() << SegmentKindName(kind) << ", " << MetricName(of.metric));
      const IndexedSegment indexed(of);
      ASSERT_OK(indexed.status);
      ASSERT_EQ(indexed.segment->info().kind, kind);
      SegmentSearch search = indexed.Search(10, 0.98);
      search.width = kind == SegmentKind::kGraph ? 100 : 20;
      const auto found = SearchSegment(*indexed.segment, of.made.dimension, search);
      ASSERT_OK(found);
      EXPECT_EQ(found->walks + found->probes, IndexedSegment::kQueries);
      EXPECT_LE(found->nodes_visited, search.width * IndexedSegment::kQueries);
      EXPECT_GE(RecallOf(indexed, search, *found), 0.9);
    }
  }
}

// Those of f16 vectors are in f16, too, where they have room: beyond it they are in f32, and both
// are found, checked and searched.
TEST(SegmentSearch, OfVectorsInF16ReadsCentroidsOfBothKinds) {
  constexpr float kFar = 60000;
  for (const float scale : {1.0f, kFar}) {
    SCOPED_TRACE(scale);
    SegmentOptions options{.segment = 7,
                           .dimension = 64,
                           .vector_element = VectorElement::kF16,
                           .index = {.kind = SegmentKind::kClusters, .vectors_per_cluster = 25},
                           .index_vectors = 2000};
    MemoryBlockSource blocks("test");
    SegmentWriter writer(options, &blocks);
    std::mt19937_64 random(14);
    const VectorTable corners = NormalVectors({.count = 40, .dimension = 64, .seed = 14});
    std::vector<float> query;
    for (uint32_t row = 0; row < 2000; ++row) {
      std::vector<float> vector = RandomVector(random, 64);
      for (uint32_t d = 0; d < 64; ++d)
        vector[d] = scale * std::copysign(1 - std::abs(vector[d]) / 8, corners.row(row % 40)[d]);
      ASSERT_OK(RoundToHalves(64, vector));
      if (row == 1234) query = vector;
      ASSERT_OK(writer.AddRow(vector, row));
    }
    auto summary = writer.Finish();
    ASSERT_OK(summary);
    auto segment = Segment::Open(&blocks, summary->root, 7);
    ASSERT_OK(segment);
    ASSERT_OK((*segment)->Verify());
    const auto head = (*segment)->Index();
    ASSERT_OK(head);
    ASSERT_NE(*head, nullptr);
    EXPECT_EQ((*head)->centroid_element, scale == kFar ? VectorElement::kF32 : VectorElement::kF16);
    const auto found = SearchSegment(**segment, 64,
                                     {.scan = {.metric = Metric::kL2,
                                               .queries = query.data(),
                                               .query_count = 1,
                                               .k = 1,
                                               .allowed_rows = {},
                                               .control = nullptr},
                                      .allowed_count = 2000,
                                      .recall = 0.9});
    ASSERT_OK(found);
    ASSERT_EQ(found->found.hits[0].size(), 1u);
    EXPECT_EQ(found->found.hits[0][0].row, 1234u);
  }
}

TEST_P(OfBothKinds, WalksWhereItIsWorthIt) {
  const IndexedSegment indexed(FirstCase());
  ASSERT_OK(indexed.status);
  const auto all = SearchSegment(*indexed.segment, 48, indexed.Search(10, 0.9));
  ASSERT_OK(all);
  constexpr uint64_t kQueries = IndexedSegment::kQueries;
  if (GetParam() == SegmentKind::kGraph) {
    EXPECT_EQ(all->walks, kQueries);
    EXPECT_EQ(all->probes, 0u);
    EXPECT_GT(all->nodes_visited, 0u);
    EXPECT_LT(all->nodes_visited, kQueries * indexed.rows / 4);
    EXPECT_EQ(all->found.rows_scored, all->nodes_visited);
  } else {
    EXPECT_EQ(all->probes, kQueries);
    EXPECT_EQ(all->walks, 0u);
    EXPECT_GT(all->clusters_probed, 0u);
    EXPECT_LT(all->clusters_probed, kQueries * indexed.segment->info().clusters / 4);
    EXPECT_EQ(all->found.rows_scored, all->links_estimated);
  }
  const auto few = SomeRows(indexed.rows, 0.01, 2);
  const auto scanned = SearchSegment(*indexed.segment, 48, indexed.Search(10, 0.98, few));
  ASSERT_OK(scanned);
  EXPECT_EQ(scanned->walks + scanned->probes, 0u);
  EXPECT_EQ(scanned->nodes_visited + scanned->clusters_probed, 0u);
}

TEST_P(OfBothKinds, AWidthIsSoManyVisits) {
  const IndexedSegment indexed(FirstCase());
  ASSERT_OK(indexed.status);
  double before = 0;
  for (const size_t width : {10u, 40u, 90u}) {
    SegmentSearch search = indexed.Search(10, 1);
    search.width = width;
    const auto found = SearchSegment(*indexed.segment, 48, search);
    ASSERT_OK(found);
    EXPECT_EQ(found->nodes_visited + found->clusters_probed, IndexedSegment::kQueries * width);
    const double recall = RecallOf(indexed, search, *found);
    EXPECT_GE(recall, before);
    before = recall;
  }
  EXPECT_GE(before, 0.9);
  // A walk visits as many as are given.
  SegmentSearch search = indexed.Search(10, 1);
  search.spare = 5;
  search.width = 10;
  const auto found = SearchSegment(*indexed.segment, 48, search);
  ASSERT_OK(found);
  for (const auto& hits : found->found.hits) EXPECT_EQ(hits.size(), 15u);
}

// A walk gives them of what it met, fewer where it was short; from elsewhere they come as if more
// were searched for.
TEST(SegmentSearch, GivesSpareRowsWhateverWayIsGone) {
  constexpr size_t kNearest = 10, kSpare = 6;
  size_t spare_given = 0, spare_wanted = 0;
  for (const IndexCase& of : AllCases()) {
    const IndexedSegment indexed(of);
    ASSERT_OK(indexed.status);
    const uint32_t dimension = of.made.dimension;
    const std::vector<uint64_t> few = SomeRows(indexed.rows, 0.01, 4);
    for (const std::span<const uint64_t> allowed : {std::span<const uint64_t>(), {few}}) {
      SegmentSearch search = indexed.Search(kNearest, 0.98, allowed);
      const auto without = SearchSegment(*indexed.segment, dimension, search);
      ASSERT_OK(without);
      search.spare = kSpare;
      const auto with = SearchSegment(*indexed.segment, dimension, search);
      ASSERT_OK(with);
      const size_t count = std::min<size_t>(kNearest + kSpare, search.allowed_count);
      if (with->walks == IndexedSegment::kQueries) {
        EXPECT_EQ(with->nodes_visited, without->nodes_visited);
      } else {
        EXPECT_GE(with->clusters_probed, without->clusters_probed);
      }
      for (size_t query = 0; query < IndexedSegment::kQueries; ++query) {
        const auto& hits = with->found.hits[query];
        ASSERT_LE(hits.size(), count);
        spare_wanted += count - without->found.hits[query].size();
        spare_given += hits.size() - without->found.hits[query].size();
        // By a metric that another stands in for more of what was compared may be found nearer.
        if (HasStandIn(of.metric) || with->walks == 0) continue;
        const auto& nearest = without->found.hits[query];
        for (size_t i = 0; i < nearest.size(); ++i) EXPECT_EQ(hits[i].row, nearest[i].row);
      }
      if (with->walks != 0) continue;
      search.scan.k += kSpare;
      EXPECT_GE(RecallOf(indexed, search, *with), 0.9);
    }
  }
  EXPECT_GE(static_cast<double>(spare_given) / static_cast<double>(spare_wanted), 0.95);
}

TEST(SegmentSearch, OfARecallOfOneIsTheScan) {
  for (const IndexCase& of : AllCases()) {
    const IndexedSegment indexed(of);
    ASSERT_OK(indexed.status);
    const SegmentSearch search = indexed.Search(25, 1);
    const auto found = SearchSegment(*indexed.segment, of.made.dimension, search);
    const auto exact = ScanFlat(*indexed.segment, of.made.dimension, search.scan);
    ASSERT_OK(found);
    ASSERT_OK(exact);
    EXPECT_EQ(found->walks + found->probes, 0u);
    for (size_t query = 0; query < IndexedSegment::kQueries; ++query) {
      ASSERT_EQ(found->found.hits[query].size(), exact->hits[query].size());
      for (size_t i = 0; i < exact->hits[query].size(); ++i) {
        EXPECT_EQ(found->found.hits[query][i].row, exact->hits[query][i].row);
        EXPECT_EQ(found->found.hits[query][i].distance, exact->hits[query][i].distance);
      }
    }
  }
}

// The allowed rows are all of one cluster, and queries of others.
TEST_P(OfBothKinds, GivesAllRowsWhereTheFilterIsFarFromTheQuery) {
  const IndexCase of{
      .kind = GetParam(),
      .made = {.count = 4020, .dimension = 32, .clusters = 8, .spread = 0.05f, .seed = 10}};
  const IndexedSegment indexed(of);
  ASSERT_OK(indexed.status);
  std::vector<uint64_t> allowed((indexed.rows + 63) / 64);
  for (uint32_t row = 3; row < indexed.rows; row += 8)
    allowed[row / 64] |= uint64_t{1} << (row % 64);
  for (const size_t k : {1u, 10u, 400u}) {
    const SegmentSearch search = indexed.Search(k, 0.98, allowed);
    const auto found = SearchSegment(*indexed.segment, 32, search);
    ASSERT_OK(found);
    EXPECT_GE(RecallOf(indexed, search, *found), 0.9);
  }
}

// Rows that a walk would come to late are found by their codes, which are a fraction of the
// vectors.
TEST(SegmentSearch, OfFewOrFarRowsOfAGraphReadsCodes) {
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kIp}) {
    const IndexCase of{
        .metric = metric,
        .made = {.count = 6020, .dimension = 256, .clusters = 8, .spread = 0.3f, .seed = 14}};
    const IndexedSegment indexed(of);
    ASSERT_OK(indexed.status);
    const auto few = SomeRows(indexed.rows, 0.05, 3);
    SegmentSearch search = indexed.Search(10, 0.98, few);
    auto found = SearchSegment(*indexed.segment, 256, search);
    ASSERT_OK(found);
    EXPECT_GE(RecallOf(indexed, search, *found), 0.97);
    EXPECT_EQ(found->walks, 0u);
    EXPECT_EQ(found->found.rows_scored, search.allowed_count * IndexedSegment::kQueries);
    EXPECT_LT(found->found.bytes_scored,
              search.allowed_count * IndexedSegment::kQueries * 256 * sizeof(float) / 2);
    // Those of one cluster, of which most queries are not: a walk is tried, and gives way.
    std::vector<uint64_t> far((indexed.rows + 63) / 64);
    for (uint32_t row = 3; row < indexed.rows; row += 8) far[row / 64] |= uint64_t{1} << (row % 64);
    search = indexed.Search(10, 0.98, far);
    found = SearchSegment(*indexed.segment, 256, search);
    ASSERT_OK(found);
    EXPECT_GE(RecallOf(indexed, search, *found), 0.97);
    EXPECT_LT(found->walks, IndexedSegment::kQueries / 2);
  }
}

// And of clusters that stand in a graph's place; who asks for clusters has none.
TEST(SegmentSearch, OfFewRowsOfClustersReadsCodesWhereAGraphWasAskedFor) {
  std::vector<uint64_t> bytes;
  for (const bool was_graph : {true, false}) {
    const IndexCase of{
        .kind = was_graph ? SegmentKind::kGraph : SegmentKind::kClusters,
        .made = {.count = 10020, .dimension = 128, .clusters = 10, .spread = 0.3f, .seed = 15},
        .may_be_clusters = was_graph};
    const IndexedSegment indexed(of);
    ASSERT_OK(indexed.status);
    ASSERT_EQ(indexed.segment->info().kind, SegmentKind::kClusters);
    ASSERT_OK(indexed.segment->Verify());
    const auto few = SomeRows(indexed.rows, 0.02, 3);
    const SegmentSearch search = indexed.Search(10, 0.98, few);
    const auto found = SearchSegment(*indexed.segment, 128, search);
    ASSERT_OK(found);
    EXPECT_GE(RecallOf(indexed, search, *found), 0.97);
    EXPECT_EQ(found->found.rows_scored, search.allowed_count * IndexedSegment::kQueries);
    bytes.push_back(found->found.bytes_scored);
  }
  EXPECT_LT(bytes[0], bytes[1] / 4);
}

// Another segment gave all but the nearest: a walk may leave out what is beyond it.
TEST(SegmentSearch, WalksEndByTheLimitThatOthersGive) {
  const IndexedSegment indexed(
      {.made = {.count = 6020, .dimension = 48, .clusters = 40, .spread = 0.5f, .seed = 16}});
  ASSERT_OK(indexed.status);
  SegmentSearch search = indexed.Search(30, 0.9);
  const auto all = SearchSegment(*indexed.segment, 48, search);
  ASSERT_OK(all);
  std::vector<float> limits;
  for (const auto& hits : all->found.hits) limits.push_back(hits.front().distance);
  search.scan.limits = limits;
  const auto found = SearchSegment(*indexed.segment, 48, search);
  ASSERT_OK(found);
  EXPECT_EQ(found->walks, IndexedSegment::kQueries);
  EXPECT_LT(found->nodes_visited, all->nodes_visited * 3 / 4);
  size_t right = 0;
  for (size_t query = 0; query < IndexedSegment::kQueries; ++query)
    right += found->found.hits[query].front().row == all->found.hits[query].front().row ? 1 : 0;
  EXPECT_GE(right, IndexedSegment::kQueries - 1);
}

TEST(SegmentSearch, ByCodesLeavesOutWhatIsBeyondTheLimit) {
  const IndexedSegment indexed(
      {.made = {.count = 3020, .dimension = 64, .clusters = 4, .seed = 15}});
  ASSERT_OK(indexed.status);
  const auto allowed = SomeRows(indexed.rows, 0.02, 4);
  SegmentSearch search = indexed.Search(10, 0.98, allowed);
  const auto all = SearchSegment(*indexed.segment, 64, search);
  ASSERT_OK(all);
  std::vector<float> limits;
  for (const auto& hits : all->found.hits) limits.push_back(hits[4].distance);
  search.scan.limits = limits;
  const auto found = SearchSegment(*indexed.segment, 64, search);
  ASSERT_OK(found);
  EXPECT_EQ(found->walks, 0u);
  for (size_t query = 0; query < IndexedSegment::kQueries; ++query) {
    const auto& hits = found->found.hits[query];
    ASSERT_GE(hits.size(), 5u) << query;
    for (size_t i = 0; i < hits.size(); ++i) {
      EXPECT_EQ(hits[i].row, all->found.hits[query][i].row);
      EXPECT_LE(hits[i].distance, limits[query]);
    }
  }
}

TEST(ErrorsForRecall, GrowWithIt) {
  EXPECT_NEAR(ErrorsForRecall(0.98), 2.54, 0.01);
  EXPECT_GT(ErrorsForRecall(0.999), ErrorsForRecall(0.99));
  EXPECT_GT(ErrorsForRecall(0.01), 1);
  EXPECT_TRUE(std::isfinite(ErrorsForRecall(1)));
}

TEST_P(OfBothKinds, QueriesWithoutSquaresAndOtherMetricsAreScans) {
  IndexedSegment indexed(FirstCase());
  ASSERT_OK(indexed.status);
  std::vector<float> huge(48, 3e38f);
  SegmentSearch search = indexed.Search(10, 0.98);
  search.scan.queries = huge.data();
  search.scan.query_count = 1;
  auto found = SearchSegment(*indexed.segment, 48, search);
  ASSERT_OK(found);
  EXPECT_EQ(found->walks + found->probes, 0u);
  EXPECT_EQ(found->found.hits[0].size(), 10u);
  search = indexed.Search(10, 0.98);
  search.scan.metric = Metric::kL1;
  found = SearchSegment(*indexed.segment, 48, search);
  ASSERT_OK(found);
  EXPECT_EQ(found->walks + found->probes, 0u);
  EXPECT_EQ(RecallOf(indexed, search, *found), 1);
  EXPECT_CODE(SearchSegment(*indexed.segment, 47, search), Code::kInvalidArgument);
}

TEST_P(OfBothKinds, ABudgetThatIsTooSmallGivesAFlatSegment) {
  const IndexCase of = FirstCase();
  const uint64_t needed = IndexWriter::BuildBytes({.index = IndexedSegment::IndexOf(of),
                                                   .metric = of.metric,
                                                   .dimension = of.made.dimension,
                                                   .vectors = of.made.count - 20});
  for (const uint64_t limit : {needed / 10, needed + (8 << 20)}) {
    MemoryBudget budget("test", limit);
    const IndexedSegment indexed(of, &budget);
    ASSERT_OK(indexed.status);
    EXPECT_EQ(indexed.segment->has_index(), limit > needed);
    EXPECT_EQ(indexed.segment->has_codes(), limit < needed);
    EXPECT_EQ(budget.used_bytes(), 0u);
    const SegmentSearch search = indexed.Search(10, 0.98);
    const auto found = SearchSegment(*indexed.segment, of.made.dimension, search);
    ASSERT_OK(found);
    EXPECT_GE(RecallOf(indexed, search, *found), 0.94);
  }
}

TEST_P(OfBothKinds, VectorsThatHaveNoIndexAreFlat) {
  IndexCase same{.kind = GetParam(),
                 .made = {.count = 220, .dimension = 16, .spread = 0, .seed = 11}};
  const IndexedSegment indexed(same);
  ASSERT_OK(indexed.status);
  EXPECT_FALSE(indexed.segment->has_index());
  ASSERT_OK(indexed.segment->Verify());
  const SegmentSearch search = indexed.Search(10, 0.98);
  const auto found = SearchSegment(*indexed.segment, 16, search);
  ASSERT_OK(found);
  EXPECT_EQ(RecallOf(indexed, search, *found), 1);
}

TEST_P(OfBothKinds, ABuildStopsWhenItIsTold) {
  for (const int after : {0, 10, 500, 5000}) {
    int asked = 0;
    const IndexedSegment indexed(FirstCase(), nullptr, [&] {
      return asked++ < after ? Status::Ok() : Status(Code::kCancelled, "stop");
    });
    EXPECT_CODE(indexed.status, Code::kCancelled) << after;
  }
}

TEST_P(OfBothKinds, AsksTheCallDuringAWalk) {
  const IndexedSegment indexed(FirstCase());
  ASSERT_OK(indexed.status);
  CancelToken cancel;
  cancel.Set();
  const CallControl control{.cancel = &cancel, .deadline_ns = 0};
  SegmentSearch search = indexed.Search(10, 0.9);
  search.scan.control = &control;
  EXPECT_CODE(SearchSegment(*indexed.segment, 48, search), Code::kCancelled);
}

// Whatever byte of the parts is wrong behind a right checksum: the whole check tells, and no
// search crashes.
TEST_P(OfBothKinds, DamageBehindAChecksumIsFoundOrHarmless) {
  const IndexCase of{.kind = GetParam(),
                     .made = {.count = 1020, .dimension = 24, .clusters = 5, .seed = 12}};
  IndexedSegment indexed(of);
  ASSERT_OK(indexed.status);
  std::mt19937_64 random(12);
  std::vector<std::pair<uint32_t, BlockExpectation>> places;
  indexed.segment->VisitBlocks([&](uint32_t physical, const BlockExpectation& expected) {
    if ((expected.kind >= BlockKind::kIndex && expected.kind <= BlockKind::kClusterNodes) ||
        expected.kind == BlockKind::kRowCodes)
      places.emplace_back(physical, expected);
  });
  ASSERT_FALSE(places.empty());
  int found_by_check = 0;
  constexpr int kTries = Rounds(400);
  for (int i = 0; i < kTries; ++i) {
    const auto& [physical, expected] = places[random() % places.size()];
    const BlockBytes block = indexed.blocks.Mutable(physical);
    const std::vector<std::byte> before(block.begin(), block.end());
    const size_t at = kBlockHeaderBytes + random() % kBlockPayloadBytes;
    block[at] ^= std::byte{static_cast<uint8_t>(1 + random() % 255)};
    SealBlock(block, expected.kind, 7, expected.logical, ReadBlockTrailer(block).format);
    auto opened = Segment::Open(&indexed.blocks, indexed.root, 7);
    if (opened.ok()) {
      const bool is_sound = (*opened)->Verify().ok();
      found_by_check += is_sound ? 0 : 1;
      const auto few = SomeRows(indexed.rows, 0.05, 5);
      EXPECT_OK(SearchSegment(**opened, 24, indexed.Search(10, 0.98, few))) << "codes alone";
      const auto found = SearchSegment(**opened, 24, indexed.Search(10, 0.98));
      if (!found.ok()) {
        EXPECT_CODE(found, Code::kDataLoss);
      } else if (is_sound) {
        EXPECT_GE(RecallOf(indexed, indexed.Search(10, 0.98), *found), 0.94);
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
