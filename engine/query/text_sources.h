// SPDX-License-Identifier: Apache-2.0
//
// Where a text search looks: the row groups of a version's segments and the pieces of its tail,
// each with an index, on disk or in memory; and the statistics of all. One call, one thread; the
// version is borrowed.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/collection/version.h"
#include "engine/fulltext/bm25.h"
#include "engine/fulltext/posting_cursor.h"
#include "engine/fulltext/text_source.h"
#include "engine/inverted/row_set.h"
#include "engine/query/search_plan.h"

namespace pigment {

// One row group. Its rows are `first_row` and those that follow of a segment or of the tail.
struct TextRows {
  RowPlace first;
  uint64_t first_ordinal = 0;  // of the segment; no row of it has a lower one
  std::unique_ptr<TextSource> source;
  std::unique_ptr<LengthReader> lengths;
  const RowSet* live = nullptr;     // of the segment or the tail; null: all are
  const RowSet* allowed = nullptr;  // the same: rows that may be in the answer

  uint32_t rows() const { return source->rows(); }
  RowPlace PlaceOf(uint32_t row) const { return {first.source, first.row + row}; }
};

class TextSources {
 public:
  // `plan` is borrowed too. A segment without an index, or with one of another analyzer, is
  // analyzed here, under `options.control`.
  static Result<TextSources> Open(const Version& version, const Plan& plan,
                                  const CallControl& control, SegmentReaders& readers);

  std::vector<TextRows>& rows() { return rows_; }
  // Of live rows: those that have a term, and their terms.
  const Bm25Statistics& statistics() const { return statistics_; }

 private:
  explicit TextSources(const Version& version) : version_(version) {}
  Status AddSegment(uint32_t number, const RowSet& allowed, const CallControl& control,
                    SegmentReaders& readers);
  Status AddTail(const RowSet& allowed, const CallControl& control);
  void Add(RowPlace first, uint64_t ordinal, std::unique_ptr<TextSource> source, const RowSet* live,
           const RowSet& allowed);
  Result<CollectionText::Counts> CountDeleted(size_t first_of_segment, const CallControl& control);

  const Version& version_;
  std::vector<std::unique_ptr<const RowSet>> live_;
  std::vector<TextRows> rows_;
  Bm25Statistics statistics_;
};

// Live rows in the list.
Result<uint64_t> CountLive(const TextRows& rows, PostingCursor& cursor, const CallControl& control);

}  // namespace pigment
