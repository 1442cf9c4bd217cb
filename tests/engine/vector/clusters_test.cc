// SPDX-License-Identifier: Apache-2.0
//
// Clusters find those that are there, and the nearest centroids are the nearest.

#include "engine/vector/clusters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "tests/support/made_vectors.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

std::vector<uint32_t> AllRows(const VectorTable& table) {
  std::vector<uint32_t> rows(table.count());
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

TEST(Clusters, FindWellSeparatedOnes) {
  constexpr uint32_t kClusters = 10;
  const VectorTable table = ClusteredVectors(
      {.count = 1000, .dimension = 24, .clusters = kClusters, .spread = 0.05f, .seed = 1});
  ClusterOptions options;
  options.clusters = 4 * kClusters;  // more centroids than clusters: each gets some
  auto made = Clusters::Make(table, options);
  ASSERT_OK(made);
  ASSERT_EQ(made->centroids().count(), 4 * kClusters);
  std::vector<uint32_t> nearest(table.count());
  std::vector<float> distances(table.count());
  ASSERT_OK(made->FindNearest(table, AllRows(table), 1, nearest.data(), distances.data(), {}));
  // Vector i is of cluster i % kClusters: no centroid is shared by two.
  std::vector<std::set<uint32_t>> clusters_of(made->centroids().count());
  for (uint32_t i = 0; i < table.count(); ++i) clusters_of[nearest[i]].insert(i % kClusters);
  for (const auto& clusters : clusters_of) EXPECT_LE(clusters.size(), 1u);
  EXPECT_LT(*std::max_element(distances.begin(), distances.end()), 24 * 0.05 * 0.05 * 6);
}

TEST(Clusters, NearestAreTheNearestInOrder) {
  const VectorTable table = NormalVectors({.count = 300, .dimension = 17, .seed = 2});
  ClusterOptions options;
  options.clusters = 50;
  auto made = Clusters::Make(table, options);
  ASSERT_OK(made);
  constexpr uint32_t kNear = 7;
  std::vector<uint32_t> nearest(300 * kNear);
  std::vector<float> distances(300 * kNear);
  ASSERT_OK(made->FindNearest(table, AllRows(table), kNear, nearest.data(), distances.data(), {}));
  const VectorTable& centroids = made->centroids();
  for (uint32_t i = 0; i < 300; ++i) {
    std::vector<float> expected;
    for (uint32_t c = 0; c < centroids.count(); ++c)
      expected.push_back(Distance(Metric::kL2, table.row(i), centroids.row(c), 17));
    for (uint32_t j = 0; j < kNear; ++j) {
      EXPECT_NEAR(distances[i * kNear + j], expected[nearest[i * kNear + j]], 1e-4);
    }
    std::sort(expected.begin(), expected.end());
    for (uint32_t j = 0; j < kNear; ++j) EXPECT_NEAR(distances[i * kNear + j], expected[j], 1e-4);
  }
}

// The codes of such centroids are all alike.
TEST(Clusters, NearestAreTheNearestWhereSomeAreFarFromAllOthers) {
  constexpr uint32_t kNear = 5, kCount = 600, kDimension = 32;
  const VectorTable table = ClusteredVectors(
      {.count = kCount, .dimension = kDimension, .clusters = 3, .spread = 1e-3f, .seed = 5});
  ClusterOptions options;
  options.clusters = 60;
  auto made = Clusters::Make(table, options);
  ASSERT_OK(made);
  std::vector<uint32_t> nearest(kCount * kNear);
  ASSERT_OK(made->FindNearest(table, AllRows(table), kNear, nearest.data(), nullptr, {}));
  const VectorTable& centroids = made->centroids();
  for (uint32_t i = 0; i < kCount; ++i) {
    std::vector<float> expected;
    for (uint32_t c = 0; c < centroids.count(); ++c)
      expected.push_back(Distance(Metric::kL2, table.row(i), centroids.row(c), kDimension));
    std::vector<float> found;
    for (uint32_t j = 0; j < kNear; ++j) found.push_back(expected[nearest[i * kNear + j]]);
    std::sort(expected.begin(), expected.end());
    for (uint32_t j = 0; j < kNear; ++j) EXPECT_NEAR(found[j], expected[j], 2e-5);
  }
}

TEST(Clusters, OfFewOrEqualVectors) {
  for (const uint32_t count : {1u, 2u, 40u}) {
    VectorTable table(3, nullptr);
    ASSERT_OK(table.Reserve(count));
    for (uint32_t i = 0; i < count; ++i) table.Add(std::vector<float>{1, 2, 3});
    ClusterOptions options;
    options.clusters = 20;
    auto made = Clusters::Make(table, options);
    ASSERT_OK(made);
    EXPECT_EQ(made->centroids().count(), std::min(count, 20u));
    std::vector<uint32_t> nearest(count);
    std::vector<float> distances(count);
    ASSERT_OK(made->FindNearest(table, AllRows(table), 1, nearest.data(), distances.data(), {}));
    for (const float distance : distances) EXPECT_EQ(distance, 0);
  }
}

TEST(Clusters, AreTheSameAgainAndOthersWithAnotherSeed) {
  const VectorTable table = NormalVectors({.count = 500, .dimension = 8, .seed = 3});
  const auto centroids = [&](uint64_t seed) {
    ClusterOptions options;
    options.clusters = 16;
    options.seed = seed;
    auto made = Clusters::Make(table, options);
    std::vector<float> values;
    for (uint32_t c = 0; c < 16; ++c) {
      const auto centroid = made->centroids().vector(c);
      values.insert(values.end(), centroid.begin(), centroid.end());
    }
    return values;
  };
  EXPECT_EQ(centroids(1), centroids(1));
  EXPECT_NE(centroids(1), centroids(2));
}

TEST(Clusters, OfNearNumbersAreNearEachOther) {
  const VectorTable table =
      ClusteredVectors({.count = 4000, .dimension = 16, .clusters = 25, .spread = 0.1f, .seed = 6});
  auto clustering = Clustering::Make(table, 20, 3, {});
  ASSERT_OK(clustering);
  const std::vector<uint32_t> middles = clustering->Middles();
  ASSERT_GT(middles.size(), 100u);
  double next = 0, any = 0;
  for (size_t i = 0; i + 1 < middles.size(); ++i) {
    next += table.Distance(middles[i], middles[i + 1]);
    any += table.Distance(middles[i], middles[(i * 37 + 11) % middles.size()]);
  }
  EXPECT_LT(next, 0.5 * any);
}

TEST(Clusters, OfVectorsTooFarApartForDistancesAreMade) {
  VectorTable table = NormalVectors({.count = 200, .dimension = 8, .seed = 7});
  std::vector<float> vector(8);
  for (uint32_t i = 0; i < table.count(); ++i) {
    for (uint32_t d = 0; d < 8; ++d) vector[d] = table.row(i)[d] * 1e25f;
    table.Set(i, vector);
  }
  auto clustering = Clustering::Make(table, 10, 3, {});
  ASSERT_OK(clustering);
  for (uint32_t i = 0; i < table.count(); ++i) {
    for (const uint32_t cluster : clustering->of(i)) EXPECT_LT(cluster, clustering->clusters());
  }
}

TEST(Clusters, StopWhenTheyAreTold) {
  const VectorTable table = NormalVectors({.count = 500, .dimension = 8, .seed = 4});
  for (int last = 0; last < 20; ++last) {
    ClusterOptions options;
    options.clusters = 16;
    int pauses = 0;
    options.pause = [&] {
      return pauses++ == last ? Status(Code::kCancelled, "stopped") : Status::Ok();
    };
    EXPECT_CODE(Clusters::Make(table, options), Code::kCancelled);
  }
}

TEST(Clusters, ChargeWhatTheyTakeAndGiveItBack) {
  MemoryBudget budget("test", 2'000);
  const VectorTable table = NormalVectors({.count = 500, .dimension = 8, .seed = 5});
  ClusterOptions options;
  options.clusters = 16;
  options.budget = &budget;
  EXPECT_CODE(Clusters::Make(table, options), Code::kResourceExhausted);
  EXPECT_EQ(budget.used_bytes(), 0u);
}

}  // namespace
}  // namespace pigment
