// SPDX-License-Identifier: Apache-2.0
//
// Promises: what a search may go on to, the least first (PromiseOf). There are some hundred of
// them, and a heap of so few is branches that nobody foresees: here the least is found by looking
// at all, a register at a time, and where there are more than 64, at the leasts of 64 each. One
// thread at a time; memory is kept when all are cleared.

#pragma once

#include <algorithm>
#include <array>
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
  // Equal ones are kept apart. REQUIRES: `promise` is less than the greatest number.
  void Push(uint64_t promise);
  // Takes the least away and gives it. REQUIRES: !empty().
  uint64_t Pop();

 private:
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  static constexpr size_t kBlock = 64;
  static constexpr size_t kLevels = 6;  // for more promises than there is memory

  // The promises, and above each level that has more than one block the leasts of its blocks. Whole
  // blocks: places that are free have kNone.
  std::array<std::vector<uint64_t>, kLevels> levels_;
  size_t used_levels_ = 1;
  size_t used_ = 0;           // places of the lowest level, those of `free_` among them
  std::vector<size_t> free_;  // of these places
  uint64_t least_ = kNone;
};

}  // namespace pigment
