// SPDX-License-Identifier: Apache-2.0
//
// Members of a cluster in 7 bits a dimension, as what lies between their middle and each: estimates
// of the squared distances of many vectors to all of them, in a quarter of the time that products
// of floats take where the machine multiplies bytes (VNNI). An estimate is off by about two
// thousandths of what both vectors are away from the middle, so it tells near from far within a
// cluster however tight that is beside the whole. Processors without VNNI multiply codes of 7 bits
// in five eighths of the instructions that 8 bits take. One thread; the same bits on every machine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/vector/byte_rows.h"
#include "engine/vector/vector_table.h"

namespace pigment {

class MemberCodes {
 public:
  static constexpr size_t kWidth = 32;  // members are packed side by side, so many to a panel
  // Rows that are compared at once; fewer cost as much as this.
  static constexpr size_t kRowsPerPass = 12;

  // Memory is charged to `budget` (may be null).
  MemberCodes(uint32_t dimension, MemoryBudget* budget);
  // What it takes for `members` at most.
  static uint64_t Bytes(uint32_t dimension, size_t members);

  // Takes `members` of `vectors` (of the same dimension), in place of those that were here.
  Status Pack(const VectorTable& vectors, std::span<const uint32_t> members);

  size_t count() const { return count_; }
  // Estimates of the squared distances of each of 1 to kRowsPerPass rows of `vectors` to all
  // members, one span for each row, until the next call; what is beyond count() is anything.
  void Estimate(const VectorTable& vectors, std::span<const uint32_t> rows);
  std::span<const float> distances(size_t row) const {
    return std::span(distances_).subspan(row * PaddedTo(kWidth, count_), count_);
  }
  // By how much those of this row are off at most, nearly always: five standard errors, for vectors
  // that were rotated (as in pair_codes.h).
  float ErrorOf(size_t row) const { return errors_[row]; }

 private:
  void FindMiddle(const VectorTable& vectors, std::span<const uint32_t> members);
  // Codes of `vector` less the middle, in codes_.
  ByteRow Encode(const float* vector);

  const uint32_t dimension_;
  const size_t padded_;  // dimensions, in whole registers
  Reservation reservation_;
  size_t count_ = 0;
  std::vector<float> middle_;
  std::vector<float> residual_;
  std::vector<int8_t> codes_;   // of one vector
  std::vector<int8_t> packed_;  // of each panel: four dimensions of all members, then the next
                                // four, all raised (byte_products-inl.h)
  std::vector<float> squares_;
  std::vector<float> scales_;
  std::vector<int8_t> rows_;  // of a pass: kByteRowStep dimensions of all, then as many more
  std::vector<float> distances_;
  float greatest_norm_ = 0;  // of members, from the middle
  float greatest_scale_ = 0;
  float errors_[kRowsPerPass] = {};
};

}  // namespace pigment
