// SPDX-License-Identifier: Apache-2.0
//
// What queries of several widths find of the nearest records, and what they look at for it. One
// thread, no clock: the same answer for the same store.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/session.h"
#include "tools/viz/sample.h"

namespace pigment_tool {

inline constexpr int64_t kNeighbours = 10;

struct WidthRecall {
  int64_t width = 0;
  double recall = 0;       // share of the kNeighbours nearest
  double rows_scored = 0;  // whose distance was computed or estimated, on average
};

struct RecallByWidth {
  std::string strategy;             // "graph" or "clusters"; "exact": no index, and no widths
  std::vector<WidthRecall> widths;  // ascending, until nothing more is found
};

// The questions are vectors of records, of which each must find the others.
RecallByWidth MeasureRecall(pigment_collection* collection,
                            std::span<const SampledRecord> questions);

}  // namespace pigment_tool
