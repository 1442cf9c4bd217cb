// SPDX-License-Identifier: Apache-2.0
//
// TopK: the k smallest of many (distance, tie) pairs, in total order, whatever the order of
// arrival. One thread at a time; memory grows with what is kept, never with k alone.

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace pigment {

// Maps distances to integers of the same order: -inf < ... < -0 = +0 < ... < +inf < NaN.
inline uint32_t DistanceKey(float distance) {
  if (distance != distance) return 0xFFFFFFFE;
  const uint32_t bits = std::bit_cast<uint32_t>(distance + 0.0f);  // -0 becomes +0
  return bits & 0x80000000 ? ~bits : bits | 0x80000000;
}
// The distance of a key; of one that NaN has, NaN.
inline float DistanceOfKey(uint32_t key) {
  return std::bit_cast<float>(key & 0x80000000 ? key & 0x7FFFFFFF : ~key);
}

// A number with its distance, ordered by it: bits 63..32 DistanceKey(distance), 31..0 the number.
inline uint64_t PromiseOf(float distance, uint32_t number) {
  return uint64_t{DistanceKey(distance)} << 32 | number;
}

struct Scored {
  float distance = 0;
  uint64_t tie = 0;

  // Smaller distance first, NaN last, then the smaller tie.
  friend bool operator<(const Scored& a, const Scored& b) {
    const uint32_t a_key = DistanceKey(a.distance);
    const uint32_t b_key = DistanceKey(b.distance);
    return a_key != b_key ? a_key < b_key : a.tie < b.tie;
  }
};

class TopK {
 public:
  // What is beyond `limit` (NaN: there is none) may not enter, as if k nearer ones were kept.
  explicit TopK(size_t k, float limit = kNone) : k_(k), worst_(limit) {}

  // False only when a pair with this distance cannot enter, whatever its tie: the cheap test before
  // Offer. Written so that a NaN on either side passes.
  bool MayEnter(float distance) const { return !(distance > worst_); }

  // REQUIRES: MayEnter(distance), where a limit was given.
  void Offer(float distance, uint64_t tie) {
    const Scored candidate{distance, tie};
    if (heap_.size() < k_) {
      heap_.push_back(candidate);
      std::push_heap(heap_.begin(), heap_.end());
    } else {
      if (k_ == 0 || !(candidate < heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = candidate;
      std::push_heap(heap_.begin(), heap_.end());
    }
    if (heap_.size() == k_) worst_ = heap_.front().distance;
  }

  size_t size() const { return heap_.size(); }
  size_t k() const { return k_; }
  // The largest distance kept, once k are; the limit before.
  float worst() const { return worst_; }

  // The pairs in order; empties this object.
  std::vector<Scored> TakeSorted() {
    std::sort_heap(heap_.begin(), heap_.end());
    worst_ = kNone;
    return std::exchange(heap_, {});
  }

 private:
  static constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

  size_t k_;
  float worst_;
  std::vector<Scored> heap_;  // largest first
};

}  // namespace pigment
