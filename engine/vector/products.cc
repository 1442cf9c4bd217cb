// SPDX-License-Identifier: Apache-2.0
//
// The kernel, once per SIMD target by Highway: some rows by two registers of a panel, all sums in
// registers.

#include "engine/vector/products.h"

#include <algorithm>
#include <limits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/products.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef PIGMENT_VECTOR_PRODUCTS_GROUPS_
#define PIGMENT_VECTOR_PRODUCTS_GROUPS_
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
// With both registers of the panel and the row's number these are 27 registers of 32, or 15 of 16.
constexpr size_t kRows = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 12 : 6;
static_assert(VectorPanels::kRowsPerPass % kRows == 0);

struct Sums {
  V first[kRows];
  V second[kRows];
};

template <size_t... I>
HWY_INLINE void SetZero(Sums& sums, std::index_sequence<I...>) {
  ((sums.first[I] = sums.second[I] = hn::Zero(Lanes())), ...);
}

template <size_t... I>
HWY_INLINE void AddDimension(Sums& sums, const float* const* rows, size_t d, V first, V second,
                             std::index_sequence<I...>) {
  const auto add = [&](size_t i) HWY_ATTR {
    const V value = hn::Set(Lanes(), rows[i][d]);
    sums.first[i] = hn::Add(sums.first[i], hn::Mul(value, first));
    sums.second[i] = hn::Add(sums.second[i], hn::Mul(value, second));
  };
  (add(I), ...);
}

template <size_t... I>
HWY_INLINE void Store(const Sums& sums, float* out, size_t stride, std::index_sequence<I...>) {
  ((hn::StoreU(sums.first[I], Lanes(), out + I * stride),
    hn::StoreU(sums.second[I], Lanes(), out + I * stride + kLanes)),
   ...);
}

// kRowsPerPass rows by one panel.
HWY_ATTR void MultiplyPanel(const float* const* rows, const float* panel, size_t dimension,
                            float* out, size_t stride) {
  constexpr auto kAll = std::make_index_sequence<kRows>();
  for (size_t row = 0; row < VectorPanels::kRowsPerPass; row += kRows) {
    for (size_t column = 0; column < VectorPanels::kWidth; column += 2 * kLanes) {
      Sums sums;
      SetZero(sums, kAll);
      for (size_t d = 0; d < dimension; ++d) {
        const float* from = panel + d * VectorPanels::kWidth + column;
        AddDimension(sums, rows + row, d, hn::LoadU(Lanes(), from),
                     hn::LoadU(Lanes(), from + kLanes), kAll);
      }
      Store(sums, out + row * stride + column, stride, kAll);
    }
  }
}

// Compressed in a register, because storing what is compressed takes some processors a hundred
// cycles: what is written behind the last is written over, or beyond what was found.
HWY_ATTR size_t FindNear(const float* distances, size_t count, float limit, uint32_t* places,
                         float* found_distances) {
  const Lanes lanes;
  const hn::RebindToUnsigned<Lanes> numbers;
  const V most = hn::Set(lanes, limit);
  size_t found = 0;
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const V distance = hn::LoadU(lanes, distances + i);
    const auto is_near = hn::Le(distance, most);
    if (hn::AllFalse(lanes, is_near)) continue;
    const auto place = hn::Iota(numbers, static_cast<uint32_t>(i));
    hn::StoreU(hn::Compress(distance, is_near), lanes, found_distances + found);
    hn::StoreU(hn::Compress(place, hn::RebindMask(numbers, is_near)), numbers, places + found);
    found += hn::CountTrue(lanes, is_near);
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

HWY_EXPORT(MultiplyPanel);
HWY_EXPORT(FindNear);
HWY_EXPORT(LeastOfGroups);

}  // namespace

Status VectorPanels::Pack(std::span<const float* const> vectors) {
  const size_t panels = (vectors.size() + kWidth - 1) / kWidth;
  const size_t floats = panels * kWidth * dimension_;
  if (floats > packed_.size()) {
    PIGMENT_RETURN_IF_ERROR(reservation_.Grow((floats - packed_.size()) * sizeof(float)));
    packed_.resize(floats);
  }
  count_ = vectors.size();
  for (size_t panel = 0; panel < panels; ++panel) {
    float* const to = packed_.data() + panel * kWidth * dimension_;
    for (size_t column = 0; column < kWidth; ++column) {
      const size_t index = panel * kWidth + column;
      const float* from = index < count_ ? vectors[index] : nullptr;
      for (size_t d = 0; d < dimension_; ++d) to[d * kWidth + column] = from ? from[d] : 0;
    }
  }
  return Status::Ok();
}

void VectorPanels::Multiply(std::span<const float* const> rows, float* out) const {
  const float* pass[kRowsPerPass];
  for (size_t i = 0; i < kRowsPerPass; ++i) pass[i] = rows[std::min(i, rows.size() - 1)];
  if (rows.size() == kRowsPerPass) {
    for (size_t column = 0; column < count_; column += kWidth) {
      HWY_DYNAMIC_DISPATCH(MultiplyPanel)
      (pass, packed_.data() + column * dimension_, dimension_, out + column, stride());
    }
    return;
  }
  float some[kRowsPerPass * kWidth];
  for (size_t column = 0; column < count_; column += kWidth) {
    HWY_DYNAMIC_DISPATCH(MultiplyPanel)
    (pass, packed_.data() + column * dimension_, dimension_, some, kWidth);
    for (size_t i = 0; i < rows.size(); ++i)
      std::copy_n(some + i * kWidth, kWidth, out + i * stride() + column);
  }
}

void NearPlaces::Find(std::span<const float> distances, float limit) {
  constexpr size_t kBeyond = VectorPanels::kWidth;
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
