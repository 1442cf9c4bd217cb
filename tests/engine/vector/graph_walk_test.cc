// SPDX-License-Identifier: Apache-2.0
//
// Walks against sorting all distances: exact when they go everywhere, near enough before, under
// filters too.

#include "engine/vector/graph_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/memory_graph.h"
#include "tests/support/status_matchers.h"
#include "tests/support/vector_world.h"

namespace pigment {
namespace {

GraphWalkOptions Reaching(float reach, size_t k) {
  GraphWalkOptions options;
  options.reach = reach;
  options.k = k;
  return options;
}

// Share of the nearest that walks of this reach find.
double Recall(const World& world, MemoryGraph& graph, const GraphWalkOptions& options) {
  GraphWalk walk;
  size_t hits = 0;
  size_t wanted = 0;
  for (uint32_t i = 0; i < world.queries(); ++i) {
    const auto expected = Nearest(world.table, world.query(i), options.k, options.allowed);
    const auto found = graph.Search(world.query(i), options, walk);
    EXPECT_OK(found);
    wanted += expected.size();
    for (const Scored& hit : *found)
      hits += !expected.empty() && !(expected.back().distance < hit.distance) ? 1 : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(wanted);
}

TEST(GraphWalk, ThatGoesEverywhereIsExact) {
  for (const uint32_t dimension : {1u, 3u, 20u, 64u}) {
    World world({.count = 620, .dimension = dimension, .clusters = 5, .seed = dimension}, 20);
    auto built = BuildGraph(world.table, {});
    ASSERT_OK(built);
    MemoryGraph graph(world.table, *std::move(built));
    GraphWalk walk;
    for (uint32_t i = 0; i < world.queries(); ++i) {
      const auto found = graph.Search(world.query(i), Reaching(kEverywhere, 25), walk);
      ASSERT_OK(found);
      EXPECT_EQ(walk.nodes_visited(), 600u);
      const auto expected = Nearest(world.table, world.query(i), 25);
      ASSERT_EQ(found->size(), expected.size());
      for (size_t j = 0; j < expected.size(); ++j) {
        EXPECT_EQ((*found)[j].distance, expected[j].distance);
        EXPECT_EQ((*found)[j].tie, expected[j].tie);
      }
    }
  }
}

TEST(GraphWalk, FindsNearlyAllOnDataOfSeveralKinds) {
  struct Case {
    const char* name;
    MadeVectors made;
    double recall;
  };
  const Case cases[] = {
      {"clusters",
       {.count = 2050, .dimension = 48, .clusters = 50, .spread = 0.5f, .seed = 1},
       0.97},
      {"normal", {.count = 2050, .dimension = 24, .seed = 2}, 0.95},
      {"tight clusters",
       {.count = 2050, .dimension = 16, .clusters = 20, .spread = 0.01f, .seed = 3},
       0.97},
      {"many dimensions", {.count = 1050, .dimension = 768, .clusters = 20, .seed = 4}, 0.9},
  };
  for (const Case& of : cases) {
    SCOPED_TRACE(of.name);
    World world(of.made, 50);
    auto built = BuildGraph(world.table, {});
    ASSERT_OK(built);
    MemoryGraph graph(world.table, *std::move(built));
    const double short_reach = Recall(world, graph, Reaching(1, 10));
    const double wide = Recall(world, graph, Reaching(1.15f, 10));
    EXPECT_GE(wide, of.recall);
    EXPECT_GE(wide, short_reach);
    RecordProperty(of.name, std::to_string(wide));
  }
}

TEST(GraphWalk, FindsEveryVectorByItself) {
  World world({.count = 1500, .dimension = 32, .clusters = 30, .spread = 0.3f, .seed = 5}, 1);
  auto built = BuildGraph(world.table, {});
  ASSERT_OK(built);
  MemoryGraph graph(world.table, *std::move(built));
  GraphWalk walk;
  uint32_t missed = 0;
  for (uint32_t i = 0; i < world.table.count(); ++i) {
    const auto found = graph.Search(world.table.vector(i), Reaching(1.2f, 1), walk);
    ASSERT_OK(found);
    ASSERT_EQ(found->size(), 1u);
    missed += (*found)[0].distance == 0 ? 0 : 1;
  }
  EXPECT_LE(missed, world.table.count() / 1000);
}

TEST(GraphWalk, GivesAllowedVectorsAlone) {
  World world({.count = 660, .dimension = 24, .clusters = 10, .seed = 6}, 20);
  auto built = BuildGraph(world.table, {});
  ASSERT_OK(built);
  MemoryGraph graph(world.table, *std::move(built));
  std::mt19937_64 random(6);
  for (const double share : {0.5, 0.1, 0.0}) {
    std::vector<uint64_t> allowed(640 / 64);
    for (uint32_t i = 0; i < world.table.count(); ++i) {
      if (std::uniform_real_distribution<>()(random) < share)
        allowed[i / 64] |= uint64_t{1} << (i % 64);
    }
    GraphWalkOptions options = Reaching(kEverywhere, 10);
    options.allowed = allowed;
    GraphWalk walk;
    for (uint32_t i = 0; i < world.queries(); ++i) {
      const auto found = graph.Search(world.query(i), options, walk);
      ASSERT_OK(found);
      const auto expected = Nearest(world.table, world.query(i), 10, allowed);
      ASSERT_EQ(found->size(), expected.size());
      for (size_t j = 0; j < expected.size(); ++j) EXPECT_EQ((*found)[j].tie, expected[j].tie);
    }
  }
}

// The three nearest are wanted, as if the others had been found elsewhere.
TEST(GraphWalk, EndsByWhatIsWanted) {
  constexpr size_t kWanted = 3;
  World world({.count = 6040, .dimension = 48, .clusters = 10, .spread = 0.7f, .seed = 8}, 40);
  auto built = BuildGraph(world.table, {});
  ASSERT_OK(built);
  MemoryGraph graph(world.table, *std::move(built));
  GraphWalk walk;
  uint64_t all_visits = 0, visits = 0, visits_of_none = 0;
  size_t all_right = 0, right = 0;
  for (uint32_t i = 0; i < world.queries(); ++i) {
    const auto nearest = Nearest(world.table, world.query(i), kWanted);
    GraphWalkOptions options = Reaching(1.2f, 50);
    const auto all = graph.Search(world.query(i), options, walk);
    ASSERT_OK(all);
    all_visits += walk.nodes_visited();
    options.wanted = kEverywhere;
    const auto same = graph.Search(world.query(i), options, walk);
    ASSERT_OK(same);
    ASSERT_EQ(same->size(), all->size());
    EXPECT_EQ(same->back().tie, all->back().tie);
    options.wanted = nearest.back().distance;
    const auto found = graph.Search(world.query(i), options, walk);
    ASSERT_OK(found);
    visits += walk.nodes_visited();
    const auto is_wanted = [&](const Scored& hit) { return hit.distance <= options.wanted; };
    all_right += static_cast<size_t>(std::ranges::count_if(*all, is_wanted));
    right += static_cast<size_t>(std::ranges::count_if(*found, is_wanted));
    options.wanted = 0;
    ASSERT_OK(graph.Search(world.query(i), options, walk));
    visits_of_none += walk.nodes_visited();
  }
  EXPECT_GE(static_cast<double>(right), 0.97 * static_cast<double>(all_right));
  EXPECT_LT(visits, all_visits * 2 / 3);
  EXPECT_LE(visits_of_none, visits);
}

TEST(GraphWalk, VisitsFewAndNoMoreThanItMay) {
  World world({.count = 4020, .dimension = 16, .clusters = 40, .seed = 7}, 20);
  auto built = BuildGraph(world.table, {});
  ASSERT_OK(built);
  MemoryGraph graph(world.table, *std::move(built));
  GraphWalk walk;
  for (uint32_t i = 0; i < world.queries(); ++i) {
    GraphWalkOptions options = Reaching(1, 10);
    ASSERT_OK(graph.Search(world.query(i), options, walk));
    const uint64_t visits = walk.nodes_visited();
    EXPECT_LT(visits, 200u);
    EXPECT_GE(visits, 10u);
    EXPECT_LE(walk.links_estimated(), visits * kLinksPerNodeMax + graph.graph().entries().size());
    options.reach = 1.3f;
    ASSERT_OK(graph.Search(world.query(i), options, walk));
    EXPECT_GT(walk.nodes_visited(), visits);
    options.visits_max = 7;
    const auto cut = graph.Search(world.query(i), options, walk);
    ASSERT_OK(cut);
    EXPECT_EQ(walk.nodes_visited(), 7u);
    EXPECT_EQ(cut->size(), 7u);
    options.k = 0;
    EXPECT_TRUE(graph.Search(world.query(i), options, walk).value().empty());
  }
}

TEST(GraphWalk, OfDamageIsAnErrorAndNothingElse) {
  World world({.count = 300, .dimension = 16, .seed = 8}, 1);
  auto built = BuildGraph(world.table, {});
  ASSERT_OK(built);
  MemoryGraph graph(world.table, *std::move(built));
  std::mt19937_64 random(8);
  GraphWalk walk;
  int failed = 0;
  for (int round = 0; round < 1000; ++round) {
    const auto bytes = graph.bytes_of(static_cast<uint32_t>(random() % world.table.count()));
    std::byte& byte = bytes[random() % std::min<size_t>(bytes.size(), 400)];
    const std::byte before = std::exchange(byte, byte ^ std::byte{1} << random() % 8);
    const auto found = graph.Search(world.query(0), Reaching(kEverywhere, 10), walk);
    if (!found.ok()) {
      EXPECT_CODE(found, Code::kDataLoss);
      ++failed;
    }
    byte = before;
  }
  EXPECT_GT(failed, 30);
}

}  // namespace
}  // namespace pigment
