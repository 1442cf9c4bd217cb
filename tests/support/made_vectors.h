// SPDX-License-Identifier: Apache-2.0
//
// Vectors made for tests of clusters and graphs, from a seed.

#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "engine/vector/vector_table.h"

namespace pigment {

struct MadeVectors {
  uint32_t count = 0;
  uint32_t dimension = 0;
  uint32_t clusters = 1;  // vector i is of cluster i % clusters
  float spread = 1;       // standard deviation in each dimension, within a cluster
  uint64_t seed = 0;
};

// Around centres that are themselves drawn from the standard normal distribution.
inline VectorTable ClusteredVectors(const MadeVectors& made) {
  std::mt19937_64 random(made.seed);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> centres(made.clusters, std::vector<float>(made.dimension));
  for (auto& centre : centres) {
    for (float& value : centre) value = normal(random);
  }
  VectorTable table(made.dimension, nullptr);
  (void)table.Reserve(made.count);  // without a budget nothing refuses
  std::vector<float> vector(made.dimension);
  for (uint32_t i = 0; i < made.count; ++i) {
    for (uint32_t d = 0; d < made.dimension; ++d)
      vector[d] = centres[i % made.clusters][d] + made.spread * normal(random);
    table.Add(vector);
  }
  return table;
}

inline std::vector<float> NormalVector(std::mt19937_64& random, size_t dimension) {
  std::normal_distribution<float> normal;
  std::vector<float> vector(dimension);
  for (float& value : vector) value = normal(random);
  return vector;
}

inline VectorTable NormalVectors(const MadeVectors& made) {
  MadeVectors one = made;
  one.clusters = 1;
  return ClusteredVectors(one);
}

}  // namespace pigment
