// SPDX-License-Identifier: Apache-2.0
//
// Graphs are legal, reach every vector, and are the same again.

#include "engine/vector/graph_build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "engine/base/disk_files.h"
#include "engine/vector/graph_encode.h"
#include "engine/vector/top_k.h"
#include "tests/support/made_vectors.h"
#include "tests/support/memory_graph.h"
#include "tests/support/simd_targets.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

void ExpectLegalAndConnected(const Graph& graph, uint32_t count, uint32_t degree_max) {
  ASSERT_EQ(graph.count(), count);
  ASSERT_FALSE(graph.entries().empty());
  std::vector<bool> reached(count);
  std::vector<uint32_t> open;
  const auto reach = [&](uint32_t vector) {
    if (!reached[vector]) open.push_back(vector);
    reached[vector] = true;
  };
  std::set<uint32_t> entries;
  for (const uint32_t entry : graph.entries()) {
    ASSERT_LT(entry, count);
    ASSERT_TRUE(entries.insert(entry).second) << "entry " << entry << " is there twice";
    reach(entry);
  }
  EXPECT_EQ(std::set<uint32_t>(graph.order().begin(), graph.order().end()).size(), count);
  EXPECT_EQ(graph.order().size(), count);
  while (!open.empty()) {
    const uint32_t vector = open.back();
    open.pop_back();
    std::ranges::for_each(graph.links(vector), reach);
  }
  for (uint32_t i = 0; i < count; ++i) {
    EXPECT_TRUE(reached[i]) << "vector " << i << " is out of reach";
    const auto links = graph.links(i);
    ASSERT_LE(links.size(), degree_max);
    std::set<uint32_t> seen = {i};
    for (const uint32_t link : links) {
      ASSERT_LT(link, count);
      ASSERT_TRUE(seen.insert(link).second) << "vector " << i << " links to " << link;
    }
  }
}

TEST(GraphBuild, ReachesEveryVectorOfAnyData) {
  const MadeVectors cases[] = {
      {.count = 1600, .dimension = 16, .seed = 1},
      {.count = 1600, .dimension = 64, .clusters = 30, .spread = 0.2f, .seed = 2},
      {.count = 1600, .dimension = 8, .clusters = 12, .spread = 0.0001f, .seed = 3},  // islands
      {.count = 1600, .dimension = 2, .seed = 4},
      {.count = 500, .dimension = 1, .seed = 5},
  };
  for (const MadeVectors& made : cases) {
    SCOPED_TRACE(::testing::Message() << "seed " << made.seed);
    const VectorTable table = ClusteredVectors(made);
    auto graph = BuildGraph(table, {});
    ASSERT_OK(graph);
    ExpectLegalAndConnected(*graph, made.count, 32);
    GraphOptions thin;
    thin.degree_max = 8;
    thin.slack = 1;
    auto small = BuildGraph(table, thin);
    ASSERT_OK(small);
    ExpectLegalAndConnected(*small, made.count, 8);
    EXPECT_LT(small->link_count(), graph->link_count());
  }
}

TEST(GraphBuild, OfFewVectorsLinksThemAll) {
  for (const uint32_t count : {1u, 2u, 3u, 10u}) {
    const VectorTable table = NormalVectors({.count = count, .dimension = 3, .seed = count});
    auto graph = BuildGraph(table, {});
    ASSERT_OK(graph);
    ExpectLegalAndConnected(*graph, count, 32);
  }
}

// Vectors that are all alike, and vectors that are alike in groups larger than any list.
TEST(GraphBuild, ReachesDuplicates) {
  for (const uint32_t groups : {1u, 3u, 5u}) {
    VectorTable table(4, nullptr);
    ASSERT_OK(table.Reserve(1500));
    for (uint32_t i = 0; i < 1500; ++i) {
      const auto value = static_cast<float>(i % groups);
      table.Add(std::vector<float>{value, -value, 1, 0});
    }
    auto graph = BuildGraph(table, {});
    ASSERT_OK(graph);
    ExpectLegalAndConnected(*graph, 1500, 32);
    EXPECT_LT(graph->entries().size(), 100u);
  }
}

TEST(GraphBuild, IsTheSameAgainOnEveryTarget) {
  const VectorTable table = NormalVectors({.count = 700, .dimension = 20, .seed = 6});
  auto first = BuildGraph(table, {});
  ASSERT_OK(first);
  const int targets = ForEachTarget([&] {
    auto again = BuildGraph(table, {});
    ASSERT_OK(again);
    EXPECT_EQ(first->entries(), again->entries());
    for (uint32_t i = 0; i < table.count(); ++i)
      ASSERT_TRUE(std::ranges::equal(first->links(i), again->links(i))) << "vector " << i;
  });
  EXPECT_GE(targets, 2);
}

