// SPDX-License-Identifier: Apache-2.0
//
// Vectors in 8 bits a dimension, for the pairs that a build compares here and there: bounds of a
// distance in a quarter of the time and of the bytes that the distance takes, which only those need
// that bounds leave open. They are five standard errors away for vectors that were rotated, where
// what rounding takes off one says nothing of the other, so they hold nearly always and promise
// nothing. Filled by one thread, then read by any; the same bits on every machine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/large_pages.h"
#include "engine/base/memory_budget.h"
#include "engine/base/prefetch.h"
#include "engine/vector/build_pause.h"
#include "engine/vector/byte_rows.h"
#include "engine/vector/vector_table.h"

namespace pigment {

class PairCodes {
 public:
  // Memory is charged to `budget` (may be null).
  explicit PairCodes(MemoryBudget* budget) : reservation_(budget) {}
  // What each vector takes.
  static uint64_t Bytes(uint32_t dimension);

  // `pause` may be empty.
  Status Make(const VectorTable& vectors, const BuildPause& pause);

  // Between which the squared distance of two vectors lies.
  struct Bounds {
    float least;  // may be negative
    float most;
  };
  Bounds Between(uint32_t a, uint32_t b) const;
  // The vector is likely to be compared soon.
  void Expect(uint32_t i) const {
    ExpectBytes(codes_.data() + i * stride_, stride_);
    ExpectBytes(&numbers_[i], sizeof(Numbers));
  }

 private:
  struct Numbers {
    ByteRow row;
    float norm;
  };

  Reservation reservation_;
  size_t stride_ = 0;
  std::vector<int8_t, LargePageAllocator<int8_t>> codes_;
  std::vector<Numbers, LargePageAllocator<Numbers>> numbers_;
};

}  // namespace pigment
