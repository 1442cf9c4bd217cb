// SPDX-License-Identifier: Apache-2.0
//
// A tree of leasts and its two kernels, once per SIMD target by Highway: see the header.

#include "engine/vector/promises.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/promises.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<uint64_t, 8>;

// Both of 64 numbers.
HWY_ATTR uint64_t LeastOf(const uint64_t* numbers) {
  const Lanes lanes;
  auto even = hn::LoadU(lanes, numbers);
  auto odd = hn::LoadU(lanes, numbers + hn::Lanes(lanes));
  for (size_t i = 2 * hn::Lanes(lanes); i < 64; i += 2 * hn::Lanes(lanes)) {
    even = hn::Min(even, hn::LoadU(lanes, numbers + i));
    odd = hn::Min(odd, hn::LoadU(lanes, numbers + i + hn::Lanes(lanes)));
  }
  return hn::GetLane(hn::MinOfLanes(lanes, hn::Min(even, odd)));
}

// The first place of `number`, which is there.
HWY_ATTR size_t PlaceOf(const uint64_t* numbers, uint64_t number) {
  const Lanes lanes;
  const auto wanted = hn::Set(lanes, number);
  for (size_t i = 0;; i += hn::Lanes(lanes)) {
    const intptr_t place = hn::FindFirstTrue(lanes, hn::Eq(hn::LoadU(lanes, numbers + i), wanted));
    if (place >= 0) return i + static_cast<size_t>(place);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(LeastOf);
HWY_EXPORT(PlaceOf);

}  // namespace

void Promises::Clear() {
  for (size_t level = 0; level < used_levels_; ++level) levels_[level].clear();
  used_levels_ = 1;
  used_ = 0;
  free_.clear();
  least_ = kNone;
}

void Promises::Push(uint64_t promise) {
  size_t place = used_;
  if (!free_.empty()) {
    place = free_.back();
    free_.pop_back();
  } else {
    ++used_;
  }
  least_ = std::min(least_, promise);
  for (size_t level = 0;; ++level, place /= kBlock) {
    std::vector<uint64_t>& numbers = levels_[level];
    if (place == numbers.size()) numbers.resize(numbers.size() + kBlock, kNone);
    if (level > 0 && numbers[place] <= promise) return;
    numbers[place] = promise;
    if (numbers.size() == kBlock) return;
    if (level + 1 == used_levels_) {
      // The second block: what the first has is told above.
      levels_[used_levels_++].assign(kBlock, kNone);
      levels_[level + 1][0] = HWY_DYNAMIC_DISPATCH(LeastOf)(numbers.data());
    }
  }
}

uint64_t Promises::Pop() {
  const uint64_t promise = least_;
  size_t block = 0;
  for (size_t level = used_levels_; level-- > 0;) {
    const uint64_t* const numbers = levels_[level].data() + block * kBlock;
    block = block * kBlock + HWY_DYNAMIC_DISPATCH(PlaceOf)(numbers, promise);
  }
  free_.push_back(block);
  uint64_t left = kNone;
  for (size_t level = 0; level < used_levels_; ++level) {
    levels_[level][block] = left;
    block /= kBlock;
    left = HWY_DYNAMIC_DISPATCH(LeastOf)(levels_[level].data() + block * kBlock);
  }
  least_ = left;
  return promise;
}

}  // namespace pigment
#endif  // HWY_ONCE
