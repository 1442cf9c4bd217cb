// SPDX-License-Identifier: Apache-2.0
//
// Search of the tail: exact, or by the codes of its chunks (engine/vector/chunk_codes.h),
// which rule out all but a few vectors. Any thread; everything is borrowed for the call.

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/collection/tail.h"
#include "engine/query/search_plan.h"
#include "engine/record/metric.h"
#include "engine/vector/top_k.h"

namespace pigment {

struct TailScan {
  Metric metric = Metric::kL2;
  std::span<const float> query;
  size_t k = 0;
  uint32_t first_row = 0;  // rows before it are not looked at; a multiple of TailChunk::kRows
  bool is_exact = true;    // every row is compared
  // Segments were searched by their indexes, so that codes are worth it for fewer rows: where
  // nothing is approximate yet, few rows are all compared.
  bool is_beside_index = false;
  // Otherwise: standard errors that a code must be off by for its row to be missed. By these next
  // to none is.
  float errors = 3.5f;
  // Nothing beyond this distance is wanted; NaN: there is no limit.
  float limit = std::numeric_limits<float>::quiet_NaN();
  const CallControl* control = nullptr;  // asked at least every millisecond
};

struct TailHit {
  Scored key;  // ties by ordinal
  uint32_t row;
};

struct TailScanResult {
  std::vector<TailHit> hits;   // at most k, in no order
  uint64_t rows_compared = 0;  // by their vectors
  uint64_t rows_by_codes = 0;  // others
};

Result<TailScanResult> ScanTail(const TailView& tail, const RowSet& rows, const TailScan& scan);

}  // namespace pigment
