// SPDX-License-Identifier: Apache-2.0
//
// The text index of a row group: rows of one segment, or of a piece of a tail, that follow each
// other, as many as have room in memory while their index is made. Rows are numbered within the
// group. One thread.

#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/base/status.h"
#include "engine/fulltext/analyzer.h"
#include "engine/fulltext/text_postings.h"
#include "engine/fulltext/text_terms.h"

namespace pigment {

struct TextGroup {
  uint32_t documents = 0;         // rows with a term
  uint64_t words = 0;             // of all rows: the sum of the lengths
  std::vector<uint32_t> lengths;  // of each row: occurrences of terms
  std::vector<TextTermBlock> blocks;
  std::string terms;
  std::string postings;

  uint32_t rows() const { return static_cast<uint32_t>(lengths.size()); }
  uint64_t bytes() const {
    return lengths.size() * sizeof(uint32_t) + blocks.size() * sizeof(TextTermBlock) +
           terms.size() + postings.size();
  }
  // Counts from the segment's begin, where so many bytes of other groups lie before.
  void Rebase(uint64_t terms_before, uint64_t postings_before);
};

class TextGroupBuilder {
 public:
  // Memory is charged to `budget` (may be null). `seed` keeps words from being chosen so that their
  // hashes are equal. The analyzer is borrowed.
  TextGroupBuilder(const Analyzer& analyzer, MemoryBudget* budget, uint64_t seed);

  // The next row's document, or null. After an error nothing may be added. Without the memory:
  // kResourceExhausted, Detail::kMemory.
  Status Add(const std::string_view* document);
  // What it has taken, with what Finish will take.
  uint64_t bytes() const { return bytes_; }
  uint32_t rows() const { return static_cast<uint32_t>(lengths_.size()); }

  // Nothing may be added afterwards.
  TextGroup Finish();

 private:
  // Numbers by text: an open table of places in `texts`, which has no text twice.
  class Numbering {
   public:
    explicit Numbering(uint64_t seed) : seed_(seed), slots_(kSlotsMin, 0) {}
    // The number of the text; `is_new` where it had none.
    uint32_t Of(std::string_view text, bool* is_new);
    uint32_t count() const { return static_cast<uint32_t>(texts_.size()); }
    const std::string& text(uint32_t number) const { return texts_[number]; }

   private:
    static constexpr size_t kSlotsMin = 1024;
    void Grow();

    uint64_t seed_;
    std::vector<uint64_t> slots_;  // upper half: of the hash; lower half: number + 1; 0: free
    std::deque<std::string> texts_;
  };

  Status AddWord(std::string_view word);
  Status Charge(uint64_t bytes);
  // An occurrence of a term.
  struct Place {
    uint32_t row;
    uint32_t position;
  };
  // By term, row and position: those of term t are at begins[t] .. begins[t + 1].
  std::vector<Place> SortOccurrences(std::vector<uint32_t>& begins);
  EncodedSize AppendList(std::span<const Place> places, TextGroup& group, uint32_t* documents);

  WordReader reader_;
  Reservation reservation_;
  Numbering words_;                       // as they stand in documents
  std::vector<uint32_t> terms_of_words_;  // kNoTerm: a word that is left out
  Numbering terms_;
  std::string term_;
  std::vector<uint32_t> occurrences_;  // terms, word by word and row by row
  std::vector<uint32_t> row_ends_;     // in occurrences_
  std::vector<uint32_t> lengths_;
  std::vector<uint32_t> rows_;  // of the list that is appended, as the next two
  std::vector<uint32_t> frequencies_;
  std::vector<uint32_t> positions_;
  uint64_t bytes_ = 0;
  uint64_t charged_ = 0;
};

}  // namespace pigment
