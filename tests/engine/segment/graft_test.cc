// SPDX-License-Identifier: Apache-2.0
//
// Rows that hang on another segment's graph: found with what a walk of it visits, as nearly as rows
// of the graph itself, with exact distances; and not hung where that would miss them or cost more
// than a search of their own. The scan of both segments is the oracle.

#include "engine/segment/graft.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "engine/segment/index_part.h"
#include "engine/segment/segment_search.h"
#include "engine/vector/half.h"
#include "engine/vector/top_k.h"
#include "tests/engine/segment/segment_fixture.h"
#include "tests/support/effort.h"
#include "tests/support/made_vectors.h"

namespace pigment {
namespace {

struct GraftCase {
  SegmentKind graph = SegmentKind::kGraph;
  Metric metric = Metric::kL2;
  VectorElement element = VectorElement::kF32;
  MadeVectors made;
};

// Some of the vectors as rows of a host, in a segment of this kind.
class Part {
 public:
  Part(uint32_t number, SegmentKind kind, const GraftCase& of, const VectorTable& made,
       uint32_t first, uint32_t count)
      : blocks_("part", 1) {
    SegmentOptions options;
    options.segment = number;
    options.dimension = made.dimension();
    options.metric = of.metric;
    options.vector_element = of.element;
    options.index = {.kind = kind, .vectors_per_cluster = 25};
    options.index_vectors = count;
    SegmentWriter writer(options, &blocks_);
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<float> vector(made.vector(first + i).begin(), made.vector(first + i).end());
      if (of.element == VectorElement::kF16) EXPECT_OK(RoundToHalves(vector.size(), vector));
      EXPECT_OK(writer.AddRow(vector, i));
    }
    auto summary = writer.Finish();
    EXPECT_OK(summary);
    segment_ = Segment::Open(&blocks_, summary->root, number).value();
    EXPECT_EQ(segment_->info().kind, kind);
  }

  const Segment& operator*() const { return *segment_; }
  const Segment* operator->() const { return segment_.get(); }

 private:
  ScatteredBlocks blocks_;
  std::unique_ptr<Segment> segment_;
};

auto MakeGraft(const Part& graph, const Part& rows, GraftOptions options = {}) {
  SegmentGraftRows hung(*rows);
  return Graft::Make(*graph, hung, std::move(options));
}

// A graph, or clusters, a sixth as many rows beside it, and queries.
struct GraftedParts {
  static constexpr uint32_t kQueries = 40;

  explicit GraftedParts(const GraftCase& of)
      : made(ClusteredVectors(of.made)),
        rows_count((of.made.count - kQueries) / 7),
        graph_count(of.made.count - kQueries - rows_count),
        graph(7, of.graph, of, made, 0, graph_count),
        rows(8, SegmentKind::kClusters, of, made, graph_count, rows_count) {}

  std::span<const float> Query(uint32_t i) const {
    return made.vector(graph_count + rows_count + i);
  }

  struct Answer {
    std::vector<RowHit> of_graph, of_rows;  // the rows among the k nearest of both
    float limit = 0;                        // the distance of the k-th
  };
  static Answer Merge(std::vector<RowHit> of_graph, std::vector<RowHit> of_rows, size_t k) {
    TopK nearest(k);
    for (const RowHit& hit : of_graph) nearest.Offer(hit.distance, 0);
    for (const RowHit& hit : of_rows) nearest.Offer(hit.distance, 1);
    Answer answer{std::move(of_graph), std::move(of_rows), nearest.worst()};
    const auto is_beyond = [&](const RowHit& hit) { return hit.distance > answer.limit; };
    std::erase_if(answer.of_graph, is_beyond);
    std::erase_if(answer.of_rows, is_beyond);
    return answer;
  }
  Answer Exact(std::span<const float> query, size_t k, RowMask allowed_rows) const {
    FlatScan scan{.metric = graph->info().metric,
                  .queries = query.data(),
                  .query_count = 1,
                  .k = k,
                  .allowed_rows = {}};
    auto of_graph = ScanFlat(*graph, made.dimension(), scan).value();
    scan.allowed_rows = allowed_rows;
    auto of_rows = ScanFlat(*rows, made.dimension(), scan).value();
    return Merge(std::move(of_graph.hits[0]), std::move(of_rows.hits[0]), k);
  }
  Answer Approximate(const Graft& graft, std::span<const float> query, size_t k,
                     RowMask allowed_rows) const {
    const SegmentSearch search{.scan = {.metric = graph->info().metric,
                                        .queries = query.data(),
                                        .query_count = 1,
                                        .k = k,
                                        .allowed_rows = {}},
                               .allowed_count = graph_count,
                               .recall = 0.98,
                               .hanging = 1};
    auto walked = SearchSegment(*graph, made.dimension(), search).value();
    ++searches;
    if (walked.walks + walked.probes == 0)
      return Exact(query, k, allowed_rows);  // as who has no nodes does
    ++walks;
    SegmentGraftRows hung(*rows);
    auto found = graft.Search(GraftQuery::Make(*graph, query).value(), hung,
                              {.k = k,
                               .recall = 0.98,
                               .limit = walked.found.hits[0].back().distance,
                               .nodes = walked.nodes.at(0),
                               .allowed_rows = allowed_rows});
    EXPECT_OK(found);
    rows_scored += found->rows_scored;
    return Merge(std::move(walked.found.hits[0]), std::move(found->hits), k);
  }

