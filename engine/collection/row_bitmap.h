// SPDX-License-Identifier: Apache-2.0
//
// RowBitmap: a set of row numbers of one segment or tail as a dense bit set, in copy-on-write pages
// so that a version that differs in a few rows shares the rest. Immutable once published; With()
// gives a changed copy. Any thread may read.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/made_once.h"
#include "engine/inverted/row_set.h"

namespace pigment {

class RowBitmap {
 public:
  static constexpr uint32_t kPageRows = 32768;

  explicit RowBitmap(uint32_t rows) : rows_(rows), pages_(PagesOf(rows)) {}

  uint32_t rows() const { return rows_; }
  bool Test(uint32_t row) const {
    const auto& page = pages_[row / kPageRows];
    return page && ((*page)[row % kPageRows / 64] >> (row % 64) & 1);
  }
  uint64_t Count() const;
  // The rows that are not set. Made when it is first asked for.
  RowSet Others() const;

  // A copy with `rows` set as well; shares the pages that do not change. REQUIRES: every row <
  // rows().
  RowBitmap With(std::span<const uint32_t> rows) const;
  // A copy for more rows, none of the new ones set. REQUIRES: rows >= rows().
  RowBitmap Grown(uint32_t rows) const;

  // The bits as stored: word w holds rows 64 w .. 64 w + 63, lowest bit first.
  uint32_t words() const { return static_cast<uint32_t>((uint64_t{rows_} + 63) / 64); }
  uint64_t Word(uint32_t word) const {
    const auto& page = pages_[word / kPageWords];
    return page ? (*page)[word % kPageWords] : 0;
  }
  // REQUIRES: words.size() is what `rows` needs, and no bit beyond `rows` is set.
  static RowBitmap FromWords(uint32_t rows, std::span<const uint64_t> words);

 private:
  static constexpr uint32_t kPageWords = kPageRows / 64;
  using Page = std::array<uint64_t, kPageWords>;
  static size_t PagesOf(uint32_t rows) { return (size_t{rows} + kPageRows - 1) / kPageRows; }

  uint32_t rows_;
  std::vector<std::shared_ptr<const Page>> pages_;
  MadeOnce<const RowSet> others_;
};

}  // namespace pigment
