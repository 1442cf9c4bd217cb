// SPDX-License-Identifier: Apache-2.0
//
// The kernels, once per SIMD target by Highway.

#include "engine/vector/near_places.h"

#include <algorithm>
#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/near_places.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef PIGMENT_VECTOR_NEAR_PLACES_GROUPS_
#define PIGMENT_VECTOR_NEAR_PLACES_GROUPS_
namespace pigment {

constexpr size_t kGroups = 64;  // of distances whose least are looked for

}  // namespace pigment
#endif

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, 16>;
using V = hn::Vec<Lanes>;
constexpr size_t kLanes = HWY_MIN(HWY_LANES(float), 16);

// Writes those of some distances, the first of which is at `first`, that are near, and gives how
// many there are. Up to a register is written behind them.
HWY_INLINE size_t WriteNear(V distance, hn::Mask<Lanes> is_near, size_t first, uint32_t* places,
                            float* found) {
  const Lanes lanes;
#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3
  // In a register, because storing what is compressed takes some processors a hundred cycles.
  const hn::RebindToUnsigned<Lanes> numbers;
  const auto place = hn::Iota(numbers, static_cast<uint32_t>(first));
  hn::StoreU(hn::Compress(distance, is_near), lanes, found);
  hn::StoreU(hn::Compress(place, hn::RebindMask(numbers, is_near)), numbers, places);
  return hn::CountTrue(lanes, is_near);
#else
  // Others compress by a table, of which each of Highway's calls makes a copy.
  float distances[kLanes];
  hn::StoreU(distance, lanes, distances);
  uint8_t bits[8] = {};
  hn::StoreMaskBits(lanes, is_near, bits);
  size_t count = 0;
  for (uint32_t left = bits[0]; left != 0; left &= left - 1, ++count) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    places[count] = static_cast<uint32_t>(first) + lane;
    found[count] = distances[lane];
  }
  return count;
#endif
}

HWY_ATTR size_t FindNear(const float* distances, size_t count, float limit, uint32_t* places,
                         float* found_distances) {
  const Lanes lanes;
  const V most = hn::Set(lanes, limit);
  size_t found = 0;
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const V distance = hn::LoadU(lanes, distances + i);
    const auto is_near = hn::Le(distance, most);
    if (hn::AllFalse(lanes, is_near)) continue;
    found += WriteNear(distance, is_near, i, places + found, found_distances + found);
  }
  for (; i < count; ++i) {
    if (!(distances[i] <= limit)) continue;
    places[found] = static_cast<uint32_t>(i);
    found_distances[found++] = distances[i];
  }
  return found;
}

// The least of the distances whose place divided by kGroups leaves g, for each g below kGroups.
HWY_ATTR void LeastOfGroups(const float* distances, size_t count, float* least) {
  const Lanes lanes;
  constexpr size_t kRegisters = kGroups / kLanes;
  V of[kRegisters];
  for (V& some : of) some = hn::Set(lanes, std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kGroups <= count; i += kGroups) {
    for (size_t r = 0; r < kRegisters; ++r)
      of[r] = hn::Min(of[r], hn::LoadU(lanes, distances + i + r * kLanes));
  }
  for (size_t r = 0; r < kRegisters; ++r) hn::StoreU(of[r], lanes, least + r * kLanes);
  for (; i < count; ++i) least[i % kGroups] = std::min(least[i % kGroups], distances[i]);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(FindNear);
HWY_EXPORT(LeastOfGroups);

}  // namespace

void NearPlaces::Find(std::span<const float> distances, float limit) {
  constexpr size_t kBeyond = 16;  // lanes of a store behind what was found
  if (places_.size() < distances.size() + kBeyond) {
    places_.resize(distances.size() + kBeyond);
    distances_.resize(distances.size() + kBeyond);
  }
  count_ = HWY_DYNAMIC_DISPATCH(FindNear)(distances.data(), distances.size(), limit, places_.data(),
                                          distances_.data());
}

void NearPlaces::FindNearest(std::span<const float> distances, size_t k, float slack) {
  // The k-th least of the groups' least is nowhere below the k-th least of all.
  float limit = std::numeric_limits<float>::infinity();
  if (k <= kGroups) {
    float least[kGroups];
    HWY_DYNAMIC_DISPATCH(LeastOfGroups)(distances.data(), distances.size(), least);
    std::nth_element(least, least + (k - 1), least + kGroups);
    limit = least[k - 1];
  }
  Find(distances, limit + slack);
  if (k == 1 || count_ <= k) return;
  sorted_.assign(distances_.begin(), distances_.begin() + static_cast<ptrdiff_t>(count_));
  std::nth_element(sorted_.begin(), sorted_.begin() + static_cast<ptrdiff_t>(k - 1), sorted_.end());
  const float farthest = sorted_[k - 1] + slack;
  size_t left = 0;
  for (size_t i = 0; i < count_; ++i) {
    if (distances_[i] > farthest) continue;
    distances_[left] = distances_[i];
    places_[left++] = places_[i];
  }
  count_ = left;
}

}  // namespace pigment
#endif  // HWY_ONCE
