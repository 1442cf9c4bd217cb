// SPDX-License-Identifier: Apache-2.0
//
// A filter on a whole segment by its inverted index, without reading records: which rows match for
// sure, and which may. Pure over a pinned segment; one thread.

#pragma once

#include <optional>

#include "engine/base/call_control.h"
#include "engine/inverted/row_set.h"
#include "engine/query/filter_program.h"
#include "engine/segment/inverted_reader.h"
#include "engine/segment/row_reader.h"

namespace pigment {

// Every row that matches is in `possible`, and every row of `certain` matches.
struct RowBounds {
  RowSet possible;
  std::optional<RowSet> certain = std::nullopt;  // none: as `possible`

  const RowSet& sure() const { return certain ? *certain : possible; }
};

struct FilterSources {
  uint32_t rows;  // of the segment
  InvertedReader& inverted;
  RowReader& records;  // for ids
  const CallControl& control;
};

// Conditions on documents bound nothing, nor do groups that are nested so deep that the sets of all
// levels would take much memory; who calls looks at the rows that are not certain.
Result<RowBounds> BoundRows(const FilterProgram& program, const FilterSources& sources);

}  // namespace pigment
