// SPDX-License-Identifier: Apache-2.0
//
// Promises: what a search may go on to, the least first (PromiseOf). There are some hundred of
// them, most of which are never taken, and a heap of so few is branches that nobody foresees: here
// one more is written behind the others, and the least is found by looking at all, a register at a
// time, and where there are more than 256, at the leasts of 256 each. One thread at a time; memory
// is kept when all are cleared.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace pigment {

class Promises {
 public:
  void Clear();

  bool empty() const { return least_ == kNone; }
  // REQUIRES: !empty().
  uint64_t least() const { return least_; }
  // Those of one distance, the upper half, are given in the order in which they came. REQUIRES: it
  // is less than the greatest number, as that of PromiseOf is.
  void Push(uint64_t promise) {
    if (used_ == keys_.size()) Grow();
    const auto key = static_cast<uint32_t>(promise >> 32);
    keys_[used_] = key;
    numbers_[used_] = static_cast<uint32_t>(promise);
    uint32_t& least_of_block = leasts_[used_ / kBlock];
    least_of_block = std::min(least_of_block, key);
    if (key < least_ >> 32) {
      least_ = promise;
      place_ = used_;
    }
    ++used_;
  }
  // Takes the least away and gives it. REQUIRES: !empty().
  uint64_t Pop();

 private:
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  static constexpr size_t kBlock = 256;

  void Grow();

  // Upper and lower halves of promises. Places whose promise was taken, or that had none yet, have
  // the greatest number.
  std::vector<uint32_t> keys_;
  std::vector<uint32_t> numbers_;
  std::vector<uint32_t> leasts_;  // of the keys of each block
  size_t used_ = 0;               // places, those of promises that were taken among them
  uint64_t least_ = kNone;
  size_t place_ = 0;  // of the least
};

}  // namespace pigment
