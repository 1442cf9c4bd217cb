// SPDX-License-Identifier: Apache-2.0
//
// A calibrated reach finds what it promises for queries that were never in the graph.

#include "engine/vector/graph_reach.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/made_vectors.h"
#include "tests/support/memory_graph.h"
#include "tests/support/reach_checks.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

Result<ReachTable> Calibrate(const VectorTable& points, const Graph& graph,
                             const CalibrationOptions& options = {}) {
  GraphNodes nodes(points, graph, 0, {.bits = GraphCodeBits(points.dimension())});
  return CalibrateReach(nodes, options);
}

class CalibratedGraph {
 public:
  explicit CalibratedGraph(const MadeVectors& made)
      : world(made, 100),
        graph_(world.table, BuildGraph(world.table, {}).value()),
        reach(Calibrate(graph_.points(), graph_.graph()).value()) {}

  SearchOfWorld search() {
    return [this](uint32_t query, const TriedSearch& tried, uint64_t* visits) {
      auto found = graph_.Search(
          world.query(query),
          {.k = tried.k, .reach = tried.reach, .masked = tried.masked, .allowed = tried.allowed},
          walk_);
      *visits += walk_.nodes_visited();
      return found;
    };
  }

  const World world;

 private:
  MemoryGraph graph_;
  GraphWalk walk_;

 public:
  const ReachTable reach;
};

TEST(GraphReach, FindsWhatWasWantedOfNewQueries) {
  const MadeVectors cases[] = {
      {.count = 5100, .dimension = 48, .clusters = 50, .spread = 0.5f, .seed = 1},
      {.count = 5100, .dimension = 24, .seed = 2},
      {.count = 5100, .dimension = 128, .clusters = 20, .spread = 0.3f, .seed = 3},
  };
  for (const MadeVectors& made : cases) {
    SCOPED_TRACE(::testing::Message() << "seed " << made.seed);
    CalibratedGraph graph(made);
    ExpectWhatWasWanted(graph.world, graph.reach, 3, 20, graph.search());
  }
}

TEST(GraphReach, OfAPartOfTheVectorsIsKnownByWhatIsMet) {
  for (const uint32_t dimension : {24u, 64u}) {
    SCOPED_TRACE(::testing::Message() << "dimension " << dimension);
    CalibratedGraph graph({.count = 10100, .dimension = dimension, .seed = dimension});
    ExpectMasksAreKnownByWhatIsMet(graph.world, graph.reach, graph.search());
  }
}

TEST(GraphReach, GrowsWithRecallAndIsTheSameAgain) {
  const VectorTable table =
      ClusteredVectors({.count = 2000, .dimension = 32, .clusters = 20, .seed = 4});
  const auto graph = BuildGraph(table, {});
  ASSERT_OK(graph);
  const auto first = Calibrate(table, *graph);
  const auto again = Calibrate(table, *graph);
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
    const auto reach = Calibrate(table, *graph);
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
  EXPECT_CODE(Calibrate(table, *graph, options), Code::kCancelled);
}

}  // namespace
}  // namespace pigment
