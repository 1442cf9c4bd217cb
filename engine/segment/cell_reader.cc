// SPDX-License-Identifier: Apache-2.0
//
// A text's rows are those of the cells that have all of its grams.

#include "engine/segment/cell_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/substring.h"

namespace pigment {

CellReader::CellReader(BlockSource* source, const Root* root)
    : rows_(root->info.rows),
      document_bytes_(root->document_bytes),
      begins_(source, root, BlockKind::kDocumentBegins),
      ends_(source, root, BlockKind::kDocumentEnds),
      grams_(source, root, kGramKinds, rows_, nullptr) {}

Status CellReader::ReadDocuments(uint32_t number, Documents& documents) {
  const uint32_t first = number * kRowsPerBegin;
  documents.rows = std::min(rows_ - first, kRowsPerBegin);
  const std::span<uint32_t> ends = std::span(documents.ends).first(documents.rows);
  if (!ends_.exists()) {  // all are empty
    documents.begin = 0;
    std::ranges::fill(ends, 0);
    return Status::Ok();
  }
  PIGMENT_ASSIGN_OR_RETURN(documents.begin, begins_.ReadElement<uint64_t>(number));
  PIGMENT_RETURN_IF_ERROR(ends_.ReadElements(first, ends));
  if (documents.begin <= document_bytes_ && std::is_sorted(ends.begin(), ends.end()) &&
      (ends.back() <= document_bytes_ - documents.begin || !documents.are_known()))
    return Status::Ok();
  return ends_.Damaged(
      Detail::kMiscounted,
      fmt::format("documents of rows {} to {} lie from {} to {} more of {}", first,
                  first + documents.rows, documents.begin, ends.back(), document_bytes_));
}

Result<RowSet> CellReader::RowsWithPrefix(std::string_view prefix, const CallControl& control) {
  PIGMENT_ASSIGN_OR_RETURN(const RowSet unindexed, grams_.UnindexedRows());
  RowSet rows = RowSet::Nothing(rows_);
  PIGMENT_RETURN_IF_ERROR(
      grams_.AddRange("", FieldType::kGrams, TermRange::BeginningWith(prefix), control, rows));
  rows.Unite(unindexed);
  return rows;
}

Result<RowSet> CellReader::RowsWith(std::string_view text, RowSet among,
                                    const CallControl& control) {
  if (text.empty()) return among;
  if (text.size() < kGramBytes) {
    PIGMENT_ASSIGN_OR_RETURN(const RowSet rows, RowsWithPrefix(FoldAscii(text), control));
    among.Intersect(rows);
    return among;
  }
  const std::vector<std::string> grams = GramsOf(text);
  const std::vector<std::string_view> terms(grams.begin(), grams.end());
  PIGMENT_RETURN_IF_ERROR(grams_.KeepRowsOfAll("", FieldType::kGrams, terms, control, among));
  return among;
}

}  // namespace pigment
