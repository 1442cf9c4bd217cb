// SPDX-License-Identifier: Apache-2.0
//
// Neighbour lists against all pairs: nearly all of the nearest, on data of several kinds, and
// nothing that is wrong.

#include "engine/vector/neighbors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "tests/support/made_vectors.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

// Share of the `k` nearest of some vectors that their lists have. Equal distances count alike.
double Recall(const VectorTable& table, const NeighborLists& lists, uint32_t k) {
  size_t found = 0;
  size_t wanted = 0;
  for (uint32_t i = 0; i < table.count(); i += std::max(1u, table.count() / 97)) {
    std::vector<float> distances;
    for (uint32_t j = 0; j < table.count(); ++j) {
      if (j != i) distances.push_back(table.Distance(i, j));
    }
    const size_t nearest = std::min<size_t>(k, distances.size());
    std::sort(distances.begin(), distances.end());
    const float last = distances[nearest - 1] * (1 + 1e-4f) + 1e-5f;
    size_t hits = 0;
    for (const Neighbor& neighbor : lists.of(i))
      hits += table.Distance(i, neighbor.vector) <= last ? 1 : 0;
    found += std::min(hits, nearest);
    wanted += nearest;
  }
  return static_cast<double>(found) / static_cast<double>(wanted);
}

void ExpectLegal(const VectorTable& table, const NeighborLists& lists) {
  for (uint32_t i = 0; i < table.count(); ++i) {
    const auto list = lists.of(i);
    std::set<uint32_t> seen = {i};
    for (size_t j = 0; j < list.size(); ++j) {
      ASSERT_LT(list[j].vector, table.count());
      ASSERT_TRUE(seen.insert(list[j].vector).second)
          << "vector " << i << " has " << list[j].vector;
      ASSERT_NEAR(list[j].distance, table.Distance(i, list[j].vector),
                  1e-5 * (table.square(i) + table.square(list[j].vector)) + 1e-6);
      if (j > 0) {
        ASSERT_LE(list[j - 1].distance, list[j].distance);
      }
    }
  }
}

Result<NeighborLists> Find(const VectorTable& table, const NeighborOptions& options) {
  ClusterOptions clusters;
  clusters.budget = options.budget;
  clusters.pause = options.pause;
  PIGMENT_ASSIGN_OR_RETURN(const Clustering clustering, Clustering::Make(table, 125, 12, clusters));
  PairCodes codes(options.budget);
  PIGMENT_RETURN_IF_ERROR(codes.Make(table, options.pause));
  return FindNeighbors(table, clustering, codes, options);
}

struct Case {
  const char* name;
  MadeVectors made;
  double recall;
};

TEST(Neighbors, AreNearlyAllOfTheNearest) {
  const Case cases[] = {
      {"normal, few dimensions", {.count = 1600, .dimension = 8, .seed = 1}, 0.98},
      {"normal, many dimensions", {.count = 1600, .dimension = 96, .seed = 2}, 0.75},
      {"clusters",
       {.count = 1600, .dimension = 32, .clusters = 40, .spread = 0.3f, .seed = 3},
       0.97},
      {"tight clusters",
       {.count = 1600, .dimension = 32, .clusters = 4, .spread = 0.001f, .seed = 4},
       0.9},
      {"one dimension", {.count = 1600, .dimension = 1, .seed = 5}, 0.99},
  };
  for (const Case& of : cases) {
    SCOPED_TRACE(of.name);
    const VectorTable table = ClusteredVectors(of.made);
    NeighborOptions options;
    options.list_max = 32;
    auto lists = Find(table, options);
    ASSERT_OK(lists);
    ExpectLegal(table, *lists);
    EXPECT_GE(Recall(table, *lists, 32), of.recall);
    options.descent = 0;
    auto first_step = Find(table, options);
    ASSERT_OK(first_step);
    ExpectLegal(table, *first_step);
    EXPECT_LE(Recall(table, *first_step, 32), Recall(table, *lists, 32));
  }
}

// A part of each cluster is compared, another one in each, so that most pairs meet in some.
TEST(Neighbors, AreFoundInClustersThatAreTooLarge) {
  const VectorTable table = NormalVectors({.count = 12'000, .dimension = 8, .seed = 8});
  auto clustering = Clustering::Make(table, 4000, 4, {});
  ASSERT_OK(clustering);
  const NumberLists members = clustering->Members(0, 2);
  size_t too_large = 0;
  for (uint32_t i = 0; i < clustering->clusters(); ++i)
    too_large += members.of(i).size() > kClusterMembersMax ? 1 : 0;
  ASSERT_GE(too_large, 3u);
  PairCodes codes(nullptr);
  ASSERT_OK(codes.Make(table, nullptr));
  NeighborOptions options;
  options.descent = 0;
  const auto lists = FindNeighbors(table, *clustering, codes, options);
  ASSERT_OK(lists);
  ExpectLegal(table, *lists);
  EXPECT_GE(Recall(table, *lists, 10), 0.65);  // by one part, the same everywhere, it is a half
}

TEST(Neighbors, OfFewVectorsAreAllOthers) {
  for (const uint32_t count : {1u, 2u, 3u, 31u}) {
    const VectorTable table = NormalVectors({.count = count, .dimension = 4, .seed = count});
    auto lists = Find(table, {});
    ASSERT_OK(lists);
    ExpectLegal(table, *lists);
    for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(lists->of(i).size(), count - 1);
  }
}

TEST(Neighbors, OfEqualVectorsAreOthersAtNoDistance) {
  VectorTable table(5, nullptr);
  ASSERT_OK(table.Reserve(1000));
  for (int i = 0; i < 1000; ++i) table.Add(std::vector<float>{0.5f, -3, 2.25f, 0, 1});
  auto lists = Find(table, {});
  ASSERT_OK(lists);
  ExpectLegal(table, *lists);
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(lists->of(i).size(), 64u);
}

TEST(Neighbors, AreTheSameAgain) {
  const VectorTable table = NormalVectors({.count = 1500, .dimension = 12, .seed = 6});
  auto first = Find(table, {});
  auto second = Find(table, {});
  ASSERT_OK(first);
  ASSERT_OK(second);
  for (uint32_t i = 0; i < table.count(); ++i)
    ASSERT_TRUE(std::ranges::equal(first->of(i), second->of(i))) << "vector " << i;
}

TEST(Neighbors, StopWhenTheyAreToldAndGiveTheirMemoryBack) {
  const VectorTable table = NormalVectors({.count = 2000, .dimension = 12, .seed = 7});
  MemoryBudget budget("test");
  int pauses = 0;
  NeighborOptions options;
  options.budget = &budget;
  options.pause = [&] { return ++pauses, Status::Ok(); };
  ASSERT_OK(Find(table, options));
  const int all = pauses;
  EXPECT_GT(all, 1000);
  for (int last = 0; last < all; last += all / 7) {
    pauses = 0;
    options.pause = [&] {
      return pauses++ == last ? Status(Code::kCancelled, "stopped") : Status::Ok();
    };
    EXPECT_CODE(Find(table, options), Code::kCancelled);
    EXPECT_EQ(budget.used_bytes(), 0u);
  }
  MemoryBudget small("test", 100'000);
  options.budget = &small;
  options.pause = nullptr;
  EXPECT_CODE(Find(table, options), Code::kResourceExhausted);
  EXPECT_EQ(small.used_bytes(), 0u);
}

}  // namespace
}  // namespace pigment
