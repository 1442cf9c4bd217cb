// SPDX-License-Identifier: Apache-2.0
//
// The index of documents by their grams (engine/inverted/gram.h), and where documents lie: parts,
// and their writer (cell_reader.h reads them). One thread; everything is borrowed.
//
//   kDocumentBegins  element u64: of each 64 rows, bytes of documents before the first
//   kDocumentEnds    element u32: of each row, bytes of documents from there to the end of its own;
//                    2^32 - 1 where there are more; both are not there where all documents are
//                    empty
//   kGramGroups …    an inverted index as inverted_part.h has it; its lists are of cells
//
// Segments whose documents are few have no index: these are looked at in no time. Before 0.2 was
// released there was an index over cells of 2 KiB (kCells to kCellRows); segments that have it are
// read as if they had none, until a merge makes theirs.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/inverted/gram.h"
#include "engine/segment/inverted_part.h"

namespace pigment {

inline constexpr InvertedKinds kGramKinds = {
    .groups = BlockKind::kGramGroups,
    .fields = BlockKind::kGramFields,
    .blocks = BlockKind::kGramTermBlocks,
    .terms = BlockKind::kGramTerms,
    .postings = BlockKind::kGramPostings,
};

inline constexpr uint32_t kRowsPerBegin = 64;
constexpr uint64_t DocumentBeginsOf(uint64_t rows) {
  return (rows + kRowsPerBegin - 1) / kRowsPerBegin;
}

constexpr uint32_t DocumentEndOf(uint64_t bytes) {
  return static_cast<uint32_t>(std::min<uint64_t>(bytes, 0xFFFFFFFF));
}

// With fewer bytes of documents, in fewer rows, there is no index.
inline constexpr uint64_t kIndexedDocumentBytesMin = 128 << 10;
inline constexpr uint32_t kIndexedDocumentRowsMin = 4096;

class CellWriter {
 public:
  // Groups of rows take a part of the budget's limit (null: none).
  CellWriter(BlockPacker* packer, MemoryBudget* budget, uint64_t seed);

  // The next row; `document` null: it has none. Without the memory for its group this is not
  // indexed.
  Status Add(const std::string_view* document);
  Status Finish();

 private:
  bool are_enough() const {
    return bytes_ >= kIndexedDocumentBytesMin || rows_ >= kIndexedDocumentRowsMin;
  }
  // Writes what was kept until there were enough.
  Status PutPlaces();
  Status EndGroup();

  BlockPacker* const packer_;
  MemoryBudget* const budget_;
  const uint64_t seed_;
  const uint64_t group_bytes_max_;
  RowGroupWriter groups_;
  std::optional<GramGroupBuilder> group_;  // none: the group is not indexed
  uint32_t rows_before_ = 0;      // all documents: their places are zeros, not written yet
  std::vector<uint64_t> begins_;  // not written yet, as the next
  std::vector<uint32_t> ends_;
  uint64_t begin_ = 0;  // of the documents of the last row's 64
  uint64_t bytes_ = 0;
  uint32_t rows_ = 0;
};

}  // namespace pigment
