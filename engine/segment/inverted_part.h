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
//
// Groups begin at multiples of 64 rows. Small segments have no index: their rows are looked at one
// by one.

#pragma once

#include <cstdint>
#include <memory>
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

class InvertedWriter {
 public:
  // Row groups take a part of the budget's limit (null: none).
  InvertedWriter(BlockPacker* packer, MemoryBudget* budget, uint64_t seed);

  // The next row, as RowGroupBuilder::Add. Without the memory for its group this is not indexed.
  Status Add(const std::string_view* metadata, const std::string_view* uri);
  Status Finish();

 private:
  Status EndGroup();

  BlockPacker* const packer_;
  MemoryBudget* const budget_;
  const uint64_t seed_;
  const uint64_t group_bytes_max_;
  std::unique_ptr<RowGroupBuilder> group_;  // null: the group is not indexed
  RowGroupEntry written_{};                 // the last group's
  uint32_t rows_ = 0;
};

}  // namespace pigment
