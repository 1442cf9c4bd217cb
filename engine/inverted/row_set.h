// SPDX-License-Identifier: Apache-2.0
//
// A set of the rows of one source (a segment, or the tail) as a bit for each. Plain values, of
// which copies share the bits until one of them changes; one thread at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace pigment {

class RowSet {
 public:
  // Every row.
  explicit RowSet(uint32_t rows) : rows_(rows), count_(rows) {}
  static RowSet Nothing(uint32_t rows);

  uint32_t rows() const { return rows_; }
  uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  bool is_everything() const { return count_ == rows_; }
  bool Test(uint32_t row) const {
    return words_ == nullptr || (words_[row / 64] >> (row % 64) & 1) != 0;
  }
  void Set(uint32_t row);    // of a row that is not in the set
  void Clear(uint32_t row);  // of a row that is in the set
  // One bit per row, lowest first; empty: every row.
  std::span<const uint64_t> words() const {
    return words_ == nullptr ? std::span<const uint64_t>() : std::span(words_.get(), word_count());
  }
  // The bits of rows 64 * word and up; those beyond the rows are zero.
  uint64_t Word(size_t word) const;
  // The first row of the set that is not below `from`; rows() when there is none.
  uint32_t Next(uint32_t from) const;

  // REQUIRES of these: sets of as many rows.
  void Intersect(const RowSet& other);
  void Unite(const RowSet& other);
  void Subtract(const RowSet& other);
  void Complement();

  // The bits, for whoever changes many at once; those beyond the rows stay zero. Recount
  // afterwards.
  std::span<uint64_t> MutableWords();
  void Recount();

 private:
  size_t word_count() const { return (size_t{rows_} + 63) / 64; }

  uint32_t rows_;
  uint64_t count_;
  std::shared_ptr<uint64_t[]> words_;  // null: every row
};

}  // namespace pigment
