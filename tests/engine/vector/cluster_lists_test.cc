// SPDX-License-Identifier: Apache-2.0
//
// Every vector is in the cluster of its nearest centroid, once, and its code is there.

#include "engine/vector/cluster_lists.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/vector/half.h"
#include "tests/support/made_vectors.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

TEST(ClusterLists, HaveEachVectorWithItsNearestCentroid) {
  const VectorTable points =
      ClusteredVectors({.count = 2000, .dimension = 32, .clusters = 20, .seed = 1});
  const auto lists = ClusterLists::Build(points, {.vectors_per_cluster = 40});
  ASSERT_OK(lists);
  EXPECT_GT(lists->clusters(), 40u);
  std::vector<uint32_t> times(points.count());
  for (uint32_t cluster = 0; cluster < lists->clusters(); ++cluster) {
    ASSERT_FALSE(lists->vectors(cluster).empty());
    for (const uint32_t vector : lists->vectors(cluster)) {
      ++times[vector];
      const auto distance = [&](uint32_t other) {
        return Distance(Metric::kL2, points.row(vector), lists->centroids().row(other), 32);
      };
      for (uint32_t other = 0; other < lists->clusters(); ++other)
        ASSERT_LE(distance(cluster), distance(other) * 1.0001f);
    }
  }
  EXPECT_TRUE(std::ranges::all_of(times, [](uint32_t n) { return n == 1; }));
}

TEST(ClusterLists, HaveCentroidsThatHalvesHoldWhereTheyCan) {
  const VectorTable points =
      ClusteredVectors({.count = 2000, .dimension = 32, .clusters = 20, .seed = 1});
  ClusterListOptions options{.vectors_per_cluster = 40, .halves = true};
  const auto rounded = ClusterLists::Build(points, options);
  ASSERT_OK(rounded);
  EXPECT_TRUE(rounded->centroids_are_halves());
  for (uint32_t cluster = 0; cluster < rounded->clusters(); ++cluster) {
    std::vector<float> again(rounded->centroids().row(cluster),
                             rounded->centroids().row(cluster) + 32);
    ASSERT_OK(RoundToHalves(32, again));
    EXPECT_TRUE(std::ranges::equal(again, rounded->centroids().vector(cluster)));
  }
  VectorTable large(32, nullptr);
  ASSERT_OK(large.Reserve(points.count()));
  std::vector<float> vector(32);
  for (uint32_t i = 0; i < points.count(); ++i) {
    std::ranges::transform(points.vector(i), vector.begin(), [](float x) { return x * 1e5f; });
    large.Add(vector);
  }
  const auto kept = ClusterLists::Build(large, options);
  options.halves = false;
  const auto as_they_are = ClusterLists::Build(large, options);
  ASSERT_OK(kept);
  ASSERT_OK(as_they_are);
  EXPECT_FALSE(kept->centroids_are_halves());
  ASSERT_EQ(kept->clusters(), as_they_are->clusters());
  for (uint32_t cluster = 0; cluster < kept->clusters(); ++cluster)
    EXPECT_TRUE(std::ranges::equal(kept->centroids().vector(cluster),
                                   as_they_are->centroids().vector(cluster)));
}

