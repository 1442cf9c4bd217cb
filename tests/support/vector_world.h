// SPDX-License-Identifier: Apache-2.0
//
// Vectors and queries for tests of searches, and what is right for them.

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/vector/distance.h"
#include "engine/vector/row_mask.h"
#include "engine/vector/top_k.h"
#include "tests/support/made_vectors.h"

namespace pigment {

// A reach that leaves nothing out.
inline constexpr float kEverywhere = std::numeric_limits<float>::infinity();

// The k nearest, by comparing all.
inline std::vector<Scored> Nearest(const VectorTable& table, std::span<const float> query, size_t k,
                                   RowMask allowed = {}) {
  const DistanceFunction distance(Metric::kL2, query);
  TopK nearest(k);
  for (uint32_t i = 0; i < table.count(); ++i) {
    if (IsAllowed(allowed, i)) nearest.Offer(distance(table.row(i)), i);
  }
  return nearest.TakeSorted();
}

// Vectors, and queries of the same kind.
struct World {
  explicit World(const MadeVectors& made, uint32_t queries)
      : all(ClusteredVectors(made)), table(made.dimension, nullptr), queries_(queries) {
    (void)table.Reserve(made.count - queries);
    for (uint32_t i = 0; i < made.count - queries; ++i) table.Add(all.vector(i));
  }
  std::span<const float> query(uint32_t i) const { return all.vector(table.count() + i); }
  uint32_t queries() const { return queries_; }

  VectorTable all;
  VectorTable table;
  uint32_t queries_;
};

}  // namespace pigment
