// SPDX-License-Identifier: Apache-2.0
//
// Reads the inverted index of a segment (inverted_part.h): terms and intervals of terms into sets
// of rows. What it reads may be damaged: kDataLoss then. One thread; everything is borrowed.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/call_control.h"
#include "engine/inverted/posting_list.h"
#include "engine/inverted/row_set.h"
#include "engine/inverted/term_block.h"
#include "engine/segment/inverted_part.h"
#include "engine/segment/part_reader.h"

namespace pigment {

// Ok where a row group may follow the one before, in a segment of so many rows.
Status CheckRowGroup(const PartCursor& groups, const RowGroupEntry& before,
                     const RowGroupEntry& group, bool is_last, uint32_t rows);

// Calls `visit(entry of the group before, entry)` for each row group, and sees that together they
// have all rows.
template <typename Visit>
Status VisitRowGroups(PartCursor& groups, uint32_t rows, const Visit& visit) {
  const uint64_t count = groups.bytes() / sizeof(RowGroupEntry);
  RowGroupEntry before{};
  for (uint64_t i = 0; i < count; ++i) {
    PIGMENT_ASSIGN_OR_RETURN(const RowGroupEntry group, groups.ReadElement<RowGroupEntry>(i));
    PIGMENT_RETURN_IF_ERROR(CheckRowGroup(groups, before, group, i + 1 == count, rows));
    PIGMENT_RETURN_IF_ERROR(visit(before, group));
    before = group;
  }
  if (before.rows_end == rows) return Status::Ok();
  return groups.Damaged(Detail::kMiscounted, "the row groups have not all rows");
}

// An interval of terms of one field; without a bound it has no end there.
struct TermRange {
  struct Bound {
    std::string term;
    bool is_inside = true;
  };
  std::optional<Bound> low = std::nullopt;
  std::optional<Bound> high = std::nullopt;
};

class InvertedReader {
 public:
  InvertedReader(BlockSource* source, const Root* root);

  // Rows whose records must be read, because they are in no index.
  Result<RowSet> UnindexedRows();

  // Adds the rows that have any of the terms, which ascend. `control` is asked on the way. REQUIRES
  // of `rows`: as many as the segment has, made by RowSet::Nothing.
  Status AddTerms(std::string_view key, FieldType type, std::span<const std::string_view> terms,
                  const CallControl& control, RowSet& rows);
  // The rows whose term is in the range. REQUIRES besides: none of the field is in `rows` yet.
  Status AddRange(std::string_view key, FieldType type, const TermRange& range, RowSet& rows);

  // Posting lists that were read so far.
  uint64_t lists_read() const { return lists_read_; }

 private:
  // A field of a row group. Its terms are known by their numbers from 0 on.
  struct Place {
    FieldEntry field;
    uint32_t rows = 0;  // of the group
    std::span<uint64_t> words;

    uint32_t blocks() const { return (field.terms + kTermsPerBlock - 1) / kTermsPerBlock; }
  };

  // Calls `visit(place)` for the field of each row group that has it.
  template <typename Visit>
  Status VisitGroups(std::string_view key, FieldType type, RowSet& rows, const Visit& visit);
  // The field among those from `first` to `end`, both of one group.
  Result<std::optional<FieldEntry>> FindField(std::string_view key, FieldType type, uint32_t first,
                                              uint32_t end);
  Result<TermBlockEntry> ReadBlock(const Place& place, uint32_t block);
  Result<TermBlockReader> ReadTerms(const TermBlockEntry& block);

  // The first term that is not below `term` (or is above it), from block `first_block` on; the
  // number of terms where there is none. `is_equal`, which may be null: whether it is the term.
  Result<uint32_t> Seek(const Place& place, std::string_view term, bool is_above,
                        uint32_t first_block, bool* is_equal);
  // Rows in the lists of the blocks before the term's.
  Result<uint64_t> RowsBefore(const Place& place, uint32_t term);
  // The lists of terms `begin` to `end`.
  Status ApplyLists(const Place& place, uint32_t begin, uint32_t end, PostingsUse use);
  // A number of terms whose rows together are one list, or 0; what it costs to begin there.
  struct Checkpoint {
    uint32_t term = 0;
    uint64_t cost = ~uint64_t{0};  // in rows of lists
  };
  Result<Checkpoint> NearestCheckpoint(const Place& place, uint32_t term);
  Status ApplyCheckpoint(const Place& place, uint32_t term);
  Status ApplyInterval(const Place& place, uint32_t begin, uint32_t end);
  // Lists that lie from `begin` on, in so many bytes: `skipped` are passed by, `count` applied.
  Status ApplyRun(const Place& place, uint64_t begin, uint64_t bytes, uint32_t skipped,
                  uint32_t count, PostingsUse use);

  const Root* const root_;
  PartCursor groups_;
  PartCursor fields_;
  PartCursor blocks_;
  PartCursor terms_;
  PartCursor postings_;
  std::string terms_copy_;
  std::string postings_copy_;
  uint64_t lists_read_ = 0;
};

}  // namespace pigment
