// SPDX-License-Identifier: Apache-2.0
//
// The scan of row codes: looks at the code of every allowed row of a segment, and compares the
// vectors that may be among the nearest. For few or far rows, which a search would come to late.
// Approximate in which rows it finds, exact in their distances. Any thread; segment, reader and
// query are borrowed for the call.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/segment/index_search.h"

namespace pigment {

// Standard errors that a code must be off by for a scan to miss a neighbour, for this recall (0 to
// 1).
float ErrorsForRecall(double recall);

struct CodeScanResult {
  std::vector<RowHit> hits;  // at most k, ascending by (distance, row)
  uint64_t codes = 0;
  uint64_t vectors_compared = 0;
};
// What is beyond `search.wanted` is no hit; `reach` and `visits_max` mean nothing. REQUIRES:
// reader.head().row_radius != 0.
Result<CodeScanResult> ScanRowCodes(const SegmentInfo& info, IndexReader& reader,
                                    const IndexSearch& search, float errors);

}  // namespace pigment
