// SPDX-License-Identifier: Apache-2.0
//
// Columns of a caller: texts in Arrow's LargeUtf8 layout and matrices of numbers, checked before
// anything of them is used. Views borrow the caller's memory for the call. Pure functions; any
// thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "pigment/pigment.h"

namespace pigment::abi {

// A checked column: offsets ascend from 0 or above, present texts have bytes.
class TextColumnView {
 public:
  TextColumnView() = default;  // absent
  TextColumnView(const pigment_text_column& column, size_t count)
      : column_(column), count_(count) {}

  bool given() const { return column_.offsets != nullptr; }
  size_t size() const { return count_; }
  bool has(size_t row) const {
    return column_.validity == nullptr || (column_.validity[row / 8] >> (row % 8) & 1) != 0;
  }
  // REQUIRES: given(), row < size(). Empty for a row that is not present.
  std::string_view operator[](size_t row) const;
  uint64_t bytes() const;  // of all rows
  const pigment_text_column& column() const { return column_; }

 private:
  pigment_text_column column_{};
  size_t count_ = 0;
};

enum class TextKind { kUtf8, kBytes };

// An absent column (offsets null) gives a view that is not given; with a count it is refused where
// `count_belongs` says that the count is this column's own.
Result<TextColumnView> ReadTextColumn(const pigment_text_column& column, size_t count,
                                      std::string_view argument, TextKind kind,
                                      bool count_belongs = false);

// Every row must be present: `argument` names the column in the error, which carries the row.
Status CheckAllPresent(const TextColumnView& column, std::string_view argument);

// Copies of all rows. REQUIRES: checked, all present.
std::vector<std::string> CopyTexts(const TextColumnView& column);

// Shape alone: a dimension from 1 to 65,535. Part of the dimension step of validation.
Status CheckVectorShape(const pigment_vectors& vectors, std::string_view argument);

// Values as f32, packed. A value that f32 cannot hold (NaN, infinity, overflow) is refused with its
// row. data null with rows is refused. REQUIRES: CheckVectorShape.
Result<std::vector<float>> ReadVectors(const pigment_vectors& vectors, std::string_view argument);

}  // namespace pigment::abi
