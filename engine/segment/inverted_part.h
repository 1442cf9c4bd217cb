// SPDX-License-Identifier: Apache-2.0
//
// The inverted index of a store's segment: parts that hold the row groups (engine/inverted) one
// after the other, and their writer (inverted_reader.h reads them). One thread; everything is
// borrowed.
//
//   kRowGroups   element 16 bytes: u32 rows up to the end of this group, u32 fields, u32 blocks of
//                terms so far, u32 1 if it is indexed: of rows of a group that is not (there was
//                not the memory) records must be read
//   kFields      FieldEntry          numbers of blocks, and where bytes begin, counted from the
//   kTermBlocks  TermBlockEntry      segment's first, where row_group.h counts from the group's
//   kTerms       stream: keys and blocks of terms
//   kPostings    stream: posting lists
//   kIndexRules  stream: IndexRules::json, where there are rules by which values were left out
//
// Groups begin at multiples of 64 rows. Small segments of a store have no index: their rows are
// looked at one by one. Those of a host have one where its rows have keys (host_keys.h), however
// few they are.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/base/memory_budget.h"
#include "engine/inverted/row_group.h"
#include "engine/segment/root.h"

namespace pigment {

class BlockPacker;  // part_writer.h

struct RowGroupEntry {
  uint32_t rows_end;
  uint32_t fields_end;
  uint32_t blocks_end;
  uint32_t is_indexed;
};
static_assert(sizeof(RowGroupEntry) == 16);

// The parts of one index.
struct InvertedKinds {
  BlockKind groups;
  BlockKind fields;
  BlockKind blocks;
  BlockKind terms;
  BlockKind postings;
};
inline constexpr InvertedKinds kMetadataKinds = {
    .groups = BlockKind::kRowGroups,
    .fields = BlockKind::kFields,
    .blocks = BlockKind::kTermBlocks,
    .terms = BlockKind::kTerms,
    .postings = BlockKind::kPostings,
};

// What the index of a group may take while it is made; with a limited budget one of so many parts
// of the limit.
inline constexpr uint64_t kGroupBudgetParts = 16;
// Of rows that have nothing else that takes memory: larger groups are fewer, and searched faster.
inline constexpr uint64_t kLoneGroupBudgetParts = 4;
uint64_t GroupBytesMax(const MemoryBudget* budget, uint64_t parts = kGroupBudgetParts);

// Appends row groups to the parts of an index.
class RowGroupWriter {
 public:
  RowGroupWriter(BlockPacker* packer, const InvertedKinds& kinds)
      : packer_(packer), kinds_(kinds) {}

  // A group that ends with the segment's first `rows_end` rows. A null `group` is not indexed.
  Status Put(std::optional<RowGroupIndex> group, uint32_t rows_end);
  // Where the last group ends.
  uint32_t rows_end() const { return written_.rows_end; }

 private:
  BlockPacker* const packer_;
  const InvertedKinds kinds_;
  RowGroupEntry written_{};  // the last group's
};

// A store's segments of fewer rows have no index: their records are read.
inline constexpr uint32_t kIndexedRowsMin = 64;

class InvertedWriter {
 public:
  // Row groups take a part of the budget's limit (null: none).
  InvertedWriter(BlockPacker* packer, MemoryBudget* budget, uint64_t seed, SharedRules rules,
                 uint64_t budget_parts = kGroupBudgetParts);

  // The next row, as RowGroupBuilder::Add. Without the memory for its group this is not indexed.
  Status Add(const RowTerms& row);
  // The next row, of which nobody knows the terms: neither its group is indexed.
  Status AddUnindexed();
  // Without an index where there are fewer rows than `rows_min`.
  Status Finish(uint32_t rows_min = kIndexedRowsMin);

 private:
  Status BeginRow(bool wants_group);
  Status EndGroup();

  BlockPacker* const packer_;
  RowGroupWriter groups_;
  MemoryBudget* const budget_;
  const uint64_t seed_;
  const SharedRules rules_;
  const uint64_t group_bytes_max_;
  std::unique_ptr<RowGroupBuilder> group_;  // null: the group is not indexed
  uint32_t rows_ = 0;
};

}  // namespace pigment
