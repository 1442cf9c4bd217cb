// SPDX-License-Identifier: Apache-2.0
//
// Queries that an index is calibrated with, made from its own points: points as if they were not
// there, and what lies between two, because queries are seldom drawn as the points were.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/vector/products.h"
#include "engine/vector/seeded_random.h"
#include "engine/vector/vector_table.h"

namespace pigment {

struct ReachSample {
  static constexpr uint32_t kNobody = 0xFFFFFFFF;

  VectorTable points;
  std::vector<uint32_t> absent;  // of each query the point that it is, or kNobody
  // Squared distances of each to the nearest other points, ascending: as many as are calibrated
  // (ReachTable::kNeighbors), or there are.
  std::vector<std::vector<float>> nearest;
};

// `count` points. REQUIRES, as of the other: 0 < count <= points.count().
Result<ReachSample> SamplePoints(const VectorTable& points, uint32_t count, const BuildPause& pause,
                                 SeededRandom& random);
// `count` places between two points.
Result<ReachSample> SampleBetween(const VectorTable& points, uint32_t count,
                                  const BuildPause& pause, SeededRandom& random);

}  // namespace pigment
