// SPDX-License-Identifier: Apache-2.0
//
// Reads the inverted index of a segment (inverted_part.h): terms and intervals of terms into sets
// of rows. What it reads may be damaged: kDataLoss then. One thread; everything is borrowed.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/inverted/posting_list.h"
#include "engine/inverted/row_set.h"
#include "engine/inverted/term_block.h"
#include "engine/record/case_fold.h"
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

  // All that begin with `prefix`.
  static TermRange BeginningWith(std::string_view prefix);
};

// The rules that the segment was written by; null where it has none.
Result<SharedRules> ReadIndexRules(BlockSource* source, const Root& root);

class InvertedReader {
 public:
  // Of an index over the segment's rows. `rules`: of the segment, by which values were left out;
  // null: none were.
  InvertedReader(BlockSource* source, const Root* root, const InvertedKinds& kinds, uint32_t rows,
                 SharedRules rules);

  const IndexRules* rules() const { return rules_.get(); }

  // Rows whose records must be read, because they are in no index.
  Result<RowSet> UnindexedRows();

  // Takes rows out of `rows` that have not all of the terms, as far as it is worth the reading:
  // those of cells that have all of many stay. Rows that are in no index stay.
  Status KeepRowsOfAll(std::string_view key, FieldType type,
                       std::span<const std::string_view> terms, const CallControl& control,
                       RowSet& rows);
  // Adds the rows that have any of the terms, which ascend. `control` is asked on the way. REQUIRES
  // of `rows`: as many as the index has, made by RowSet::Nothing.
  Status AddTerms(std::string_view key, FieldType type, std::span<const std::string_view> terms,
                  const CallControl& control, RowSet& rows);
  // The rows whose term is in the range. REQUIRES besides: none of the field is in `rows` yet.
  Status AddRange(std::string_view key, FieldType type, const TermRange& range,
                  const CallControl& control, RowSet& rows);

  // The rows that have any term of the field. REQUIRES as AddTerms.
  Status AddField(std::string_view key, FieldType type, RowSet& rows);
  // The rows that have any term of a field of metadata whose key begins so.
  Status AddFieldsBeginning(std::string_view key, const CallControl& control, RowSet& rows);
  // The rows whose term equals the text, or begins with it, by case folding. REQUIRES as AddRange,
  // of a field of texts.
  struct FoldedTerms {
    const FoldedText& text;
    bool is_prefix = false;
  };
  Status AddFolded(std::string_view key, FieldType type, const FoldedTerms& wanted,
                   const CallControl& control, RowSet& rows);
  // Calls `visit` for each term of a field that any row of `among` has, with how many of them do:
  // ascending within a row group, one group after the other.
  using TermCountVisitor = std::function<Status(std::string_view term, uint64_t rows)>;
  Status CountTerms(std::string_view key, FieldType type, const RowSet& among,
                    const CallControl& control, const TermCountVisitor& visit);
  // Rows in the lists of a field, which is what CountTerms goes through.
  Result<uint64_t> RowsOfField(std::string_view key, FieldType type);

  // Rows that have one index; of those of one that is not, records must be read.
  struct Group {
    uint32_t first;  // a multiple of 64
    uint32_t rows;
    uint32_t fields_begin;
    uint32_t fields_end;
    bool is_indexed;
  };
  Result<std::vector<Group>> Groups();
  // Calls `visit` for each term of a group's field that begins with `prefix`: what follows it in
  // the term, and the list (posting_list.h), both valid during the call, in which nothing may be
  // read by this reader. REQUIRES: a field whose lists are of rows.
  using ListVisitor = std::function<Status(std::string_view rest, std::span<const std::byte> list)>;
  Status VisitLists(const Group& group, std::string_view key, FieldType type,
                    std::string_view prefix, const ListVisitor& visit);

  // Posting lists that were read so far.
  uint64_t lists_read() const { return lists_read_; }

