// SPDX-License-Identifier: Apache-2.0
//
// Grams: the pieces of three bytes of documents, letters of ASCII made small, as terms of the
// inverted index. A piece begins at every byte: the last two of a document have the two bytes, and
// the one, that are left. So what begins with a text of one or two bytes is an interval of terms,
// and a document that holds a longer one has all of its grams.
//
// Rows that follow each other are gathered in cells, and the index is over cells: 1, 2, 4, up to 64
// rows each, so that their documents have half a KiB at most on average; all cells of a group have
// as many. What it gives are candidates; documents are looked at anyway, and looking at a short
// document costs hardly more than a posting of its own. Trigrams after Cox, "Regular Expression
// Matching with a Trigram Index" (2012).
//
// Plain values; one thread each.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/base/status.h"
#include "engine/inverted/gram_lists.h"
#include "engine/inverted/row_group.h"

namespace pigment {

// The grams of a text that every document with it has, as terms, each once; empty where it is
// shorter than a gram.
std::vector<std::string> GramsOf(std::string_view text);

// The grams of a text as a host's row has them: three bytes each, ascending, each once; where fewer
// bytes are left of the text, zeros follow. `room` has place for four bytes of each byte of the
// text and is aligned as numbers are. Returns how many bytes were written.
size_t WriteGrams(std::string_view text, uint32_t* room);

// How many rows each cell of a group has, as a power of two: of so many rows, whose documents have
// so many bytes together.
uint32_t CellShiftOf(uint64_t document_bytes, uint32_t rows);

// The index of rows that follow each other, as a row group with one field: key empty, type kGrams.
class GramGroupBuilder {
 public:
  // Memory is charged to `budget` (may be null). `seed` keeps grams from being chosen so that their
  // hashes are equal.
  GramGroupBuilder(MemoryBudget* budget, uint64_t seed) : lists_(budget, seed) {}

  // The next row's document; empty where it has none. Without the memory: kResourceExhausted;
  // nothing may be called afterwards.
  Status Add(std::string_view document);
  // What it has taken, with what Finish will take.
  uint64_t bytes() const { return lists_.bytes(); }

  // Nothing may be added afterwards.
  RowGroupIndex Finish();

 private:
  GramLists lists_;
  uint64_t document_bytes_ = 0;
  uint32_t rows_ = 0;
};

}  // namespace pigment
