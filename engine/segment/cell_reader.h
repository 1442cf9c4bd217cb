// SPDX-License-Identifier: Apache-2.0
//
// Reads the index of a segment's documents (cell_part.h): which rows may have a text, and where
// their documents lie. What it reads may be damaged: kDataLoss then. One thread; everything is
// borrowed.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/call_control.h"
#include "engine/inverted/row_set.h"
#include "engine/segment/cell_part.h"
#include "engine/segment/inverted_reader.h"
#include "engine/segment/part_reader.h"

namespace pigment {

class CellReader {
 public:
  CellReader(BlockSource* source, const Root* root);

  uint32_t rows() const { return rows_; }

  // Where the documents of 64 rows lie, which follow one another without gaps.
  struct Documents {
    uint64_t begin = 0;  // of the first row's, among all
    uint32_t rows = 0;
    std::array<uint32_t, kRowsPerBegin> ends;  // of each, from `begin` on; 2^32 - 1: beyond

    uint32_t begin_of(uint32_t row) const { return row == 0 ? 0 : ends[row - 1]; }
    bool are_known() const { return ends[rows - 1] != 0xFFFFFFFF; }
  };
  // Of rows 64 * number and up. REQUIRES: 64 * number < rows().
  Status ReadDocuments(uint32_t number, Documents& documents);

  // Every row whose document has the text, in whatever case its letters of ASCII are, and as few
  // others as the index tells. Of `among` at most.
  Result<RowSet> RowsWith(std::string_view text, RowSet among, const CallControl& control);

  // Posting lists that were read so far.
  uint64_t lists_read() const { return grams_.lists_read(); }

 private:
  // Rows that have a gram that begins with so few bytes.
  Result<RowSet> RowsWithPrefix(std::string_view prefix, const CallControl& control);

  const uint32_t rows_;
  const uint64_t document_bytes_;
  PartCursor begins_;
  PartCursor ends_;
  InvertedReader grams_;
};

}  // namespace pigment