 private:
  // A field of a row group. Its terms are known by their numbers from 0 on.
  struct Place {
    FieldEntry field{};
    uint32_t rows = 0;  // of the group, or its cells
    std::span<uint64_t> words;
    const CallControl* control = nullptr;  // asked on the way through many lists

    uint32_t blocks() const { return (field.terms + kTermsPerBlock - 1) / kTermsPerBlock; }
  };

  // The field's place in a group of so many rows, whose words are to be set.
  Result<Place> PlaceOf(const FieldEntry& field, uint32_t rows) const;
  // Calls `visit(place)` for the field of each row group that has it.
  Status VisitGroups(std::string_view key, FieldType type, RowSet& rows,
                     const std::function<Status(const Place&)>& visit);
  // Calls `visit(place)` of a field of a group.
  Status VisitField(const RowGroupEntry& before, const RowGroupEntry& group,
                    const FieldEntry& field, RowSet& rows,
                    const std::function<Status(const Place&)>& visit);
  // Sets the rows of all terms.
  Status ApplyAll(const Place& place);
  Result<std::string_view> ReadKey(const FieldEntry& field);
  // The first field that is not below this key and type, among those from `first` to `end`, both of
  // one group; `end` where there is none.
  Result<uint32_t> SeekField(std::string_view key, FieldType type, uint32_t first, uint32_t end);
  // The field among those from `first` to `end`, both of one group.
  Result<std::optional<FieldEntry>> FindField(std::string_view key, FieldType type, uint32_t first,
                                              uint32_t end);
  Result<TermBlockEntry> ReadBlock(const Place& place, uint32_t block);
  Result<TermBlockReader> ReadTerms(const TermBlockEntry& block);

  // The first term that is not below `term` (or is above it), from block `first_block` on; the
  // number of terms where there is none. `is_equal`, which may be null: whether it is the term.
  Result<uint32_t> Seek(const Place& place, std::string_view term, bool is_above,
                        uint32_t first_block, bool* is_equal);
  // A term's list: where it lies, and of how many rows it is.
  struct List {
    uint64_t rows = 0;
    uint64_t begin = 0;
    uint64_t bytes = 0;
  };
  // None: no such term.
  Result<std::optional<List>> FindList(const Place& place, std::string_view term);
  // Sets the bits of the place's rows, or cells, that are in all lists.
  Status MeetLists(const Place& place, std::vector<List>& lists);
  // Rows in the lists of the blocks before the term's.
  Result<uint64_t> RowsBefore(const Place& place, uint32_t term);
  // Terms that begin with the same bytes, of which the first so many code points are as wanted.
  struct Branch {
    std::string prefix;
    size_t code_points = 0;
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  // Goes on from the branch: applies it, or looks at its few terms, or adds longer ones to `open`.
  Status Follow(const Place& place, const FoldedTerms& wanted, Branch branch,
                std::vector<Branch>& open);
  Status ApplyMatching(const Place& place, const FoldedTerms& wanted, uint32_t begin, uint32_t end);
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
  // Calls `visit(list)`, which is false of a damaged one, for lists that lie from `begin` on, in so
  // many bytes: `skipped` are passed by, `count` visited.
  template <typename Visit>
  Status VisitRun(uint64_t begin, uint64_t bytes, uint32_t skipped, uint32_t count,
                  const Visit& visit);
  Status CountBlock(const Place& place, uint32_t number, const TermCountVisitor& visit);
  // The same, applied to the place's words.
  Status ApplyRun(const Place& place, uint64_t begin, uint64_t bytes, uint32_t skipped,
                  uint32_t count, PostingsUse use);

  const uint32_t rows_;
  const SharedRules rules_;
  PartCursor groups_;
  PartCursor fields_;
  PartCursor blocks_;
  PartCursor terms_;
  PartCursor postings_;
  std::string terms_copy_;
  std::string postings_copy_;
  std::vector<uint64_t> cells_;  // of a group
  std::vector<uint64_t> other_cells_;
  uint64_t lists_read_ = 0;
};

}  // namespace pigment
