// SPDX-License-Identifier: Apache-2.0
//
// Probes against sorting all distances: exact when they go everywhere and compare all, near enough
// before, under filters too; and calibrated reaches find what they promise.

#include "engine/vector/cluster_probe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "engine/vector/cluster_reach.h"
#include "engine/vector/cluster_table.h"
#include "tests/support/reach_checks.h"
#include "tests/support/status_matchers.h"
#include "tests/support/vector_world.h"

namespace pigment {
namespace {

ClusterLists ListsOf(const VectorTable& table, uint32_t vectors_per_cluster = 40,
                     uint32_t bits = 1) {
  auto lists =
      ClusterLists::Build(table, {.vectors_per_cluster = vectors_per_cluster, .bits = bits});
  EXPECT_OK(lists);
  return *std::move(lists);
}

Result<std::vector<Scored>> Probe(const VectorTable& table, const ClusterLists& lists,
                                  std::span<const float> query, const ClusterProbeOptions& options,
                                  ClusterProbe& probe) {
  ClusterTableSource source(table, lists, query);
  return probe.Search(source, SignCodeQuery(query, lists.bits()), table.count(), options);
}

bool SameHits(const std::vector<Scored>& a, const std::vector<Scored>& b) {
  return std::ranges::equal(a, b, [](const Scored& x, const Scored& y) {
    return x.distance == y.distance && x.tie == y.tie;
  });
}

std::vector<uint64_t> RandomMask(uint32_t count, double share, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution chosen(share);
  std::vector<uint64_t> mask((count + 63) / 64);
  for (uint32_t i = 0; i < count; ++i) mask[i / 64] |= uint64_t{chosen(random)} << (i % 64);
  return mask;
}

TEST(ClusterProbe, ThatGoesEverywhereIsExact) {
  for (const uint32_t dimension : {16u, 48u, 128u}) {
    const World world({.count = 920, .dimension = dimension, .clusters = 5, .seed = dimension}, 20);
    const ClusterLists lists = ListsOf(world.table, 40, ClusterCodeBits(dimension));
    ClusterProbe probe;
    for (const double share : {1.0, 0.3, 0.01}) {
      const auto mask = RandomMask(world.table.count(), share, dimension);
      for (const size_t k : {1u, 10u, 2000u}) {
        for (uint32_t i = 0; i < world.queries(); ++i) {
          const auto found =
              Probe(world.table, lists, world.query(i),
                    {.k = k, .reach = kEverywhere, .errors = kEverywhere, .allowed = mask}, probe);
          ASSERT_OK(found);
          EXPECT_TRUE(SameHits(*found, Nearest(world.table, world.query(i), k, mask)));
        }
      }
    }
  }
}

TEST(ClusterProbe, EndsEarlyAndFindsNearlyAll) {
  const World world({.count = 10'100, .dimension = 64, .clusters = 100, .spread = 0.6f, .seed = 9},
                    100);
  const ClusterLists lists = ListsOf(world.table);
  ClusterProbe probe;
  size_t hits = 0;
  uint64_t probed = 0;
  uint64_t compared = 0;
  for (uint32_t i = 0; i < world.queries(); ++i) {
    const auto found = Probe(world.table, lists, world.query(i), {.k = 10, .reach = 1.2f}, probe);
    ASSERT_OK(found);
    const float limit = Nearest(world.table, world.query(i), 10).back().distance;
    for (const Scored& hit : *found) hits += hit.distance <= limit ? 1 : 0;
    probed += probe.clusters_probed();
    compared += probe.vectors_compared();
  }
  EXPECT_GT(hits, 970u);
  EXPECT_LT(probed, 100u * lists.clusters() / 4);
  EXPECT_LT(compared, 100u * 400);
}

TEST(ClusterProbe, OfSoManyClusters) {
  const World world({.count = 2010, .dimension = 32, .seed = 10}, 10);
  const ClusterLists lists = ListsOf(world.table);
  ClusterProbe probe;
  for (const size_t clusters : {1u, 3u, 17u, 40u}) {
    ASSERT_OK(Probe(world.table, lists, world.query(0),
                    {.k = 10, .reach = kEverywhere, .clusters_max = clusters}, probe));
    EXPECT_EQ(probe.clusters_probed(), clusters);
  }
}

// What is absent is not found, and steps tell what was.
TEST(ClusterProbe, LeavesOutWhatIsAbsent) {
  const World world({.count = 1010, .dimension = 32, .seed = 11}, 10);
  const ClusterLists lists = ListsOf(world.table);
  ClusterProbe probe;
  std::vector<SearchStep> steps;
  const auto found = Probe(world.table, lists, world.table.vector(77),
                           {.k = 5, .reach = kEverywhere, .absent = 77, .steps = &steps}, probe);
  ASSERT_OK(found);
  for (const Scored& hit : *found) EXPECT_NE(hit.tie, 77u);
  size_t visits = 0;
  size_t compared = 0;
  for (const SearchStep& step : steps) {
    EXPECT_EQ(step.is_visit, step.vector == SearchStep::kNoVector);
    step.is_visit ? ++visits : ++compared;
  }
  EXPECT_EQ(visits, probe.clusters_probed());
  EXPECT_EQ(compared, probe.vectors_compared());
}

// Where nothing is allowed all is looked at and nothing found.
TEST(ClusterProbe, OfNothingFindsNothing) {
  const World world({.count = 510, .dimension = 16, .seed = 12}, 10);
  const ClusterLists lists = ListsOf(world.table);
  const std::vector<uint64_t> none((world.table.count() + 63) / 64);
  ClusterProbe probe;
  const auto found = Probe(world.table, lists, world.query(0), {.k = 5, .allowed = none}, probe);
  ASSERT_OK(found);
  EXPECT_TRUE(found->empty());
  EXPECT_EQ(probe.vectors_compared(), 0u);
  const auto nothing_wanted = Probe(world.table, lists, world.query(0), {.k = 0}, probe);
  ASSERT_OK(nothing_wanted);
  EXPECT_TRUE(nothing_wanted->empty());
}

// Be the mask asked before the codes or after them: the same vectors, from the same comparisons.
TEST(ClusterProbe, OfMostAndOfFewFindsTheSame) {
  const World world({.count = 2010, .dimension = 32, .seed = 14}, 10);
  const ClusterLists lists = ListsOf(world.table);
  for (const uint64_t one_in : {2u, 10u}) {
    std::mt19937_64 random(one_in);
    std::vector<uint64_t> mask((world.table.count() + 63) / 64);
    for (uint32_t row = 0; row < world.table.count(); ++row)
      mask[row / 64] |= uint64_t{random() % one_in != 0} << (row % 64);
    for (uint32_t i = 0; i < world.queries(); ++i) {
      ClusterProbe before;
      ClusterProbe after;
      ClusterProbeOptions options{.k = 10, .reach = 1.2f, .allowed = mask};
      const auto few = Probe(world.table, lists, world.query(i), options, before);
      options.allows_most = true;
      const auto most = Probe(world.table, lists, world.query(i), options, after);
      ASSERT_OK(few);
      ASSERT_OK(most);
      ASSERT_EQ(few->size(), 10u);
      ASSERT_EQ(most->size(), few->size());
      for (size_t hit = 0; hit < few->size(); ++hit) EXPECT_EQ((*few)[hit].tie, (*most)[hit].tie);
      EXPECT_EQ(before.vectors_compared(), after.vectors_compared());
      EXPECT_EQ(before.clusters_probed(), after.clusters_probed());
    }
  }
}

// Links that lead nowhere are damage, be there a mask or not.
TEST(ClusterProbe, RefusesLinksBeyondTheVectors) {
  const World world({.count = 510, .dimension = 16, .seed = 13}, 10);
  const ClusterLists lists = ListsOf(world.table);
  ClusterProbe probe;
  ClusterTableSource source(world.table, lists, world.query(0));
  const std::vector<uint64_t> all((world.table.count() + 63) / 64, ~uint64_t{0});
  const ClusterProbeOptions options{.k = 5, .reach = kEverywhere, .errors = kEverywhere};
  ClusterProbeOptions masked = options;
  masked.allowed = all;
  const SignCodeQuery query(world.query(0));
  EXPECT_CODE(probe.Search(source, query, 100, options), Code::kDataLoss);
  EXPECT_CODE(probe.Search(source, query, 100, masked), Code::kDataLoss);
  masked.allows_most = true;
  EXPECT_CODE(probe.Search(source, query, 100, masked), Code::kDataLoss);
}

class CalibratedClusters {
 public:
  explicit CalibratedClusters(const MadeVectors& made)
      : world(made, 100),
        lists_(ListsOf(world.table)),
        reach(CalibrateReach(world.table, lists_, {}).value()) {}

  SearchOfWorld search() {
    return [this](uint32_t query, const TriedSearch& tried, uint64_t* visits) {
      auto found = Probe(
          world.table, lists_, world.query(query),
          {.k = tried.k, .reach = tried.reach, .masked = tried.masked, .allowed = tried.allowed},
          probe_);
      *visits += probe_.clusters_probed();
      return found;
    };
  }

  const World world;

 private:
  const ClusterLists lists_;
  ClusterProbe probe_;

 public:
  const ReachTable reach;
};

TEST(ClusterReach, FindsWhatWasWantedOfNewQueries) {
  const MadeVectors cases[] = {
      {.count = 10'100, .dimension = 48, .clusters = 50, .spread = 0.5f, .seed = 1},
      {.count = 10'100, .dimension = 32, .seed = 2},
      {.count = 10'100, .dimension = 128, .clusters = 20, .spread = 0.3f, .seed = 3},
  };
  for (const MadeVectors& made : cases) {
    SCOPED_TRACE(::testing::Message() << "seed " << made.seed);
    CalibratedClusters clusters(made);
    ExpectWhatWasWanted(clusters.world, clusters.reach, 2, 10, clusters.search());
  }
}

// Vectors that lie all around their centroid are nearer to it than to each other.
TEST(ClusterReach, IsBelowOneWhereCentroidsAreNearerThanVectors) {
  CalibratedClusters clusters(
      {.count = 10'100, .dimension = 128, .clusters = 250, .spread = 0.5f, .seed = 4});
  EXPECT_LT(clusters.reach.For(10, 0.98).reach, 0.95f);
  ExpectWhatWasWanted(clusters.world, clusters.reach, 2, 10, clusters.search());
}

TEST(ClusterReach, OfAPartOfTheVectorsIsKnownByWhatIsMet) {
  for (const uint32_t dimension : {16u, 32u}) {
    SCOPED_TRACE(::testing::Message() << "dimension " << dimension);
    CalibratedClusters clusters({.count = 10100, .dimension = dimension, .seed = dimension});
    ExpectMasksAreKnownByWhatIsMet(clusters.world, clusters.reach, clusters.search());
  }
}

// Where enough was found elsewhere, what is nearer is found with fewer clusters; the nearest alone
// is owed more of them than one of many.
TEST(ClusterReach, OfWhatIsWantedNeedsFewerClusters) {
  const World world({.count = 10100, .dimension = 32, .clusters = 20, .spread = 0.8f, .seed = 9},
                    100);
  const ClusterLists lists = ListsOf(world.table);
  const float reach = CalibrateReach(world.table, lists, {}).value().For(10, 0.98).reach;
  ClusterProbe probe;
  const auto probed = [&](uint32_t i, float wanted, size_t rank) {
    const auto found =
        Probe(world.table, lists, world.query(i),
              {.k = 10, .reach = reach, .wanted = wanted, .wanted_rank = rank}, probe);
    EXPECT_OK(found);
    return found.ok() ? *found : std::vector<Scored>();
  };
  for (const size_t rank : {1u, 2u}) {
    SCOPED_TRACE(::testing::Message() << rank << " wanted");
    uint64_t with_all = 0, with_wanted = 0, of_many = 0;
    size_t right = 0;
    for (uint32_t i = 0; i < world.queries(); ++i) {
      const float wanted = Nearest(world.table, world.query(i), rank).back().distance;
      probed(i, std::numeric_limits<float>::quiet_NaN(), rank);
      with_all += probe.clusters_probed();
      probed(i, wanted, 100);
      of_many += probe.clusters_probed();
      for (const Scored& hit : probed(i, wanted, rank)) right += hit.distance <= wanted ? 1 : 0;
      with_wanted += probe.clusters_probed();
    }
    EXPECT_GE(static_cast<double>(right), 0.96 * static_cast<double>(world.queries() * rank));
    EXPECT_GT(of_many, 0u);
    EXPECT_LT(of_many, with_all * 19 / 20);
    EXPECT_LT(of_many, with_wanted);
    EXPECT_LT(with_wanted, with_all);
  }
}

TEST(ClusterReach, IsTheSameAgainAndThereForAVectorOrTwo) {
  for (const uint32_t count : {1u, 2u, 5u, 900u}) {
    const VectorTable table = NormalVectors({.count = count, .dimension = 16, .seed = 5});
    const ClusterLists lists = ListsOf(table);
    const auto first = CalibrateReach(table, lists, {});
    const auto again = CalibrateReach(table, lists, {});
    ASSERT_OK(first);
    ASSERT_OK(again);
    for (size_t row = 0; row < first->values.size(); ++row) {
      for (size_t i = 0; i < first->values[row].size(); ++i) {
        EXPECT_FALSE(std::isnan(first->values[row][i].reach));
        EXPECT_EQ(first->values[row][i].reach, again->values[row][i].reach);
        EXPECT_EQ(first->values[row][i].visits, again->values[row][i].visits);
      }
    }
  }
}

}  // namespace
}  // namespace pigment
