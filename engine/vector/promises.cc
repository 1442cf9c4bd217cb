// SPDX-License-Identifier: Apache-2.0
//
// The looks at many keys, once per SIMD target by Highway: see the header.

#include "engine/vector/promises.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/promises.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef PIGMENT_ENGINE_VECTOR_PROMISES_STEP
#define PIGMENT_ENGINE_VECTOR_PROMISES_STEP
namespace pigment {
// Keys come in multiples of so many.
inline constexpr size_t kKeysPerStep = 16;
}  // namespace pigment
#endif

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<uint32_t, kKeysPerStep / 2>;

HWY_ATTR uint32_t LeastOf(const uint32_t* keys, size_t count) {
  const Lanes lanes;
  auto even = hn::LoadU(lanes, keys);
  auto odd = hn::LoadU(lanes, keys + hn::Lanes(lanes));
  for (size_t i = 2 * hn::Lanes(lanes); i < count; i += 2 * hn::Lanes(lanes)) {
    even = hn::Min(even, hn::LoadU(lanes, keys + i));
    odd = hn::Min(odd, hn::LoadU(lanes, keys + i + hn::Lanes(lanes)));
  }
  return hn::GetLane(hn::MinOfLanes(lanes, hn::Min(even, odd)));
}

// The first place of `key`, which is there.
HWY_ATTR size_t PlaceOf(uint32_t key, const uint32_t* keys) {
  const Lanes lanes;
  const auto wanted = hn::Set(lanes, key);
  for (size_t i = 0;; i += hn::Lanes(lanes)) {
    const intptr_t place = hn::FindFirstTrue(lanes, hn::Eq(hn::LoadU(lanes, keys + i), wanted));
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

constexpr uint32_t kNoKey = std::numeric_limits<uint32_t>::max();

}  // namespace

void Promises::Clear() {
  keys_.clear();
  numbers_.clear();
  leasts_.clear();
  used_ = 0;
  least_ = kNone;
}

void Promises::Grow() {
  static_assert(kBlock % kKeysPerStep == 0);
  const size_t blocks = used_ / kBlock + 1;
  keys_.resize(blocks * kBlock, kNoKey);
  numbers_.resize(blocks * kBlock);
  leasts_.resize((blocks + kKeysPerStep - 1) / kKeysPerStep * kKeysPerStep, kNoKey);
}

uint64_t Promises::Pop() {
  const uint64_t promise = least_;
  const size_t taken = place_ / kBlock;
  keys_[place_] = kNoKey;
  leasts_[taken] = HWY_DYNAMIC_DISPATCH(LeastOf)(keys_.data() + taken * kBlock, kBlock);
  const uint32_t key = HWY_DYNAMIC_DISPATCH(LeastOf)(leasts_.data(), leasts_.size());
  least_ = kNone;
  if (key == kNoKey) return promise;
  const size_t block = HWY_DYNAMIC_DISPATCH(PlaceOf)(key, leasts_.data());
  place_ = block * kBlock + HWY_DYNAMIC_DISPATCH(PlaceOf)(key, keys_.data() + block * kBlock);
  least_ = uint64_t{key} << 32 | numbers_[place_];
  return promise;
}

}  // namespace pigment
#endif  // HWY_ONCE
