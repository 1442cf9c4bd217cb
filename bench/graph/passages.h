// SPDX-License-Identifier: Apache-2.0
//
// The data set of ../shared/data as f32, of unit length or scaled, with exact neighbours by squared
// distance. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/vector/vector_table.h"

namespace pigment_bench {

struct PassageOptions {
  std::string folder;
  uint32_t rows = 100'000;
  bool is_scaled = false;  // lengths from 0.2 to 5 and noise below 1e-3 that only f32 holds
  uint64_t seed = 20261122;
};

struct Passages {
  pigment::VectorTable base;
  pigment::VectorTable queries;
  size_t k = 0;
  std::vector<float> last_distances;  // of each query: to the k-th nearest row
};

// Ends the program with a message where the files are not there.
Passages LoadPassages(const PassageOptions& options, size_t k);

}  // namespace pigment_bench
