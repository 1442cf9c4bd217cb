// SPDX-License-Identifier: Apache-2.0
//
// Walks one posting list of a row group block by block, ascending: what a block can score at most
// is known without decoding it. A list is stored, or was made by a search (phrases, prefixes). One
// thread; the source is borrowed.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/fulltext/text_postings.h"
#include "engine/fulltext/text_source.h"

namespace pigment {

class PostingCursor {
 public:
  static Result<PostingCursor> Open(TextSource* source, const TextList& list,
                                    LengthReader& lengths);
  // Of rows that ascend, with the frequency of each.
  static PostingCursor Of(TextSource* source, std::vector<uint32_t> rows,
                          std::vector<uint32_t> frequencies, LengthReader& lengths);

  uint32_t documents() const { return documents_; }
  uint32_t blocks() const { return static_cast<uint32_t>(entries_.size()); }
  uint32_t last_row(uint32_t block) const { return entries_[block].last_row; }
  const Impacts& impacts(uint32_t block) const { return entries_[block].impacts; }
  // The block that has the first row from `row` on, where it is not before block `from`; blocks()
  // when there is none.
  uint32_t BlockOf(uint32_t row, uint32_t from) const;

  // Decodes a block. REQUIRES: block < blocks().
  Status Load(uint32_t block);
  uint64_t blocks_loaded() const { return blocks_loaded_; }  // some of them more than once
  std::span<const uint32_t> rows() const { return rows_; }   // of the block that was loaded
  std::span<const uint32_t> frequencies() const { return frequencies_; }

  // The block that has the first row from `row` on, or blocks(). Rows that are asked for ascend,
  // here and in what follows.
  uint32_t SeekBlock(uint32_t row) { return block_ = BlockOf(row, block_); }
  // How often `row` has the term; 0: it has not.
  Result<uint32_t> FrequencyOf(uint32_t row);
  // The first row from `row` on; source->rows() when there is none.
  Result<uint32_t> SeekRow(uint32_t row);
  // Where the row that SeekRow or FrequencyOf found has the term. REQUIRES: a stored list.
  Result<std::span<const uint32_t>> Positions();

 private:
  explicit PostingCursor(TextSource* source) : source_(source) {}
  Status ReadEntries();
  void MakeEntries(LengthReader& lengths);
  Status Damaged() const { return source_->Damaged("a posting list"); }

  TextSource* source_;
  TextList list_;
  uint32_t documents_ = 0;
  std::unique_ptr<TextBytes> bytes_;  // null: all_rows_ has all
  std::string copy_;
  std::vector<PostingEntry> entries_;
  std::vector<uint32_t> all_rows_;  // of a list that is not in blocks, and then the frequencies
  std::vector<uint32_t> all_frequencies_;
  std::vector<uint32_t> block_rows_;  // decoded
  std::vector<uint32_t> block_frequencies_;
  std::span<const uint32_t> rows_;
  std::span<const uint32_t> frequencies_;
  uint32_t loaded_ = 0xFFFFFFFF;  // block
  uint64_t blocks_loaded_ = 0;
  uint32_t at_ = 0;                          // in rows_: none before is asked for any more
  uint32_t block_ = 0;                       // the same among blocks
  uint32_t decoded_positions_ = 0xFFFFFFFF;  // of this block
  std::vector<uint32_t> positions_;
  std::vector<uint32_t> position_ends_;
};

}  // namespace pigment