  const VectorTable made;
  const uint32_t rows_count, graph_count;
  const Part graph, rows;
  mutable uint64_t searches = 0, walks = 0, rows_scored = 0;
};

const GraftCase kCases[] = {
    {.made = {.count = 3540, .dimension = 48, .clusters = 40, .spread = 0.5f, .seed = 1}},
    {.metric = Metric::kCosine,
     .made = {.count = 5640, .dimension = 100, .clusters = 80, .spread = 0.5f, .seed = 2}},
    {.element = VectorElement::kF16,
     .made = {.count = 5640, .dimension = 384, .clusters = 40, .spread = 0.5f, .seed = 4}},
    {.graph = SegmentKind::kClusters,
     .made = {.count = 7040, .dimension = 48, .clusters = 40, .spread = 0.5f, .seed = 5}},
    {.graph = SegmentKind::kClusters,
     .metric = Metric::kCosine,
     .element = VectorElement::kF16,
     .made = {.count = 7040, .dimension = 128, .clusters = 80, .spread = 0.5f, .seed = 6}},
};

std::vector<GraftCase> Cases() {
  if (kIsSanitized) return {kCases[0], kCases[3]};
  return {std::begin(kCases), std::end(kCases)};
}

TEST(Graft, FindsNearlyAllOfWhatIsNearestWithAndWithoutAFilter) {
  for (const GraftCase& of : Cases()) {
    SCOPED_TRACE(of.made.seed);
    const GraftedParts parts(of);
    ASSERT_TRUE(Graft::Fits(parts.graph->info(), parts.rows->info()));
    const auto graft = MakeGraft(parts.graph, parts.rows);
    ASSERT_OK(graft);
    ASSERT_NE(*graft, nullptr);
    EXPECT_EQ((*graft)->graph_segment(), 7u);
    std::vector<uint64_t> odd((parts.rows_count + 63) / 64, 0xAAAAAAAAAAAAAAAA);
    for (const RowMask allowed : {RowMask(), RowMask(odd)}) {
      for (const size_t k : {1u, 10u, 50u}) {
        SCOPED_TRACE(::testing::Message() << "k " << k << ", allowed " << allowed.size());
        size_t wanted = 0, found = 0;
        parts.rows_scored = 0;
        for (uint32_t i = 0; i < GraftedParts::kQueries; ++i) {
          const auto exact = parts.Exact(parts.Query(i), k, allowed);
          const auto answer = parts.Approximate(**graft, parts.Query(i), k, allowed);
          wanted += exact.of_rows.size();
          for (size_t h = 0; h < answer.of_rows.size(); ++h) {
            const RowHit& hit = answer.of_rows[h];
            EXPECT_TRUE(IsAllowed(allowed, hit.row));
            if (h > 0) {
              EXPECT_LE(answer.of_rows[h - 1].distance, hit.distance);
            }
            const auto same = std::ranges::find(exact.of_rows, hit.row,
                                                [](const RowHit& one) { return one.row; });
            if (same == exact.of_rows.end()) continue;
            ++found;
            EXPECT_EQ(hit.distance, same->distance);
          }
        }
        ASSERT_GT(wanted, 0u);
        EXPECT_GE(static_cast<double>(found), 0.94 * static_cast<double>(wanted)) << wanted;
        if (k == 10) {
          EXPECT_LE(parts.rows_scored, GraftedParts::kQueries * parts.rows_count / 4);
        }
      }
    }
    EXPECT_GE(parts.walks * 3, parts.searches * 2);
  }
}

TEST(Graft, FindsEachRowByItsOwnVector) {
  for (const GraftCase& of : Cases()) {
    SCOPED_TRACE(of.made.seed);
    const GraftedParts parts(of);
    const auto graft = MakeGraft(parts.graph, parts.rows).value();
    ASSERT_NE(graft, nullptr);
    std::vector<float> own(parts.made.dimension());
    for (uint32_t row = 0; row < parts.rows_count; ++row) {
      ASSERT_OK(parts.rows->ReadVector(row, own));
      const auto answer = parts.Approximate(*graft, own, 1, {});
      ASSERT_EQ(answer.of_rows.size(), 1u) << row;
      EXPECT_EQ(answer.of_rows[0].row, row);
    }
    EXPECT_GE(parts.walks * 3, parts.searches * 2);
  }
}

// What some rows, or all, hung by before is taken over.
TEST(Graft, IsTheSameWhereRowsHungBefore) {
  const GraftedParts parts(kCases[0]);
  const auto graft = MakeGraft(parts.graph, parts.rows).value();
  ASSERT_NE(graft, nullptr);
  const std::vector<uint32_t> nodes = graft->NodesByRow();
  ASSERT_EQ(nodes.size(), parts.rows_count * Graft::kGraphNodesPerRow);
  for (uint32_t row = 0; row < parts.rows_count; ++row) {
    const auto of_row =
        std::span(nodes).subspan(row * Graft::kGraphNodesPerRow, Graft::kGraphNodesPerRow);
    const std::set<uint32_t> distinct(of_row.begin(), of_row.end());
    EXPECT_EQ(distinct.size(), Graft::kGraphNodesPerRow) << row;
    EXPECT_LT(*distinct.rbegin(), parts.graph_count) << row;
  }
  // `rows_of_from` is of the first rows alone, and names none where it is beyond the end.
  const auto again = [&](std::vector<uint32_t> rows_of_from) {
    GraftOptions options;
    options.from = graft;
    options.rows_of_from = rows_of_from;
    return MakeGraft(parts.graph, parts.rows, std::move(options)).value();
  };
  std::vector<uint32_t> own(parts.rows_count);
  std::iota(own.begin(), own.end(), 0);
  std::vector<uint32_t> some(own.begin(), own.begin() + 100);
  some[7] = parts.rows_count;
  for (const auto& rows_of_from : {some, own}) {
    const auto same = again(rows_of_from);
    ASSERT_NE(same, nullptr);
    EXPECT_EQ(same->NodesByRow(), nodes);
    EXPECT_TRUE(std::ranges::equal(same->codes(), graft->codes()));
  }
  std::ranges::reverse(own);
  const std::vector<uint32_t> reversed = again(own)->NodesByRow();
  constexpr size_t kNodes = Graft::kGraphNodesPerRow;
  for (uint32_t row = 0; row < parts.rows_count; ++row) {
    EXPECT_TRUE(std::ranges::equal(std::span(reversed).subspan(row * kNodes, kNodes),
                                   std::span(nodes).subspan(own[row] * kNodes, kNodes)))
        << row;
  }
}

// What another segment found first does not keep a walk from what hangs where it was.
TEST(Graft, FindsARowWithinALimitThatNoNodeIsWithin) {
  const GraftedParts parts(kCases[0]);
  const auto graft = MakeGraft(parts.graph, parts.rows).value();
  ASSERT_NE(graft, nullptr);
  std::vector<float> own(parts.made.dimension());
  ASSERT_OK(parts.rows->ReadVector(5, own));
  const SegmentSearch search{.scan = {.metric = Metric::kL2,
                                      .queries = own.data(),
                                      .query_count = 1,
                                      .k = 10,
                                      .allowed_rows = {}},
                             .allowed_count = parts.graph_count,
                             .recall = 0.9,
                             .hanging = 1};
  const auto walked = SearchSegment(*parts.graph, parts.made.dimension(), search).value();
  ASSERT_GT(walked.found.hits[0].front().distance, 1e-6f);
  SegmentGraftRows hung(*parts.rows);
  const auto found =
      graft->Search(GraftQuery::Make(*parts.graph, own).value(), hung,
                    {.k = 10, .recall = 0.9, .limit = 1e-6f, .nodes = walked.nodes.at(0)});
  ASSERT_OK(found);
  ASSERT_EQ(found->hits.size(), 1u);
  EXPECT_EQ(found->hits[0].row, 5u);
}

// All of them would hang on the few nodes that face them.
TEST(Graft, IsNotMadeOfRowsThatLieElsewhere) {
  const GraftCase of{.made = {.count = 3000, .dimension = 48, .clusters = 40, .seed = 3}};
  VectorTable made = ClusteredVectors(of.made);
  std::vector<float> vector(48);
  for (uint32_t i = 2500; i < made.count(); ++i) {
    std::ranges::transform(made.vector(i), vector.begin(),
                           [](float value) { return 20 + value / 10; });
    made.Set(i, vector);
  }
  const Part graph(7, SegmentKind::kGraph, of, made, 0, 2500);
  const Part rows(8, SegmentKind::kClusters, of, made, 2500, 500);
  const auto graft = MakeGraft(graph, rows);
  ASSERT_OK(graft);
  EXPECT_EQ(*graft, nullptr);
}

TEST(Graft, FitsRowsInClustersOnALargerIndexOfTheirSpace) {
  const SegmentInfo graph{
      .kind = SegmentKind::kGraph, .dimension = 8, .metric = Metric::kCosine, .vectors = 1000};
  SegmentInfo rows = graph;
  rows.kind = SegmentKind::kClusters;
  rows.vectors = 500;
  EXPECT_TRUE(Graft::Fits(graph, rows));
  EXPECT_FALSE(Graft::Fits(rows, graph));
  SegmentInfo large = graph;
  large.kind = SegmentKind::kClusters;
  EXPECT_TRUE(Graft::Fits(large, rows));
  SegmentInfo small_graph = graph;
  small_graph.vectors = 125;
  EXPECT_TRUE(Graft::Fits(graph, small_graph));
  small_graph.vectors = 126;
  EXPECT_FALSE(Graft::Fits(graph, small_graph));
  large.kind = SegmentKind::kFlat;
  EXPECT_FALSE(Graft::Fits(large, rows));
  const auto with = [&](auto SegmentInfo::*member, auto value) {
    SegmentInfo changed = rows;
    changed.*member = value;
    return changed;
  };
  EXPECT_FALSE(Graft::Fits(graph, with(&SegmentInfo::vectors, 501u)));
  EXPECT_FALSE(Graft::Fits(graph, with(&SegmentInfo::vectors, 0u)));
  EXPECT_FALSE(Graft::Fits(graph, with(&SegmentInfo::dimension, 9u)));
  EXPECT_FALSE(Graft::Fits(graph, with(&SegmentInfo::metric, Metric::kL2)));
  EXPECT_FALSE(Graft::Fits(graph, with(&SegmentInfo::kind, SegmentKind::kFlat)));
  for (const Metric metric : {Metric::kIp, Metric::kL1, Metric::kHamming, Metric::kJaccard}) {
    SegmentInfo of_metric = graph;
    of_metric.metric = metric;
    EXPECT_FALSE(Graft::Fits(of_metric, with(&SegmentInfo::metric, metric)));
  }
}

TEST(Graft, StaysWithinItsBudgetAndEndsWhenItIsAskedTo) {
  const GraftedParts parts(kCases[0]);
  const uint64_t bytes = Graft::MakeBytes(parts.graph->info(), parts.rows_count);
  const auto little = std::make_shared<MemoryBudget>("little", bytes - 1);
  const auto refused = MakeGraft(parts.graph, parts.rows, {.budget = little});
  EXPECT_EQ(refused.status().code(), Code::kResourceExhausted);
  EXPECT_EQ(little->used_bytes(), 0u);
  auto enough = std::make_shared<MemoryBudget>("enough", bytes);
  auto graft = MakeGraft(parts.graph, parts.rows, {.budget = enough}).value();
  ASSERT_NE(graft, nullptr);
  EXPECT_GT(enough->used_bytes(), bytes / 2);
  EXPECT_LT(enough->used_bytes(), bytes);
  graft.reset();
  EXPECT_EQ(enough->used_bytes(), 0u);
  int pauses = 0;
  const auto stopped = MakeGraft(
      parts.graph, parts.rows,
      {.budget = enough,
       .pause = [&] { return ++pauses < 10 ? Status::Ok() : Status(Code::kCancelled, "enough"); }});
  EXPECT_EQ(stopped.status().code(), Code::kCancelled);
  EXPECT_EQ(pauses, 10);
  EXPECT_EQ(enough->used_bytes(), 0u);
}

}  // namespace
}  // namespace pigment
