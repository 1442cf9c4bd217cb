// SPDX-License-Identifier: Apache-2.0
//
// Exact search over one segment: every allowed row is compared with every query. Any thread; the
// segment and the queries are borrowed for the call.

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/segment/segment.h"
#include "engine/vector/row_mask.h"

namespace pigment {

struct FlatScan {
  Metric metric = Metric::kL2;
  const float* queries = nullptr;  // query_count x info().dimension, row-major
  size_t query_count = 0;
  size_t k = 0;  // hits per query; rows without a vector are never hits
  // Of each query a distance beyond which nothing is wanted, NaN where there is none; empty: of
  // none. Fewer hits than k may come then.
  std::span<const float> limits = {};
  RowMask allowed_rows;  // live, and pass the filter. REQUIRES: empty, or (rows + 63) / 64 words
  const CallControl* control = nullptr;  // asked at least every millisecond; may be null

  float limit(size_t query) const {
    return limits.empty() ? std::numeric_limits<float>::quiet_NaN() : limits[query];
  }
};

struct RowHit {
  float distance = 0;
  uint32_t row = 0;
};

struct FlatScanResult {
  // Per query the min(k, allowed rows) nearest rows, ascending by (distance, row). Rows of a store
  // ascend by insertion ordinal within a segment, so ties come in that order; callers that merge
  // segments compare ordinals there.
  std::vector<std::vector<RowHit>> hits;
  uint64_t rows_scored = 0;   // rows compared, by code or by vector, over all queries
  uint64_t bytes_scored = 0;  // of the codes and vectors that they were compared by
};

// kInvalidArgument (Detail::kDimension) when `dimension`, that of the queries, is not the
// segment's. A segment without vectors has no hits.
Result<FlatScanResult> ScanFlat(const Segment& segment, uint32_t dimension, const FlatScan& scan);

}  // namespace pigment
