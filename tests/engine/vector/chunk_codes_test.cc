// SPDX-License-Identifier: Apache-2.0
//
// Codes of chunks: bounds against distances, and which chunks share a middle.

#include "engine/vector/chunk_codes.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "engine/vector/distance.h"
#include "engine/vector/sign_code.h"

namespace pigment {
namespace {

constexpr uint32_t kChunkDimension = 96;

// Rows around a place, or the queries there.
std::vector<std::vector<float>> RowsAround(float place, uint32_t count, std::mt19937_64& random) {
  std::normal_distribution<float> numbers;
  std::vector<std::vector<float>> rows(count, std::vector<float>(kChunkDimension));
  for (std::vector<float>& row : rows)
    for (float& number : row) number = place + numbers(random);
  return rows;
}

ChunkCodes CodesOf(const std::shared_ptr<const GraphSpace>& space, Metric metric,
                   const std::vector<std::vector<float>>& rows, const ChunkCodes* before) {
  return ChunkCodes(
      space, metric, kChunkDimension, static_cast<uint32_t>(rows.size()),
      [&](uint32_t row) { return std::span<const float>(rows[row]); }, before);
}

// The part of the distances from a query to all rows that the bounds of `errors` standard errors
// are beyond.
double PartBeyond(const ChunkCodes& codes, const std::vector<std::vector<float>>& rows,
                  const std::vector<float>& vector, float errors) {
  const GraphQuery query(*codes.space(), vector);
  const SignCodeQuery signs(query.point(), ChunkCodeBits(*codes.space()));
  const float square =
      Distance(Metric::kL2, query.point().data(), codes.centroid().data(), query.point().size());
  std::vector<float> point(query.point().size());
  int seen = 0, beyond = 0;
  for (uint32_t number = 0; number < codes.nodes(); ++number) {
    const GraphNode node = codes.node(number);
    float bounds[kLinksPerNodeMax];
    (void)node.LinksWithin(signs, square, errors, std::numeric_limits<float>::quiet_NaN(), bounds);
    for (uint32_t i = 0; i < node.links(); ++i, ++seen) {
      codes.space()->MakePoint(rows[node.link(i)], point.data());
      const float distance =
          Distance(Metric::kL2, query.point().data(), point.data(), point.size());
      beyond += bounds[i] > distance ? 1 : 0;
    }
  }
  EXPECT_EQ(seen, static_cast<int>(rows.size()));
  return static_cast<double>(beyond) / seen;
}

TEST(ChunkCodes, ShareAMiddleWhereItIsAsGood) {
  std::mt19937_64 random(5);
  for (const Metric metric : {Metric::kL2, Metric::kCosine}) {
    const auto space = MakeChunkSpace(metric, kChunkDimension);
    const auto rows = RowsAround(0.5f, kChunkRows, random);
    const auto alike = RowsAround(0.5f, kChunkRows, random);
    const auto elsewhere = RowsAround(-0.5f, kChunkRows, random);
    const ChunkCodes first = CodesOf(space, metric, rows, nullptr);
    const ChunkCodes second = CodesOf(space, metric, alike, &first);
    const ChunkCodes third = CodesOf(space, metric, elsewhere, &second);
    EXPECT_EQ(second.centroid().data(), first.centroid().data());
    EXPECT_NE(third.centroid().data(), first.centroid().data());
    EXPECT_NE(CodesOf(space, metric, alike, nullptr).centroid().data(), first.centroid().data());
    // Bounds hold by either middle, and by half a standard error do not.
    const auto queries = RowsAround(0.5f, 40, random);
    double beyond[2] = {}, beyond_by_half[2] = {};
    for (const std::vector<float>& query : queries) {
      beyond[0] += PartBeyond(second, alike, query, 3.5f) / 40;
      beyond[1] += PartBeyond(third, elsewhere, query, 3.5f) / 40;
      beyond_by_half[0] += PartBeyond(second, alike, query, 0.5f) / 40;
      beyond_by_half[1] += PartBeyond(third, elsewhere, query, 0.5f) / 40;
    }
    for (const double part : beyond) EXPECT_LT(part, 0.002);
    for (const double part : beyond_by_half) {
      EXPECT_GT(part, 0.2);
      EXPECT_LT(part, 0.4);
    }
  }
}

TEST(ChunkCodes, OfRowsThatAreAllOneShareTheirMiddleAlone) {
  std::mt19937_64 random(6);
  const auto space = MakeChunkSpace(Metric::kL2, kChunkDimension);
  const std::vector<std::vector<float>> ones(kChunkRows, std::vector<float>(kChunkDimension, 1.0f));
  const ChunkCodes first = CodesOf(space, Metric::kL2, ones, nullptr);
  EXPECT_EQ(CodesOf(space, Metric::kL2, ones, &first).centroid().data(), first.centroid().data());
  const std::vector<std::vector<float>> twos(kChunkRows, std::vector<float>(kChunkDimension, 2.0f));
  EXPECT_NE(CodesOf(space, Metric::kL2, twos, &first).centroid().data(), first.centroid().data());
  EXPECT_NE(
      CodesOf(space, Metric::kL2, RowsAround(4, kChunkRows, random), &first).centroid().data(),
      first.centroid().data());
}

}  // namespace
}  // namespace pigment
