// SPDX-License-Identifier: Apache-2.0
//
// The text index of a store's segment: parts that hold the groups (engine/fulltext/text_group.h)
// one after the other, and their writer (text_reader.h reads them). One thread; everything is
// borrowed.
//
//   kTextHead        stream: the identity of the analyzer that made the terms
//   kTextGroups      TextGroupEntry
//   kTextLengths     u32 of each row: its words; 0 where its group is not indexed
//   kTextTermBlocks  TextTermBlock, whose bytes count from the segment's first
//   kTextTerms, kTextPostings   streams: blocks of terms; posting lists
//
// Rows of a group that is not indexed, because there was not the memory, are analyzed when they are
// searched.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/memory_budget.h"
#include "engine/fulltext/text_group.h"
#include "engine/segment/root.h"

namespace pigment {

class BlockPacker;  // part_writer.h

struct TextGroupEntry {
  uint32_t rows_end;
  uint32_t blocks_end;
  uint32_t documents;
  uint32_t is_indexed;
  uint64_t words;
};
static_assert(sizeof(TextGroupEntry) == 24);

class TextWriter {
 public:
  // Groups take a part of the budget's limit (null: none).
  TextWriter(BlockPacker* packer, const Analyzer& analyzer, MemoryBudget* budget, uint64_t seed);

  // The next row's document, or null. Without the memory for its group this is not indexed.
  Status Add(const std::string_view* document);
  Status Finish();

 private:
  Status EndGroup();

  BlockPacker* const packer_;
  const Analyzer& analyzer_;
  MemoryBudget* const budget_;
  const uint64_t seed_;
  const uint64_t group_bytes_max_;
  std::optional<TextGroupBuilder> group_;  // none: the group is not indexed
  TextGroupEntry written_{};               // the last group's
  uint32_t rows_ = 0;
};

}  // namespace pigment
