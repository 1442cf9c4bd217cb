// SPDX-License-Identifier: Apache-2.0
//
// Posting lists of clauses.

#include "engine/query/text_match.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/fulltext/text_lookup.h"

namespace pigment {
namespace {

constexpr uint64_t kCursorBytes = 2048;

Result<std::optional<PostingCursor>> OpenTerm(const TextRows& rows, const std::string& term,
                                              const MatchContext& context) {
  PIGMENT_ASSIGN_OR_RETURN(const std::optional<TextList> list, FindTerm(*rows.source, term));
  if (!list) return std::optional<PostingCursor>();
  PIGMENT_RETURN_IF_ERROR(context.memory.Grow(kCursorBytes + list->documents / kPostingsPerBlock *
                                                                 sizeof(PostingEntry)));
  ++context.lists_read;
  PIGMENT_ASSIGN_OR_RETURN(PostingCursor cursor,
                           PostingCursor::Open(rows.source.get(), *list, *rows.lengths));
  return std::optional(std::move(cursor));
}

// How often the words of a phrase stand where they should, given the places of each.
uint32_t CountPhrases(const std::vector<std::span<const uint32_t>>& positions,
                      const std::vector<uint32_t>& places) {
  uint32_t count = 0;
  for (const uint32_t first : positions[0]) {
    bool is_whole = true;
    for (size_t i = 1; is_whole && i < positions.size(); ++i)
      is_whole = std::binary_search(positions[i].begin(), positions[i].end(), first + places[i]);
    count += is_whole;
  }
  return count;
}

// The first row from `row` on that all cursors have; the number of rows where there is none.
Result<uint32_t> NextCommonRow(std::vector<PostingCursor>& cursors, uint32_t row, uint32_t rows,
                               PacedCheck& check) {
  for (size_t agreed = 0; agreed < cursors.size();) {
    PIGMENT_RETURN_IF_ERROR(check.Step());
    PIGMENT_ASSIGN_OR_RETURN(const uint32_t found, cursors[agreed].SeekRow(row));
    if (found == row) {
      ++agreed;
      continue;
    }
    if (found >= rows) return rows;
    row = found;
    agreed = 0;
  }
  return row;
}

Result<std::optional<PostingCursor>> MatchPhrase(const TextRows& rows, const TextClause& clause,
                                                 const MatchContext& context) {
  std::vector<PostingCursor> cursors;
  for (const std::string& term : clause.terms) {
    PIGMENT_ASSIGN_OR_RETURN(std::optional<PostingCursor> cursor, OpenTerm(rows, term, context));
    if (!cursor) return std::optional<PostingCursor>();
    cursors.push_back(*std::move(cursor));
  }
  std::vector<uint32_t> found, frequencies;
  std::vector<std::span<const uint32_t>> positions(cursors.size());
  PacedCheck check(context.control);
  for (uint32_t row = 0; row < rows.rows(); ++row) {
    PIGMENT_ASSIGN_OR_RETURN(row, NextCommonRow(cursors, row, rows.rows(), check));
    if (row == rows.rows()) break;
    for (size_t i = 0; i < cursors.size(); ++i) {
      PIGMENT_ASSIGN_OR_RETURN(positions[i], cursors[i].Positions());
    }
    const uint32_t count = CountPhrases(positions, clause.places);
    if (count == 0) continue;
    found.push_back(row);
    frequencies.push_back(count);
  }
  if (found.empty()) return std::optional<PostingCursor>();
  PIGMENT_RETURN_IF_ERROR(context.memory.Grow(kCursorBytes + found.size() * 2 * sizeof(uint32_t)));
  return std::optional(PostingCursor::Of(rows.source.get(), std::move(found),
                                         std::move(frequencies), *rows.lengths));
}

Result<std::optional<PostingCursor>> MatchPrefix(const TextRows& rows, const TextClause& clause,
                                                 const MatchContext& context) {
  std::vector<uint32_t> of_rows;
  PIGMENT_RETURN_IF_ERROR(
      VisitPrefix(*rows.source, clause.terms[0], [&](const TextList& list) -> Status {
        PIGMENT_RETURN_IF_ERROR(context.control.Check());
        if (of_rows.empty()) {
          PIGMENT_RETURN_IF_ERROR(
              context.memory.Grow(kCursorBytes + uint64_t{rows.rows()} * 3 * sizeof(uint32_t)));
          of_rows.resize(rows.rows());
        }
        ++context.lists_read;
        PIGMENT_ASSIGN_OR_RETURN(PostingCursor cursor,
                                 PostingCursor::Open(rows.source.get(), list, *rows.lengths));
        for (uint32_t block = 0; block < cursor.blocks(); ++block) {
          PIGMENT_RETURN_IF_ERROR(cursor.Load(block));
          for (size_t i = 0; i < cursor.rows().size(); ++i)
            of_rows[cursor.rows()[i]] += cursor.frequencies()[i];
        }
        return Status::Ok();
      }));
  std::vector<uint32_t> found, frequencies;
  for (uint32_t row = 0; row < of_rows.size(); ++row) {
    if (of_rows[row] == 0) continue;
    found.push_back(row);
    frequencies.push_back(of_rows[row]);
  }
  if (found.empty()) return std::optional<PostingCursor>();
  return std::optional(PostingCursor::Of(rows.source.get(), std::move(found),
                                         std::move(frequencies), *rows.lengths));
}

}  // namespace

Result<std::optional<PostingCursor>> MatchClause(const TextRows& rows, const TextClause& clause,
                                                 const MatchContext& context) {
  Result<std::optional<PostingCursor>> cursor = [&] {
    switch (clause.kind) {
      case TextClause::Kind::kWord:
        return OpenTerm(rows, clause.terms[0], context);
      case TextClause::Kind::kPrefix:
        return MatchPrefix(rows, clause, context);
      case TextClause::Kind::kPhrase:
        return MatchPhrase(rows, clause, context);
    }
    return Result<std::optional<PostingCursor>>(Internal("a clause of no kind"));
  }();
  if (cursor.ok()) PIGMENT_RETURN_IF_ERROR(rows.lengths->status());
  return cursor;
}

}  // namespace pigment
