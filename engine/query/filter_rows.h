// SPDX-License-Identifier: Apache-2.0
//
// A filter on a whole segment by its inverted index, without reading records: which rows match for
// sure, and which may. Pure over a pinned segment; one thread.

#pragma once

#include <optional>

#include "engine/base/call_control.h"
#include "engine/inverted/row_set.h"
#include "engine/query/filter_program.h"
#include "engine/segment/cell_reader.h"
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
  CellReader* cells;   // of the documents; null: they have no index
  RowReader& records;  // for ids
  const CallControl& control;
};

// Groups that are nested so deep that the sets of all levels would take much memory bound nothing;
// who calls looks at the rows that are not certain. `leaves_documents`, where the rows of a filter
// whose first level joins its clauses by $and are not certain, tells whether it is for documents
// alone: all else that is on the first level holds for every row that is possible.
Result<RowBounds> BoundRows(const FilterProgram& program, const FilterSources& sources,
                            bool* leaves_documents);

}  // namespace pigment
