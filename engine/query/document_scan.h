// SPDX-License-Identifier: Apache-2.0
//
// Conditions on documents, looked at for 64 rows of a segment at once: documents lie one after the
// other, so that a text is looked for in those of rows that follow each other in one go, and only
// rows that have it are told apart. One thread; everything is borrowed.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/query/filter_program.h"
#include "engine/segment/cell_reader.h"
#include "engine/segment/row_reader.h"

namespace pigment {

// The conditions on documents that must hold for every record that matches: those that the first
// level of a filter joins by $and.
class FirstLevelDocuments {
 public:
  explicit FirstLevelDocuments(const FilterProgram& program);

  bool empty() const { return nodes_.empty(); }
  const std::vector<uint32_t>& nodes() const { return nodes_; }
  // The filter has no other condition on documents.
  bool are_all() const { return are_all_; }

 private:
  std::vector<uint32_t> nodes_;
  bool are_all_ = true;
};

class DocumentScan {
 public:
  DocumentScan(const FilterProgram& program, const CallControl& control, CellReader& cells,
               RowReader& rows)
      : program_(program), documents_(program), control_(control), cells_(cells), rows_(rows) {}

  // `rows` are bits of the rows from `first` on; keeps those for which all the first level's
  // conditions on documents hold. REQUIRES: bits beyond the segment's rows are zero.
  Status Keep(uint32_t first, std::span<uint64_t> rows);

  // Bytes of documents that were looked at.
  uint64_t bytes_seen() const { return bytes_seen_; }

 private:
  // Takes rows that do not satisfy the condition out of a word of 64.
  Status KeepIf(const FilterNode& node, uint32_t number, uint64_t& rows);
  // Which of the rows' documents satisfy the condition, negated or not.
  Result<uint64_t> Find(const FilterNode& node, uint32_t number, uint64_t rows);
  // The same for a condition that no document satisfies without this text.
  Result<uint64_t> FindWithText(const FilterNode& node, std::string_view text, uint64_t rows);
  // Among the documents of rows `first` to `end` of the word.
  Result<uint64_t> FindInRun(const FilterNode& node, std::string_view text, uint32_t first,
                             uint32_t end, uint64_t rows);
  Result<uint64_t> FindOneByOne(const FilterNode& node, uint32_t number, uint64_t rows);

  const FilterProgram& program_;
  const FirstLevelDocuments documents_;
  const CallControl control_;
  CellReader& cells_;
  RowReader& rows_;
  CellReader::Documents places_;  // of the rows that are looked at
  uint64_t bytes_seen_ = 0;
};

}  // namespace pigment
