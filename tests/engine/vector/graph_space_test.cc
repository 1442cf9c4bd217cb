// SPDX-License-Identifier: Apache-2.0
//
// Squared distances of points ascend with the distances of their vectors, for every metric that a
// graph serves.

#include "engine/vector/graph_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/vector/distance.h"
#include "engine/vector/graph_node.h"
#include "tests/support/made_vectors.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

// The vectors of `made` as MakePoints takes them.
VectorTable Padded(const VectorTable& made, Metric metric) {
  VectorTable table(GraphSpace::PointDimension(metric, made.dimension()), nullptr);
  (void)table.Reserve(made.count());
  std::vector<float> padded(table.dimension());
  for (uint32_t i = 0; i < made.count(); ++i) {
    std::copy_n(made.row(i), made.dimension(), padded.begin());
    table.Add(padded);
  }
  return table;
}

VectorTable Shifted(const VectorTable& made, float by, float times) {
  VectorTable table(made.dimension(), nullptr);
  (void)table.Reserve(made.count());
  for (uint32_t i = 0; i < made.count(); ++i) {
    std::vector<float> vector(made.vector(i).begin(), made.vector(i).end());
    for (float& value : vector) value = value * times + by;
    table.Add(vector);
  }
  return table;
}

TEST(GraphSpace, SquaresAreThoseOfTheDistances) {
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kIp}) {
    for (const uint32_t dimension : {1u, 5u, 16u, 100u, 384u}) {
      SCOPED_TRACE(::testing::Message() << MetricName(metric) << " " << dimension);
      const VectorTable made =
          Shifted(NormalVectors({.count = 60, .dimension = dimension, .seed = dimension}), 0.3f, 2);
      VectorTable points = Padded(made, metric);
      GraphSpaceNumbers numbers;
      const auto is_useful = GraphSpace::MakePoints(metric, dimension, {}, points, numbers);
      ASSERT_OK(is_useful);
      ASSERT_TRUE(*is_useful);
      const GraphSpace space(metric, dimension, numbers);
      std::vector<float> again(space.point_dimension());
      for (uint32_t i = 0; i < made.count(); ++i) {
        space.MakePoint(made.vector(i), again.data());
        EXPECT_TRUE(std::equal(again.begin(), again.end(), points.row(i))) << i;
      }
      for (uint32_t i = 50; i < made.count(); ++i) {
        const GraphQuery query(space, made.vector(i));
        EXPECT_TRUE(query.is_finite());
        EXPECT_NEAR(query.centre_square(),
                    InnerProduct(query.point().data(), query.point().data(), query.point().size()),
                    1e-4f * query.centre_square());
        for (uint32_t j = 0; j < 50; ++j) {
          const float square =
              Distance(Metric::kL2, query.point().data(), points.row(j), points.dimension());
          const float distance = Distance(metric, made.row(i), made.row(j), dimension);
          const float scale = points.square(j) + query.centre_square();
          EXPECT_NEAR(query.SquareOf(distance), square, 1e-4f * scale);
        }
      }
    }
  }
}

TEST(GraphSpace, CentresWhatLiesFarFromZero) {
  const VectorTable made =
      Shifted(NormalVectors({.count = 200, .dimension = 32, .seed = 1}), 1000, 1);
  VectorTable points = Padded(made, Metric::kL2);
  GraphSpaceNumbers numbers;
  ASSERT_OK(GraphSpace::MakePoints(Metric::kL2, 32, {}, points, numbers));
  for (uint32_t i = 0; i < points.count(); ++i) EXPECT_LT(points.square(i), 32 * 16);
}

