// SPDX-License-Identifier: Apache-2.0
//
// A widening finds what it says of vectors that were not asked, and is none where no widening does.

#include "engine/vector/stand_in.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/vector/distance.h"
#include "tests/support/made_vectors.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

constexpr size_t kNeighbors = 10;

std::vector<uint32_t> Nearest(const VectorTable& vectors, Metric metric, uint32_t query,
                              size_t count) {
  const DistanceFunction distance(metric, vectors.vector(query));
  std::vector<float> distances(vectors.count());
  for (uint32_t i = 0; i < vectors.count(); ++i) distances[i] = distance(vectors.row(i));
  std::vector<uint32_t> order(vectors.count());
  std::iota(order.begin(), order.end(), 0u);
  std::erase(order, query);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return distances[i]; });
  order.resize(std::min(order.size(), count));
  return order;
}

VectorTable Bits(const VectorTable& made, float from) {
  VectorTable bits(made.dimension(), nullptr);
  EXPECT_OK(bits.Reserve(made.count()));
  std::vector<float> vector(made.dimension());
  for (uint32_t i = 0; i < made.count(); ++i) {
    std::ranges::transform(made.vector(i), vector.begin(),
                           [&](float value) { return value > from ? 1.0f : 0.0f; });
    bits.Add(vector);
  }
  return bits;
}

TEST(Widening, OfAMetricOfItsOwnIsNone) {
  const VectorTable vectors = NormalVectors({.count = 100, .dimension = 8, .seed = 1});
  for (const Metric metric : {Metric::kL2, Metric::kCosineNan, Metric::kIp, Metric::kHamming})
    EXPECT_EQ(FindWidening(vectors, metric, {}).value(), 1.0f) << MetricName(metric);
}

TEST(Widening, FindsNeighboursOfVectorsThatWereNotAsked) {
  const VectorTable clusters =
      ClusteredVectors({.count = 4000, .dimension = 64, .clusters = 30, .seed = 2});
  const VectorTable bits =
      Bits(ClusteredVectors({.count = 4000, .dimension = 200, .clusters = 30, .seed = 3}), 0.2f);
  for (const auto& [metric, vectors] :
       {std::pair(Metric::kL1, &clusters), std::pair(Metric::kJaccard, &bits)}) {
    SCOPED_TRACE(MetricName(metric));
    const auto widening = FindWidening(*vectors, metric, {});
    ASSERT_OK(widening);
    ASSERT_TRUE(widening->has_value());
    const auto widened = static_cast<size_t>(kNeighbors * **widening);
    size_t found = 0, wanted = 0;
    for (uint32_t query = 0; query < vectors->count(); query += 100) {
      const auto among = Nearest(*vectors, SearchedBy(metric), query, widened);
      for (const uint32_t neighbor : Nearest(*vectors, metric, query, kNeighbors)) {
        found += static_cast<size_t>(std::ranges::count(among, neighbor));
        ++wanted;
      }
    }
    EXPECT_GE(static_cast<double>(found), 0.98 * static_cast<double>(wanted));
  }
}

// A few large numbers decide l2, and many small ones l1.
TEST(Widening, IsNoneWhereTheOtherMetricSaysNothing) {
  const VectorTable made = NormalVectors({.count = 3000, .dimension = 101, .seed = 4});
  VectorTable vectors(101, nullptr);
  ASSERT_OK(vectors.Reserve(made.count()));
  for (uint32_t i = 0; i < made.count(); ++i) {
    std::vector<float> vector(made.vector(i).begin(), made.vector(i).end());
    vector[0] *= 15;
    vectors.Add(vector);
  }
  const auto widening = FindWidening(vectors, Metric::kL1, {});
  ASSERT_OK(widening);
  EXPECT_FALSE(widening->has_value()) << **widening;
}

TEST(Widening, OfFewVectorsAndOfEqualOnes) {
  for (const uint32_t count : {1u, 2u, 11u}) {
    const VectorTable vectors = NormalVectors({.count = count, .dimension = 8, .seed = 5});
    EXPECT_OK(FindWidening(vectors, Metric::kL1, {})) << count;
  }
  VectorTable equal(8, nullptr);
  ASSERT_OK(equal.Reserve(50));
  for (int i = 0; i < 50; ++i) equal.Add(std::vector<float>(8, 1));
  EXPECT_OK(FindWidening(equal, Metric::kJaccard, {}));
}

}  // namespace
}  // namespace pigment