TEST(ClusterLists, HaveNodesOfTheirVectors) {
  const VectorTable points = NormalVectors({.count = 777, .dimension = 48, .seed = 2});
  const auto lists = ClusterLists::Build(points, {.vectors_per_cluster = 90, .bits = 3});
  constexpr uint32_t kCodeBits = 3 * 48;
  ASSERT_OK(lists);
  size_t vectors = 0;
  for (uint32_t cluster = 0; cluster < lists->clusters(); ++cluster) {
    const ClusterShape shape = lists->shape(cluster);
    ASSERT_EQ(lists->bytes(cluster).size(), shape.bytes());
    std::vector<uint32_t> links;
    for (uint32_t i = 0; i < shape.nodes(); ++i) {
      GraphNode node;
      const auto bytes = lists->bytes(cluster).subspan(shape.offset(i), shape.node_bytes(i));
      ASSERT_TRUE(GraphNode::Read(bytes, kCodeBits, shape.places(i), &node));
      ASSERT_EQ(node.links(), shape.links(i));
      EXPECT_LT(shape.places(i), node.links() + 8);
      for (uint32_t j = 0; j < node.links(); ++j) links.push_back(node.link(j));
    }
    EXPECT_TRUE(std::ranges::equal(links, lists->vectors(cluster)));
    vectors += links.size();
  }
  EXPECT_EQ(vectors, points.count());
  std::vector<uint32_t> entries;
  for (uint32_t i = 0; i < lists->entry_nodes(); ++i) {
    GraphNode node;
    ASSERT_TRUE(GraphNode::Read(lists->entry_node(i), kCodeBits, kLinksPerNodeMax, &node));
    for (uint32_t j = 0; j < node.links(); ++j) entries.push_back(node.link(j));
  }
  ASSERT_EQ(entries.size(), lists->clusters());
  for (uint32_t i = 0; i < entries.size(); ++i) EXPECT_EQ(entries[i], i);
}

TEST(ClusterLists, AreTheSameForAnyNumberOfThreads) {
  const VectorTable points =
      ClusteredVectors({.count = 3000, .dimension = 16, .clusters = 7, .seed = 3});
  const auto one = ClusterLists::Build(points, {.vectors_per_cluster = 30});
  const auto three = ClusterLists::Build(points, {.vectors_per_cluster = 30, .threads = 3});
  ASSERT_OK(one);
  ASSERT_OK(three);
  ASSERT_EQ(one->clusters(), three->clusters());
  for (uint32_t cluster = 0; cluster < one->clusters(); ++cluster)
    EXPECT_TRUE(std::ranges::equal(one->bytes(cluster), three->bytes(cluster)));
}

TEST(ClusterLists, OfEqualVectorsAndOfOne) {
  VectorTable points(16, nullptr);
  ASSERT_OK(points.Reserve(500));
  const std::vector<float> one(16, 0.5f);
  for (int i = 0; i < 500; ++i) points.Add(one);
  for (const uint32_t count : {1u, 500u}) {
    VectorTable some(16, nullptr);
    ASSERT_OK(some.Reserve(count));
    for (uint32_t i = 0; i < count; ++i) some.Add(one);
    const auto lists = ClusterLists::Build(some, {.vectors_per_cluster = 50});
    ASSERT_OK(lists);
    EXPECT_EQ(lists->clusters(), 1u);
    EXPECT_EQ(lists->vectors(0).size(), count);
  }
}

TEST(ClusterLists, TakeTheMemoryTheySay) {
  const VectorTable points = NormalVectors({.count = 5000, .dimension = 64, .seed = 4});
  MemoryBudget budget("test");
  const ClusterListOptions options{.vectors_per_cluster = 50, .budget = &budget};
  const uint64_t said = ClusterLists::BuildBytes(64, points.count(), options);
  const auto lists = ClusterLists::Build(points, options);
  ASSERT_OK(lists);
  EXPECT_LE(budget.used_bytes(), said);
  MemoryBudget small("test", said / 10);
  ClusterListOptions tight = options;
  tight.budget = &small;
  EXPECT_CODE(ClusterLists::Build(points, tight), Code::kResourceExhausted);
  EXPECT_EQ(small.used_bytes(), 0u);
}

TEST(ClusterLists, StopWhenTold) {
  const VectorTable points = NormalVectors({.count = 3000, .dimension = 64, .seed = 5});
  for (int left : {0, 1, 5, 50}) {
    ClusterListOptions options{.vectors_per_cluster = 20};
    options.pause = [&left] {
      return left-- > 0 ? Status::Ok() : Status(Code::kCancelled, "stop");
    };
    EXPECT_CODE(ClusterLists::Build(points, options), Code::kCancelled);
  }
}

}  // namespace
}  // namespace pigment
