// SPDX-License-Identifier: Apache-2.0
//
// Vectors of one dimension in memory, one after the other, with their squares: what clusters and
// graphs are built over, compared by squared Euclidean distance. Whoever needs cosine distances
// adds vectors of unit length. Where memory is short they lie in scratch. Filled by one thread,
// then read by any.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/large_pages.h"
#include "engine/base/memory_budget.h"
#include "engine/base/prefetch.h"
#include "engine/base/scratch.h"
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
    if (scratch_ != nullptr) return GrowScratch(count);
    PIGMENT_RETURN_IF_ERROR(reservation_.Grow((floats + count) * sizeof(float)));
    values_.reserve(floats);
    squares_.reserve(count);
    begin_ = values_.data();
    return Status::Ok();
  }
  // Moves all vectors, and those to come, out of memory: room for `count`, and what Reserve() asks
  // for later, is taken from `source`. Only their squares stay. What was charged stays charged.
  Status MoveToScratch(ScratchSource source, uint32_t count) {
    source_ = std::move(source);
    PIGMENT_RETURN_IF_ERROR(GrowScratch(count));
    values_ = {};
    return Status::Ok();
  }
  // Without any vector again, with the room that there is.
  void Clear() {
    values_.clear();
    squares_.clear();
  }
  // REQUIRES: room was reserved; vector.size() == dimension(), finite values.
  void Add(std::span<const float> vector) {
    if (scratch_ != nullptr) {
      std::copy(vector.begin(), vector.end(), begin_ + Place(count()));
    } else {
      values_.insert(values_.end(), vector.begin(), vector.end());
      begin_ = values_.data();
    }
    squares_.push_back(InnerProduct(vector.data(), vector.data(), dimension_));
  }
  // Replaces one. REQUIRES: as Add; i < count().
  void Set(uint32_t i, std::span<const float> vector) {
    std::copy(vector.begin(), vector.end(), begin_ + Place(i));
    squares_[i] = InnerProduct(vector.data(), vector.data(), dimension_);
  }

  uint32_t dimension() const { return dimension_; }
  uint32_t count() const { return static_cast<uint32_t>(squares_.size()); }
  const float* row(uint32_t i) const { return begin_ + Place(i); }
  std::span<const float> vector(uint32_t i) const { return {row(i), dimension_}; }
  float square(uint32_t i) const { return squares_[i]; }
  // The vector is likely to be read soon.
  void Expect(uint32_t i) const {
    ExpectBytes<CacheLevel::kSecond>(row(i), dimension_ * sizeof(float));
  }
  float Distance(uint32_t a, uint32_t b) const {
    return pigment::Distance(Metric::kL2, row(a), row(b), dimension_);
  }

 private:
  size_t Place(uint32_t i) const { return size_t{i} * dimension_; }

  Status GrowScratch(uint32_t room) {
    PIGMENT_ASSIGN_OR_RETURN(std::unique_ptr<Scratch> grown,
                             source_(uint64_t{room} * dimension_ * sizeof(float)));
    squares_.reserve(room);
    auto* const to = reinterpret_cast<float*>(grown->bytes().data());
    std::copy_n(begin_, Place(count()), to);
    begin_ = to;
    scratch_ = std::move(grown);
    return Status::Ok();
  }

  uint32_t dimension_;
  Reservation reservation_;
  std::vector<float, LargePageAllocator<float>> values_;  // empty where they are scratch
  ScratchSource source_;
  std::unique_ptr<Scratch> scratch_;
  float* begin_ = nullptr;
  std::vector<float> squares_;
};

}  // namespace pigment
