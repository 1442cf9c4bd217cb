// SPDX-License-Identifier: Apache-2.0
//
// Nodes give back their links, estimate as the formula says, and refuse bytes that are no node;
// with codes of any bits.

#include "engine/vector/graph_node.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "tests/support/made_vectors.h"

namespace pigment {
namespace {

constexpr uint32_t kDimension = 64;
constexpr float kNoLimit = std::numeric_limits<float>::quiet_NaN();

struct Encoded {
  std::vector<std::byte> bytes;
  std::vector<uint32_t> links;
  uint32_t places;
};

class GraphNodeOfBits : public ::testing::TestWithParam<uint32_t> {
 protected:
  const uint32_t bits_ = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Bits, GraphNodeOfBits, ::testing::Range(1u, kLevelBitsMax + 1));

// Standard errors of r . p, in |r| |p| / sqrt(d), of codes of these bits.
constexpr double kErrors[] = {0, 0.7555, 0.3673, 0.1972, 0.1081};

// A node of vector 0 with links to the next `count`.
Encoded Encode(const VectorTable& table, uint32_t count, uint32_t bits = 1) {
  Encoded encoded;
  for (uint32_t i = 1; i <= count; ++i) encoded.links.push_back(i);
  encoded.places = GraphNodePlaces(std::max(count, 1u));
  encoded.bytes.resize(GraphNodeBytes(bits * kDimension, encoded.places));
  EncodeGraphNode(
      table.vector(0), bits, encoded.links, encoded.places,
      [&](uint32_t link) { return table.vector(link); }, encoded.bytes.data());
  return encoded;
}

TEST_P(GraphNodeOfBits, EstimatesWithinItsErrorForAnyNumberOfLinks) {
  const VectorTable table = NormalVectors({.count = 40, .dimension = kDimension, .seed = 1});
  const auto query = table.vector(39);
  const SignCodeQuery prepared(query, bits_);
  const float distance = table.Distance(0, 39);
  double squares = 0;
  int estimated = 0;
  for (uint32_t count = 0; count <= kLinksPerNodeMax; ++count) {
    SCOPED_TRACE(::testing::Message() << count << " links");
    const Encoded encoded = Encode(table, count, bits_);
    GraphNode node;
    ASSERT_TRUE(GraphNode::Read(encoded.bytes, bits_ * kDimension, encoded.places, &node));
    ASSERT_EQ(node.links(), count);
    float estimates[kLinksPerNodeMax];
    node.Estimate(prepared, distance, estimates);
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(node.link(i), encoded.links[i]);
      // r . (q - c) is off by 1 / sqrt(d) of |r| |q - c|, times what the bits leave.
      const double exact = table.Distance(node.link(i), 39);
      const double unit = 2 * std::sqrt(table.Distance(0, node.link(i)) * distance / kDimension);
      squares += std::pow((estimates[i] - exact) / unit, 2);
      ++estimated;
      EXPECT_NEAR(estimates[i], exact, 5 * kErrors[bits_] * unit);
    }
  }
  EXPECT_NEAR(std::sqrt(squares / estimated) / kErrors[bits_], 1, 0.3);
}

// About as many bounds are above their distances as a normal error says; less, because query and
// links begin at the node and what they share is estimated without error.
TEST_P(GraphNodeOfBits, BoundsAreBelowByStandardErrors) {
  const VectorTable table = NormalVectors({.count = 400, .dimension = kDimension, .seed = 5});
  const Encoded encoded = Encode(table, kLinksPerNodeMax, bits_);
  GraphNode node;
  ASSERT_TRUE(GraphNode::Read(encoded.bytes, bits_ * kDimension, encoded.places, &node));
  for (const auto& [errors, least, most] :
       {std::tuple(0.0f, 0.4, 0.6), std::tuple(1.0f, 0.08, 0.18), std::tuple(2.0f, 0.002, 0.03)}) {
    int above = 0;
    int bounds = 0;
    for (uint32_t query = kLinksPerNodeMax + 1; query < table.count(); ++query) {
      float bound[kLinksPerNodeMax];
      (void)node.LinksWithin(SignCodeQuery(table.vector(query), bits_), table.Distance(0, query),
                             errors, kNoLimit, bound);
      for (uint32_t i = 0; i < node.links(); ++i, ++bounds)
        above += bound[i] > table.Distance(node.link(i), query) ? 1 : 0;
    }
    EXPECT_GT(above, least * bounds) << errors;
    EXPECT_LT(above, most * bounds) << errors;
  }
}

// Whatever the number of links: places behind them are no links, however near.
TEST_P(GraphNodeOfBits, TellsWhichLinksAreWithinALimit) {
  const VectorTable table = NormalVectors({.count = 40, .dimension = kDimension, .seed = 7});
  const SignCodeQuery query(table.vector(39), bits_);
  const float distance = table.Distance(0, 39);
  for (uint32_t count = 0; count <= kLinksPerNodeMax; ++count) {
    SCOPED_TRACE(::testing::Message() << count << " links");
    const Encoded encoded = Encode(table, count, bits_);
    GraphNode node;
    ASSERT_TRUE(GraphNode::Read(encoded.bytes, bits_ * kDimension, encoded.places, &node));
    float estimates[kLinksPerNodeMax];
    node.Estimate(query, distance, estimates);
    std::vector<float> limits = {kNoLimit, 0, std::numeric_limits<float>::infinity()};
    limits.insert(limits.end(), estimates, estimates + count);
    for (const float limit : limits) {
      float bounds[kLinksPerNodeMax];
      const uint32_t within = node.LinksWithin(query, distance, 0, limit, bounds);
      uint32_t expected = 0;
      for (uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(bounds[i], estimates[i]);
        expected |= static_cast<uint32_t>(!(estimates[i] > limit)) << i;
      }
      EXPECT_EQ(within, expected) << limit;
    }
  }
}

TEST(GraphNode, OfAVectorLikeItsNodeIsEstimatedExactly) {
  VectorTable table(kDimension, nullptr);
  ASSERT_TRUE(table.Reserve(3).ok());
  for (int i = 0; i < 2; ++i) table.Add(std::vector<float>(kDimension, 0.5f));
  table.Add(std::vector<float>(kDimension, 1));
  const Encoded encoded = Encode(table, 1);
  GraphNode node;
  ASSERT_TRUE(GraphNode::Read(encoded.bytes, kDimension, encoded.places, &node));
  float estimates[kLinksPerNodeMax];
  node.Estimate(SignCodeQuery(table.vector(2)), table.Distance(0, 2), estimates);
  EXPECT_FLOAT_EQ(estimates[0], table.Distance(1, 2));
}

TEST(GraphNode, KeepsItsNumbersAtAnyMagnitude) {
  const VectorTable table = NormalVectors({.count = 40, .dimension = kDimension, .seed = 3});
  for (const float magnitude : {1e-10f, 1e-3f, 1e3f, 1e10f}) {
    VectorTable scaled(kDimension, nullptr);
    ASSERT_TRUE(scaled.Reserve(table.count()).ok());
    for (uint32_t i = 0; i < table.count(); ++i) {
      std::vector<float> vector(table.vector(i).begin(), table.vector(i).end());
      for (float& value : vector) value *= magnitude;
      scaled.Add(vector);
    }
    const Encoded encoded = Encode(scaled, 24);
    GraphNode node;
    ASSERT_TRUE(GraphNode::Read(encoded.bytes, kDimension, encoded.places, &node));
    float estimates[kLinksPerNodeMax];
    const float distance = scaled.Distance(0, 39);
    node.Estimate(SignCodeQuery(scaled.vector(39)), distance, estimates);
    for (uint32_t i = 0; i < 24; ++i) {
      const double unit =
          2 * std::sqrt(double{scaled.Distance(0, node.link(i))} * distance / kDimension);
      EXPECT_NEAR(estimates[i], scaled.Distance(node.link(i), 39), 5 * unit) << magnitude;
    }
  }
}

TEST(GraphNode, RefusesBytesThatAreNone) {
  const VectorTable table = NormalVectors({.count = 40, .dimension = kDimension, .seed = 2});
  for (const uint32_t count : {0u, 1u, 9u, 32u}) {
    Encoded encoded = Encode(table, count);
    GraphNode node;
    for (size_t size = 0; size < encoded.bytes.size(); ++size) {
      ASSERT_FALSE(
          GraphNode::Read(std::span(encoded.bytes).first(size), kDimension, encoded.places, &node))
          << size << " of " << encoded.bytes.size() << " bytes";
    }
    const uint32_t too_many = encoded.places + 1;
    std::memcpy(encoded.bytes.data(), &too_many, sizeof too_many);
    encoded.bytes.resize(100'000);
    EXPECT_FALSE(GraphNode::Read(encoded.bytes, kDimension, encoded.places, &node));
  }
}

}  // namespace
}  // namespace pigment