TEST(GraphSpace, HasNoUseForWhatHasNoSquaresOrNoDistances) {
  const VectorTable made = NormalVectors({.count = 50, .dimension = 8, .seed = 2});
  struct Case {
    Metric metric;
    float by;
    float times;
    bool is_useful;
  };
  const Case cases[] = {
      {Metric::kL2, 0, 1e18f, false},     {Metric::kIp, 0, 1e18f, false},
      {Metric::kCosine, 0, 1e18f, true},  {Metric::kL2, 0, 1e-18f, false},
      {Metric::kCosine, 0, 1e-18f, true}, {Metric::kL2, 1, 0, false},
      {Metric::kL2, 0, 0, false},         {Metric::kCosine, 0, 0, false},
      {Metric::kL2, 0, 1e10f, true},      {Metric::kIp, 0, 1e-10f, true},
  };
  for (const Case& of : cases) {
    SCOPED_TRACE(::testing::Message() << MetricName(of.metric) << " " << of.by << " " << of.times);
    VectorTable points = Padded(Shifted(made, of.by, of.times), of.metric);
    GraphSpaceNumbers numbers;
    const auto is_useful = GraphSpace::MakePoints(of.metric, 8, {}, points, numbers);
    ASSERT_OK(is_useful);
    EXPECT_EQ(*is_useful, of.is_useful);
  }
}

TEST(GraphSpace, SaysWhichQueriesHaveNoSquares) {
  const VectorTable made = NormalVectors({.count = 50, .dimension = 8, .seed = 3});
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kIp}) {
    VectorTable points = Padded(made, metric);
    GraphSpaceNumbers numbers;
    ASSERT_OK(GraphSpace::MakePoints(metric, 8, {}, points, numbers));
    const GraphSpace space(metric, 8, numbers);
    EXPECT_TRUE(GraphQuery(space, std::vector<float>(8, 0)).is_finite());
    EXPECT_EQ(GraphQuery(space, std::vector<float>(8, 3e38f)).is_finite(),
              metric == Metric::kCosine);
  }
}

// What codes around the centre say of bits is their distance.
TEST(GraphSpace, OfBitsHasExactCodes) {
  constexpr uint32_t kLinks = 20;
  for (const uint32_t dimension : {1u, 16u, 77u, 384u, 1000u}) {
    SCOPED_TRACE(dimension);
    const VectorTable made =
        NormalVectors({.count = kLinks + 1, .dimension = dimension, .seed = dimension});
    const GraphSpace space(Metric::kHamming, dimension, GraphSpace::NumbersOfBits(dimension));
    EXPECT_TRUE(space.has_exact_codes());
    VectorTable bits(dimension, nullptr);
    VectorTable points(space.point_dimension(), nullptr);
    ASSERT_OK(bits.Reserve(made.count()));
    ASSERT_OK(points.Reserve(made.count()));
    std::vector<uint32_t> links;
    for (uint32_t i = 0; i < made.count(); ++i) {
      std::vector<float> vector(dimension), point(points.dimension());
      std::ranges::transform(made.vector(i), vector.begin(),
                             [](float value) { return value > 0 ? 1.0f : 0.0f; });
      bits.Add(vector);
      space.MakePoint(vector, point.data());
      points.Add(point);
      if (i < kLinks) links.push_back(i);
    }
    const uint32_t places = GraphNodePlaces(kLinks);
    std::vector<std::byte> bytes(GraphNodeBytes(points.dimension(), places));
    EncodeGraphNode(
        std::vector<float>(points.dimension()), 1, links, places,
        [&](uint32_t link) { return points.vector(link); }, bytes.data());
    GraphNode node;
    ASSERT_TRUE(GraphNode::Read(bytes, points.dimension(), places, &node));
    const GraphQuery query(space, bits.vector(kLinks));
    EXPECT_FLOAT_EQ(query.centre_square(), static_cast<float>(dimension) / 4);
    float estimates[kLinksPerNodeMax];
    node.Estimate(SignCodeQuery(query.point()), query.centre_square(), estimates);
    for (const uint32_t link : links) {
      const float exact = Distance(Metric::kHamming, bits.row(kLinks), bits.row(link), dimension);
      EXPECT_EQ(query.SquareOf(exact), exact);
      EXPECT_NEAR(estimates[link], exact, 0.01) << link;
      EXPECT_EQ(points.Distance(kLinks, link), exact) << link;
    }
  }
}

}  // namespace
}  // namespace pigment
