// SPDX-License-Identifier: Apache-2.0
//
// NearPlaces: which of many distances are near, what clustering and the construction of graphs ask
// again and again.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pigment {

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

}  // namespace pigment
