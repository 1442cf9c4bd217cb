// SPDX-License-Identifier: Apache-2.0
//
// RowBitmap: a set of row numbers of one segment or tail as a dense bit set, in copy-on-write pages so that a version that differs in a few rows
// shares the rest. Immutable once published; With() gives a changed copy. Any thread may read.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pigment {

class RowBitmap {
 public:
  static constexpr uint32_t kPageRows = 32768;

  explicit RowBitmap(uint32_t rows) : rows_(rows), pages_((rows + kPageRows - 1) / kPageRows) {}

  uint32_t rows() const { return rows_; }
  bool Test(uint32_t row) const {
    const auto& page = pages_[row / kPageRows];
    return page && ((*page)[row % kPageRows / 64] >> (row % 64) & 1);
  }
  uint64_t Count() const;

  // A copy with `rows` set as well; shares the pages that do not change.
  RowBitmap With(std::span<const uint32_t> rows) const;

 private:
  using Page = std::array<uint64_t, kPageRows / 64>;
  uint32_t rows_;
  std::vector<std::shared_ptr<const Page>> pages_;
};

}  // namespace pigment
