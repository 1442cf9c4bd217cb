// SPDX-License-Identifier: Apache-2.0
//
// A calibrated reach finds what it promises for queries that were never in the graph.

#include "engine/vector/graph_reach.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/vector/top_k.h"
#include "tests/support/made_vectors.h"
#include "tests/support/memory_graph.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

constexpr uint32_t kQueries = 100;

TEST(GraphReach, FindsWhatWasWantedOfNewQueries) {
  const MadeVectors cases[] = {
      {.count = 5100, .dimension = 48, .clusters = 50, .spread = 0.5f, .seed = 1},
      {.count = 5100, .dimension = 24, .seed = 2},
      {.count = 5100, .dimension = 128, .clusters = 20, .spread = 0.3f, .seed = 3},
  };
  for (const MadeVectors& made : cases) {
    SCOPED_TRACE(testing::Message() << "seed " << made.seed);
    const VectorTable all = ClusteredVectors(made);
    VectorTable table(made.dimension, nullptr);
    ASSERT_OK(table.Reserve(made.count - kQueries));
    for (uint32_t i = 0; i < made.count - kQueries; ++i) table.Add(all.vector(i));
    auto built = BuildGraph(table, {});
    ASSERT_OK(built);
    MemoryGraph graph(table, *std::move(built));
    const auto reach = CalibrateReach(graph.points(), graph.graph(), {});
    ASSERT_OK(reach);
    GraphWalk walk;
    for (const size_t k : {1u, 10u, 30u, 100u}) {
      for (const double recall : {0.9, 0.98}) {
        SCOPED_TRACE(testing::Message() << "k " << k << ", recall " << recall);
        const Reach wanted = reach->For(k, recall);
        ASSERT_TRUE(std::isfinite(wanted.reach));
        size_t right = 0;
        uint64_t visits = 0;
        for (uint32_t i = 0; i < kQueries; ++i) {
          const auto query = all.vector(table.count() + i);
          TopK nearest(k);
          for (uint32_t row = 0; row < table.count(); ++row)
            nearest.Offer(Distance(Metric::kL2, query.data(), table.row(row), query.size()), row);
          const float limit = nearest.worst();
          auto found = graph.Search(
              query, {.k = std::max(k, ReachTable::kNeighborsMin), .reach = wanted.reach}, walk);
          ASSERT_OK(found);
          found->resize(k);
          for (const Scored& hit : *found) right += hit.distance <= limit ? 1 : 0;
          visits += walk.nodes_visited();
        }
        // Three standard errors of 100 queries of k, and those of the calibration.
        const double margin = k == 1 ? 0.06 : 0.025;
        EXPECT_GE(static_cast<double>(right) / static_cast<double>(kQueries * k), recall - margin);
        EXPECT_LT(static_cast<double>(visits) / kQueries, 3 * wanted.visits + 20);
        EXPECT_GT(static_cast<double>(visits) / kQueries, wanted.visits / 3 - 20);
      }
    }
  }
}

TEST(GraphReach, GrowsWithRecallAndIsTheSameAgain) {
  const VectorTable table =
      ClusteredVectors({.count = 2000, .dimension = 32, .clusters = 20, .seed = 4});
  const auto graph = BuildGraph(table, {});
  ASSERT_OK(graph);
  const auto first = CalibrateReach(table, *graph, {});
  const auto again = CalibrateReach(table, *graph, {});
  ASSERT_OK(first);
  ASSERT_OK(again);
  for (size_t row = 0; row < first->values.size(); ++row) {
    for (size_t i = 0; i < first->values[row].size(); ++i) {
      EXPECT_EQ(first->values[row][i].reach, again->values[row][i].reach);
      if (i == 0) continue;
      EXPECT_GE(first->values[row][i].reach, first->values[row][i - 1].reach);
      EXPECT_GE(first->values[row][i].visits, first->values[row][i - 1].visits);
    }
  }
}

TEST(GraphReach, IsThereForAVectorOrTwo) {
  for (const uint32_t count : {1u, 2u, 5u}) {
    const VectorTable table = NormalVectors({.count = count, .dimension = 16, .seed = 5});
    const auto graph = BuildGraph(table, {});
    ASSERT_OK(graph);
    const auto reach = CalibrateReach(table, *graph, {});
    ASSERT_OK(reach);
    EXPECT_FALSE(std::isnan(reach->For(10, 0.98).reach));
    EXPECT_FALSE(std::isnan(reach->For(10, 0.98).visits));
  }
}

TEST(GraphReach, StopsWhenItIsTold) {
  const VectorTable table = NormalVectors({.count = 500, .dimension = 16, .seed = 6});
  const auto graph = BuildGraph(table, {});
  ASSERT_OK(graph);
  CalibrationOptions options;
  options.pause = [] { return Status(Code::kCancelled, "stop"); };
  EXPECT_CODE(CalibrateReach(table, *graph, options), Code::kCancelled);
}

}  // namespace
}  // namespace pigment
