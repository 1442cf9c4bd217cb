// SPDX-License-Identifier: Apache-2.0
//
// Some records of a collection, drawn by chance: the same ones for the same records and seed. One
// thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/options.h"
#include "tools/session.h"

namespace pigment_tool {

struct SampledRecord {
  std::string id;
  std::string document;  // its beginning; empty: none
  std::vector<float> embedding;
};

// `count` of the records that `filters` let through, or all when there are fewer; in the
// collection's order, with one dimension.
std::vector<SampledRecord> DrawSample(pigment_collection* collection, const Filters& filters,
                                      size_t count, uint64_t seed);

}  // namespace pigment_tool
