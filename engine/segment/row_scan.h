// SPDX-License-Identifier: Apache-2.0
//
// The walk under every exact search: the vectors of a segment in order, their distances to one or
// more queries, and the rows that own them. Used by ScanFlat and by the host's search. Any thread;
// everything is borrowed for the call.

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "engine/base/call_control.h"
#include "engine/segment/segment.h"
#include "engine/vector/distance.h"
#include "engine/vector/row_mask.h"

namespace pigment {

// Rows with their distances to query number `query`. Valid during the visit.
struct ScoredRows {
  size_t query = 0;
  uint32_t first_row = 0;  // the rows, when `rows` is null: first_row .. first_row + count - 1
  const uint32_t* rows = nullptr;
  const float* distances = nullptr;  // count
  size_t count = 0;

  uint32_t row(size_t i) const {
    return rows != nullptr ? rows[i] : first_row + static_cast<uint32_t>(i);
  }
};

struct RowScan {
  std::span<const DistanceFunction> queries;  // of the segment's dimension
  RowMask allowed_rows;  // as in FlatScan; only saves reading: rows that are not
                         // allowed may be visited too
  const CallControl* control = nullptr;
  std::function<Status(const ScoredRows&)> visit;
  // Rows without a vector, ascending, a run at a time; null: not wanted.
  std::function<Status(std::span<const uint32_t> rows)> visit_without_vector;
};

Status ScanRows(const Segment& segment, const RowScan& scan);

}  // namespace pigment