// Of the first `count` vectors of `table`.
VectorTable FirstOf(const VectorTable& table, uint32_t count) {
  VectorTable first(table.dimension(), nullptr);
  EXPECT_OK(first.Reserve(count));
  for (uint32_t i = 0; i < count; ++i) first.Add(table.vector(i));
  return first;
}

TEST(GraphBuild, StartsFromTheLinksOfAnother) {
  constexpr uint32_t kCount = 2000, kKnown = 1500, kDegree = 16;
  const VectorTable table = ClusteredVectors(
      {.count = kCount, .dimension = 24, .clusters = 30, .spread = 0.4f, .seed = 11});
  GraphOptions options;
  options.degree_max = kDegree;
  const auto before = BuildGraph(FirstOf(table, kKnown), options);
  ASSERT_OK(before);
  NumberLists known;
  for (uint32_t i = 0; i < kKnown; ++i) known.Add(before->links(i));
  known.FillUpTo(kCount);
  options.neighbors.known = &known;
  MemoryBudget budget("test");
  options.neighbors.budget = &budget;
  {
    const auto after = BuildGraph(table, options);
    ASSERT_OK(after);
    ExpectLegalAndConnected(*after, kCount, kDegree);
    size_t kept = 0, had = 0, to_new = 0, alike = 0, of_new = 0;
    for (uint32_t i = 0; i < kKnown; ++i) {
      const auto old_links = before->links(i);
      had += old_links.size();
      for (const uint32_t link : after->links(i)) {
        if (link >= kKnown) {
          ++to_new;
        } else {
          EXPECT_NE(std::ranges::find(old_links, link), old_links.end())
              << i << " has a link to " << link << ", which is not new";
          ++kept;
        }
      }
    }
    EXPECT_GT(kept, had * 2 / 3);
    EXPECT_GT(to_new, kKnown);
    // New vectors have what a build from nothing gives them, nearly.
    options.neighbors.known = nullptr;
    const auto fresh = BuildGraph(table, options);
    ASSERT_OK(fresh);
    for (uint32_t i = kKnown; i < kCount; ++i) {
      of_new += after->links(i).size();
      for (const uint32_t link : after->links(i))
        alike += std::ranges::count(fresh->links(i), link) != 0 ? 1 : 0;
    }
    EXPECT_GT(alike, of_new * 3 / 4);
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
}

// More links than there is room for are candidates.
TEST(GraphBuild, ChoosesAmongLinksThatAreTooMany) {
  const VectorTable table = NormalVectors({.count = 300, .dimension = 8, .seed = 12});
  GraphOptions options;
  options.degree_max = 8;
  NumberLists known;
  for (uint32_t i = 0; i < table.count(); ++i) {
    std::vector<uint32_t> near;
    for (uint32_t j = 1; j <= 60; ++j) near.push_back((i + j) % table.count());
    known.Add(near);
  }
  options.neighbors.known = &known;
  const auto graph = BuildGraph(table, options);
  ASSERT_OK(graph);
  ExpectLegalAndConnected(*graph, table.count(), 8);
  size_t with_nearest = 0;
  for (uint32_t i = 0; i < table.count(); ++i) {
    const auto nearest = std::ranges::min_element(
        known.of(i), {}, [&](uint32_t other) { return table.Distance(i, other); });
    with_nearest += std::ranges::count(graph->links(i), *nearest) != 0 ? 1 : 0;
  }
  EXPECT_EQ(with_nearest, table.count());
}

TEST(GraphBuild, StopsWhenItIsToldAndGivesItsMemoryBack) {
  const VectorTable table = NormalVectors({.count = 1500, .dimension = 12, .seed = 7});
  MemoryBudget budget("test");
  int pauses = 0;
  GraphOptions options;
  options.neighbors.budget = &budget;
  options.neighbors.pause = [&] { return ++pauses, Status::Ok(); };
  ASSERT_OK(BuildGraph(table, options));
  const int all = pauses;
  EXPECT_GT(all, 3000);
  for (int last = 0; last < all; last += all / 7) {
    pauses = 0;
    options.neighbors.pause = [&] {
      return pauses++ == last ? Status(Code::kCancelled, "stopped") : Status::Ok();
    };
    EXPECT_CODE(BuildGraph(table, options), Code::kCancelled);
    EXPECT_EQ(budget.used_bytes(), 0u);
  }
}

TEST(GraphBuild, IsTheSameHoweverManyThreadsShareIt) {
  for (const float spread : {0.3f, 0.0f}) {  // the second: duplicates by the hundred
    const VectorTable table = ClusteredVectors(
        {.count = 3000, .dimension = 32, .clusters = 20, .spread = spread, .seed = 9});
    const auto one = BuildGraph(table, {});
    ASSERT_OK(one);
    for (const uint32_t threads : {2u, 5u}) {
      GraphOptions options;
      options.neighbors.threads = threads;
      const auto shared = BuildGraph(table, options);
      ASSERT_OK(shared);
      EXPECT_EQ(one->entries(), shared->entries());
      for (uint32_t i = 0; i < table.count(); ++i)
        ASSERT_TRUE(std::ranges::equal(one->links(i), shared->links(i))) << i;
    }
  }
}

GraphOptions InParts(uint32_t part_vectors_max, const TemporaryDirectory& directory) {
  GraphOptions options;
  options.part_vectors_max = part_vectors_max;
  options.scratch = DiskFiles()->ScratchIn(directory.path());
  return options;
}

// Of the ten nearest to what lies between vectors of the table.
double RecallOf(const VectorTable& table, Graph graph) {
  constexpr uint32_t kQueries = 200, kNearest = 10;
  MemoryGraph memory(table, std::move(graph));
  GraphWalk walk;
  size_t found = 0;
  for (uint32_t i = 0; i < kQueries; ++i) {
    std::vector<float> query(table.vector(i * 7).begin(), table.vector(i * 7).end());
    for (uint32_t d = 0; d < table.dimension(); ++d)
      query[d] = 0.7f * query[d] + 0.3f * table.row(i * 11 + 1)[d];
    TopK nearest(kNearest);
    for (uint32_t j = 0; j < table.count(); ++j)
      nearest.Offer(Distance(Metric::kL2, query.data(), table.row(j), table.dimension()), j);
    const float farthest = nearest.TakeSorted().back().distance;
    const auto hits = memory.Search(query, {.k = kNearest, .reach = 1.1f}, walk);
    EXPECT_OK(hits);
    found += static_cast<size_t>(std::ranges::count_if(
        *hits, [&](const Scored& hit) { return hit.distance <= farthest * (1 + 1e-5f); }));
  }
  return static_cast<double>(found) / (kQueries * kNearest);
}

TEST(GraphBuild, OfPartsFindsWhatOneOfAllFinds) {
  const TemporaryDirectory directory;
  for (const MadeVectors& made :
       {MadeVectors{.count = 6000, .dimension = 24, .seed = 21},
        MadeVectors{.count = 6000, .dimension = 48, .clusters = 70, .spread = 0.3f, .seed = 22}}) {
    SCOPED_TRACE(::testing::Message() << "seed " << made.seed);
    const VectorTable table = ClusteredVectors(made);
    auto whole = BuildGraph(table, {});
    ASSERT_OK(whole);
    const double expected = RecallOf(table, *std::move(whole));
    // The smaller parts are the more of what is near lies in others.
    for (const auto& [part_vectors_max, less] : {std::pair(700u, 0.04), std::pair(2500u, 0.02)}) {
      auto graph = BuildGraph(table, InParts(part_vectors_max, directory));
      ASSERT_OK(graph);
      ExpectLegalAndConnected(*graph, made.count, 24);
      EXPECT_LE(graph->entries().size(), 512u);
      EXPECT_GE(RecallOf(table, *std::move(graph)), expected - less) << part_vectors_max;
    }
  }
}

TEST(GraphBuild, OfPartsReachesEveryVectorOfAnyData) {
  const TemporaryDirectory directory;
  const MadeVectors cases[] = {
      {.count = 1600, .dimension = 8, .clusters = 12, .spread = 0.0001f, .seed = 3},  // islands
      {.count = 1600, .dimension = 2, .seed = 4},
      {.count = 500, .dimension = 1, .seed = 5},
      {.count = 1200, .dimension = 4, .clusters = 3, .spread = 0, .seed = 6},  // duplicates
  };
  for (const MadeVectors& made : cases) {
    for (const uint32_t part_vectors_max : {8u, 90u, 400u, 2000u}) {
      SCOPED_TRACE(::testing::Message() << "seed " << made.seed << ", " << part_vectors_max);
      const VectorTable table = ClusteredVectors(made);
      auto graph = BuildGraph(table, InParts(part_vectors_max, directory));
      ASSERT_OK(graph);
      ExpectLegalAndConnected(*graph, made.count, 24);
    }
  }
}

TEST(GraphBuild, OfPartsIsTheSameByAnyNumberOfThreads) {
  const TemporaryDirectory directory;
  const VectorTable table = ClusteredVectors(
      {.count = 3000, .dimension = 32, .clusters = 20, .spread = 0.5f, .seed = 23});
  GraphOptions options = InParts(600, directory);
  const auto one = BuildGraph(table, options);
  ASSERT_OK(one);
  options.neighbors.threads = 3;
  const auto shared = BuildGraph(table, options);
  ASSERT_OK(shared);
  EXPECT_EQ(one->entries(), shared->entries());
  for (uint32_t i = 0; i < table.count(); ++i)
    ASSERT_TRUE(std::ranges::equal(one->links(i), shared->links(i))) << i;
}

// Lists of neighbours are made for new vectors alone, in each part.
TEST(GraphBuild, OfPartsStartsFromWhatIsKnown) {
  const TemporaryDirectory directory;
  const VectorTable table = ClusteredVectors(
      {.count = 4000, .dimension = 24, .clusters = 40, .spread = 0.4f, .seed = 24});
  constexpr uint32_t kOld = 3200;
  VectorTable old(table.dimension(), nullptr);
  ASSERT_OK(old.Reserve(kOld));
  for (uint32_t i = 0; i < kOld; ++i) old.Add(table.vector(i));
  const auto before = BuildGraph(old, {});
  ASSERT_OK(before);
  NumberLists known;
  for (uint32_t i = 0; i < kOld; ++i) known.Add(before->links(i));
  known.FillUpTo(table.count());
  GraphOptions options = InParts(900, directory);
  options.neighbors.known = &known;
  auto grown = BuildGraph(table, options);
  ASSERT_OK(grown);
  ExpectLegalAndConnected(*grown, table.count(), 24);
  size_t kept = 0;
  size_t links = 0;
  for (uint32_t i = 0; i < kOld; ++i) {
    for (const uint32_t link : before->links(i)) {
      kept += std::ranges::find(grown->links(i), link) != grown->links(i).end() ? 1 : 0;
      ++links;
    }
  }
  EXPECT_GT(kept, links * 6 / 10);
  auto whole = BuildGraph(table, {});
  ASSERT_OK(whole);
  EXPECT_GE(RecallOf(table, *std::move(grown)), RecallOf(table, *std::move(whole)) - 0.01);
}

TEST(GraphBuild, OfPartsEndsWithWhatScratchSays) {
  const VectorTable table = NormalVectors({.count = 600, .dimension = 8, .seed = 25});
  GraphOptions options;
  options.part_vectors_max = 100;
  options.scratch = [](uint64_t) -> Result<std::unique_ptr<Scratch>> {
    return ResourceExhausted(Detail::kDiskFull, "none");
  };
  EXPECT_EQ(BuildGraph(table, options).status().detail(), Detail::kDiskFull);
}

TEST(GraphBuild, TakesNoMoreMemoryThanItSays) {
  const TemporaryDirectory directory;
  for (const uint32_t dimension : {16u, 384u}) {
    for (const uint32_t count : {1u, 100u, 3000u}) {
      for (const uint32_t threads : {1u, 3u}) {
        SCOPED_TRACE(::testing::Message() << count << " of " << dimension << ", " << threads);
        const VectorTable table =
            ClusteredVectors({.count = count, .dimension = dimension, .clusters = 3, .seed = 10});
        GraphOptions options;
        options.neighbors.threads = threads;
        MemoryBudget budget("build", GraphBuildBytes(dimension, count, options));
        options.neighbors.budget = &budget;
        EXPECT_OK(BuildGraph(table, options));
        GraphOptions in_parts = InParts(500, directory);
        in_parts.neighbors.threads = threads;
        MemoryBudget less("parts", GraphBuildBytes(dimension, count, in_parts));
        in_parts.neighbors.budget = &less;
        EXPECT_OK(BuildGraph(table, in_parts));
      }
    }
  }
}

TEST(GraphBuild, NodesAreTheSameHoweverManyAreKept) {
  // More than are kept in any case.
  const VectorTable points = NormalVectors({.count = 20000, .dimension = 16, .seed = 21});
  auto graph = BuildGraph(points, {});
  ASSERT_OK(graph);
  GraphNodes some(points, *graph);
  const size_t node_bytes = some.encoder().node_bytes();
  GraphNodes all(points, *graph, points.count() * node_bytes);
  std::vector<std::byte> expected(node_bytes);
  for (GraphNodes* nodes : {&some, &all}) {
    ASSERT_OK(nodes->Fill(2, {}));
    for (uint32_t i = 0; i < points.count(); ++i) {
      nodes->encoder().EncodeNode(i, expected.data());
      ASSERT_TRUE(std::ranges::equal(nodes->Node(i), expected)) << "node " << i;
    }
  }
  int pauses = 0;
  const auto stop = [&] {
    return ++pauses == 2 ? Status(Code::kCancelled, "stopped") : Status::Ok();
  };
  EXPECT_CODE(all.Fill(1, stop), Code::kCancelled);
}

}  // namespace
}  // namespace pigment
