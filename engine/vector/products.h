// SPDX-License-Identifier: Apache-2.0
//
// Inner products of many vectors with many, in blocks that stay in registers: what clustering and
// the construction of graphs spend their time on. Any thread may multiply by one VectorPanels; the
// same bits on every machine (each product is one sum in the order of the dimensions, unfused).

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/vector/vector_table.h"

namespace pigment {

// Vectors packed side by side, 32 to a panel, dimension by dimension.
class VectorPanels {
 public:
  static constexpr size_t kWidth = 32;
  // Rows that are multiplied at once; fewer cost as much as this.
  static constexpr size_t kRowsPerPass = 12;

  // Memory is charged to `budget` (may be null).
  VectorPanels(uint32_t dimension, MemoryBudget* budget)
      : dimension_(dimension), reservation_(budget) {}

  // Takes copies of `vectors`, in place of those that were here.
  Status Pack(std::span<const float* const> vectors);

  size_t count() const { return count_; }
  // Floats that a row of products takes: count(), rounded up to whole panels.
  size_t stride() const { return (count_ + kWidth - 1) / kWidth * kWidth; }

  // out[i * stride() + j] = rows[i] . vector j, for each of 1 to kRowsPerPass rows; places beyond
  // count() are anything.
  void Multiply(std::span<const float* const> rows, float* out) const;

 private:
  const uint32_t dimension_;
  Reservation reservation_;
  size_t count_ = 0;
  std::vector<float> packed_;
};

// Which of many distances are near. One thread.
class NearPlaces {
 public:
  // Those that are at most `limit`, at ascending places.
  void Find(std::span<const float> distances, float limit);
  // The k least and those that are at most `slack` beyond the k-th of them, at ascending places.
  // REQUIRES: numbers; 0 < k <= distances.size().
  void FindNearest(std::span<const float> distances, size_t k, float slack);

  size_t count() const { return count_; }
  uint32_t place(size_t i) const { return places_[i]; }
  float distance(size_t i) const { return distances_[i]; }

 private:
  size_t count_ = 0;
  std::vector<uint32_t> places_;
  std::vector<float> distances_;
  std::vector<float> sorted_;  // scratch
};

// Asked at least every few milliseconds by whatever builds; its error ends the work.
using BuildPause = std::function<Status()>;

// Multiplies `rows` of `vectors` by the panels, some at a time, and asks `pause` (may be empty) in
// between: visit(i, products) gets those of rows[i], valid during the visit.
template <typename Visit>
Status MultiplyRows(const VectorPanels& panels, const VectorTable& vectors,
                    std::span<const uint32_t> rows, const BuildPause& pause, const Visit& visit) {
  constexpr size_t kPass = VectorPanels::kRowsPerPass;
  std::vector<float> products(kPass * panels.stride());
  for (size_t begin = 0; begin < rows.size(); begin += kPass) {
    if (pause) PIGMENT_RETURN_IF_ERROR(pause());
    const size_t some = std::min(kPass, rows.size() - begin);
    const float* pass[kPass];
    for (size_t i = 0; i < some; ++i) pass[i] = vectors.row(rows[begin + i]);
    panels.Multiply(std::span(pass).first(some), products.data());
    for (size_t i = 0; i < some; ++i) visit(begin + i, products.data() + i * panels.stride());
  }
  return Status::Ok();
}

}  // namespace pigment
