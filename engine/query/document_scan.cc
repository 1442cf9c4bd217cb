// SPDX-License-Identifier: Apache-2.0
//
// Condition by condition, each on the rows that those before left.

#include "engine/query/document_scan.h"

#include <array>
#include <bit>
#include <string_view>

#include "engine/base/substring.h"

namespace pigment {
namespace {

// Runs of more, which are a long document or two, are not looked at in one go.
constexpr uint32_t kRunBytesMax = uint32_t{16} << 20;
// Documents between two that are looked at are looked at too where they are no longer: a search
// takes as long to begin.
constexpr uint32_t kGapBytesMax = 256;

uint32_t FirstRow(uint64_t rows) { return static_cast<uint32_t>(std::countr_zero(rows)); }
// Bits of rows from `row` on, which may be 64.
uint64_t RowsFrom(uint32_t row) { return row < 64 ? ~uint64_t{0} << row : 0; }

}  // namespace

FirstLevelDocuments::FirstLevelDocuments(const FilterProgram& program) {
  for (uint32_t i = 0; i < program.nodes.size(); ++i) {
    if (!LooksIntoDocuments(program.nodes[i])) continue;
    if (program.nodes[i].parent == 0) {
      nodes_.push_back(i);
    } else {
      are_all_ = false;
    }
  }
}

Status DocumentScan::Keep(uint32_t first, std::span<uint64_t> rows) {
  const uint32_t number = first / kRowsPerBegin;
  for (const uint32_t node : documents_.nodes()) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] == 0) continue;
      PIGMENT_RETURN_IF_ERROR(control_.Check());
      PIGMENT_RETURN_IF_ERROR(
          KeepIf(program_.nodes[node], number + static_cast<uint32_t>(i), rows[i]));
    }
  }
  return Status::Ok();
}

Status DocumentScan::KeepIf(const FilterNode& node, uint32_t number, uint64_t& rows) {
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t found, Find(node, number, rows));
  rows &= node.negated ? ~found : found;
  return Status::Ok();
}

Result<uint64_t> DocumentScan::Find(const FilterNode& node, uint32_t number, uint64_t rows) {
  std::string_view text;
  if (node.op == FilterOp::kHasSubstring) text = program_.texts[node.operand];
  if (node.op == FilterOp::kHasMatch) text = program_.regexes[node.operand]->required();
  if (text.empty()) return FindOneByOne(node, number, rows);
  PIGMENT_RETURN_IF_ERROR(cells_.ReadDocuments(number, places_));
  if (!places_.are_known()) return FindOneByOne(node, number, rows);
  return FindWithText(node, text, rows);
}

Result<uint64_t> DocumentScan::FindWithText(const FilterNode& node, std::string_view text,
                                            uint64_t rows) {
  // All runs are asked of memory before the first is looked at.
  struct Run {
    uint32_t first, end;
  };
  std::array<Run, kRowsPerBegin> runs;
  size_t count = 0;
  for (uint64_t left = rows; left != 0;) {
    const uint32_t first = FirstRow(left);
    uint32_t end = first + 1;
    for (left &= RowsFrom(end); left != 0; left &= RowsFrom(end)) {
      const uint32_t next = FirstRow(left);
      if (places_.begin_of(next) - places_.begin_of(end) > kGapBytesMax ||
          places_.ends[next] - places_.begin_of(first) > kRunBytesMax)
        break;
      end = next + 1;
    }
    runs[count++] = {first, end};
    const uint32_t begin = places_.begin_of(first);
    rows_.ExpectDocuments(places_.begin + begin, places_.ends[end - 1] - begin);
  }
  uint64_t found = 0;
  for (const Run& run : std::span(runs).first(count)) {
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t of_run,
                             FindInRun(node, text, run.first, run.end, rows));
    found |= of_run;
  }
  return found;
}

Result<uint64_t> DocumentScan::FindInRun(const FilterNode& node, std::string_view text,
                                         uint32_t first, uint32_t end, uint64_t rows) {
  const bool is_regex = node.op == FilterOp::kHasMatch;
  const uint32_t begin = places_.begin_of(first);
  PIGMENT_ASSIGN_OR_RETURN(
      const std::string_view documents,
      rows_.ViewDocuments(places_.begin + begin, places_.ends[end - 1] - begin));
  bytes_seen_ += documents.size();
  uint64_t found = 0;
  uint32_t row = first;
  for (size_t from = 0;;) {
    const size_t place =
        is_regex ? FindFolded(documents, text, from) : FindSubstring(documents, text, from);
    if (place == std::string_view::npos) return found;
    while (places_.ends[row] - begin <= place) ++row;
    const size_t row_end = places_.ends[row] - begin;
    if (place + text.size() > row_end) {  // it goes on in the next document
      from = place + 1;
      continue;
    }
    const size_t row_begin = places_.begin_of(row) - begin;
    const uint64_t bit = uint64_t{1} << row;
    if ((rows & bit) != 0 && (!is_regex || program_.regexes[node.operand]->MatchesIn(
                                               documents.substr(row_begin, row_end - row_begin))))
      found |= bit;
    from = row_end;
  }
}

Result<uint64_t> DocumentScan::FindOneByOne(const FilterNode& node, uint32_t number,
                                            uint64_t rows) {
  uint64_t found = 0;
  for (uint64_t left = rows; left != 0; left &= left - 1) {
    const uint32_t row = number * kRowsPerBegin + FirstRow(left);
    PIGMENT_ASSIGN_OR_RETURN(const RowReader::DocumentPlace place, rows_.FindDocument(row));
    if (!place.exists) continue;
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view document,
                             rows_.ViewDocuments(place.begin, place.bytes));
    bytes_seen_ += document.size();
    if (program_.DocumentMatches(node, document)) found |= uint64_t{1} << FirstRow(left);
  }
  return found;
}

}  // namespace pigment
