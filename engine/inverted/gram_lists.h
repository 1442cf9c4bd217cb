// SPDX-License-Identifier: Apache-2.0
//
// GramLists: the rows of each gram (gram.h) while an index of them is made: a hash table of grams,
// each with the list of its rows as varints, some nine bits a row. One thread.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/base/status.h"
#include "engine/inverted/row_group.h"

namespace pigment {

// A gram as a number that orders as its bytes do: three bytes, and how many of them count.
constexpr uint32_t PackGram(uint32_t bytes, uint32_t count) {
  return bytes << (8 * (kGramBytes + 1 - count)) | count;
}

class GramLists {
 public:
  // Memory is charged to `budget` (may be null). `seed` keeps grams from being chosen so that their
  // hashes are equal.
  GramLists(MemoryBudget* budget, uint64_t seed) : reservation_(budget), seed_(seed | 1) {}

  // A gram of PackGram that a row has. REQUIRES: `row` is not below that of the call before.
  // Without the memory: kResourceExhausted; nothing may be called afterwards.
  Status Add(uint32_t gram, uint32_t row);
  // What it has taken, with what WriteTo will take.
  uint64_t bytes() const { return charged_; }
  bool empty() const { return terms_.empty(); }

  // Appends them as a field of type kGrams. Nothing may be called afterwards. REQUIRES: not empty.
  void WriteTo(std::string_view key, FieldCells cells, RowGroupIndex& out);

 private:
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

  Status Charge(uint64_t bytes);
  Status GrowSlots();
  Status AddByte(Term& term, uint8_t byte);
  size_t SlotOf(uint32_t gram) const;
  // The cells of the term's rows, each once.
  void ReadCells(const Term& term, uint32_t rows_shift, std::vector<uint32_t>& cells) const;

  Reservation reservation_;
  const uint64_t seed_;
  uint64_t charged_ = 0;
  uint32_t slot_shift_ = 0;
  std::vector<uint32_t> slots_;  // number of a term and 1; 0: none
  std::vector<Term> terms_;
  std::vector<Chunk> chunks_;
};

}  // namespace pigment
