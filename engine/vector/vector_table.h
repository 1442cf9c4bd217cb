// SPDX-License-Identifier: Apache-2.0
//
// Vectors of one dimension in memory, one after the other, with their squares: what clusters and
// graphs are built over, compared by squared Euclidean distance. Whoever needs cosine distances
// adds vectors of unit length. Filled by one thread, then read by any.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/large_pages.h"
#include "engine/base/memory_budget.h"
#include "engine/vector/distance.h"

namespace pigment {

class VectorTable {
 public:
  // Memory is charged to `budget` (may be null).
  VectorTable(uint32_t dimension, MemoryBudget* budget)
      : dimension_(dimension), reservation_(budget) {}

  // Takes memory for this many vectors in all.
  Status Reserve(uint32_t count) {
    const uint64_t floats = uint64_t{count} * dimension_;
    PIGMENT_RETURN_IF_ERROR(reservation_.Grow((floats + count) * sizeof(float)));
    values_.reserve(floats);
    squares_.reserve(count);
    return Status::Ok();
  }
  // REQUIRES: room was reserved; vector.size() == dimension(), finite values.
  void Add(std::span<const float> vector) {
    values_.insert(values_.end(), vector.begin(), vector.end());
    squares_.push_back(InnerProduct(vector.data(), vector.data(), dimension_));
  }
  // Replaces one. REQUIRES: as Add; i < count().
  void Set(uint32_t i, std::span<const float> vector) {
    std::copy(vector.begin(), vector.end(), values_.begin() + static_cast<ptrdiff_t>(Place(i)));
    squares_[i] = InnerProduct(vector.data(), vector.data(), dimension_);
  }

  uint32_t dimension() const { return dimension_; }
  uint32_t count() const { return static_cast<uint32_t>(squares_.size()); }
  const float* row(uint32_t i) const { return values_.data() + Place(i); }
  std::span<const float> vector(uint32_t i) const { return {row(i), dimension_}; }
  float square(uint32_t i) const { return squares_[i]; }
  // The vector is likely to be read soon.
  void Expect(uint32_t i) const {
    constexpr uint32_t kFloatsPerLine = 16;
    for (uint32_t d = 0; d < dimension_; d += kFloatsPerLine) __builtin_prefetch(row(i) + d, 0, 2);
  }
  float Distance(uint32_t a, uint32_t b) const {
    return pigment::Distance(Metric::kL2, row(a), row(b), dimension_);
  }

 private:
  size_t Place(uint32_t i) const { return size_t{i} * dimension_; }

  uint32_t dimension_;
  Reservation reservation_;
  std::vector<float, LargePageAllocator<float>> values_;
  std::vector<float> squares_;
};

}  // namespace pigment
