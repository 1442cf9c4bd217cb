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
#include "engine/inverted/row_group.h"

namespace pigment {

inline constexpr size_t kGramBytes = 3;

// The grams of a text that every document with it has, as terms, each once; empty where it is
// shorter than a gram.
std::vector<std::string> GramsOf(std::string_view text);

// How many rows each cell of a group has, as a power of two: of so many rows, whose documents have
// so many bytes together.
uint32_t CellShiftOf(uint64_t document_bytes, uint32_t rows);

// The index of rows that follow each other, as a row group with one field: key empty, type kGrams.
class GramGroupBuilder {
 public:
  // Memory is charged to `budget` (may be null). `seed` keeps grams from being chosen so that their
  // hashes are equal.
  GramGroupBuilder(MemoryBudget* budget, uint64_t seed);

  // The next row's document; empty where it has none. Without the memory: kResourceExhausted;
  // nothing may be called afterwards.
  Status Add(std::string_view document);
  // What it has taken, with what Finish will take.
  uint64_t bytes() const { return charged_; }

  // Nothing may be added afterwards.
  RowGroupIndex Finish();

 private:
  // A list of rows as varints of what each exceeds the one before by, in chunks.
  struct Term {
    uint32_t gram;
    uint32_t next_row;     // beyond the last row that has it
    uint32_t first_chunk;  // kNoChunk: none yet
    uint32_t last_chunk;
    uint32_t used;  // bytes of the last chunk
  };
  struct Chunk {
    uint32_t next;
    uint8_t bytes[28];
  };
  static_assert(sizeof(Chunk) == 32);

  Status AddGram(uint32_t gram);
  Status Charge(uint64_t bytes);
  Status GrowSlots();
  Status AddByte(Term& term, uint8_t byte);
  size_t SlotOf(uint32_t gram) const;
  // The cells of the term's rows, each once.
  void ReadCells(const Term& term, uint32_t rows_shift, std::vector<uint32_t>& cells) const;

  Reservation reservation_;
  const uint64_t seed_;
  uint64_t charged_ = 0;
  uint64_t document_bytes_ = 0;
  uint32_t rows_ = 0;
  uint32_t slot_shift_ = 0;
  std::vector<uint32_t> slots_;  // number of a term and 1; 0: none
  std::vector<Term> terms_;
  std::vector<Chunk> chunks_;
};

}  // namespace pigment
