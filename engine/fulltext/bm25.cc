// SPDX-License-Identifier: Apache-2.0
//
// What postings are worth and which sums are enough, once per SIMD target by Highway.

#include "engine/fulltext/bm25.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/fulltext/bm25.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

HWY_ATTR void Worths(const Bm25Weight& its_weight, const Bm25Shares& shares,
                     const uint32_t* frequencies, const uint32_t* lengths, size_t count,
                     double* worths) {
  const hn::CappedTag<double, kBm25Lanes> lanes;
  const hn::Rebind<int32_t, decltype(lanes)> integers;
  const auto base = hn::Set(lanes, shares.base());
  const auto slope = hn::Set(lanes, shares.slope());
  const auto weight = hn::Set(lanes, its_weight.weight());
  // There is an instruction for signed numbers alone: 2^31 is taken away before and added after.
  const auto sign = hn::Set(integers, std::numeric_limits<int32_t>::min());
  const auto half = hn::Set(lanes, 0x1p31);
  const auto load = [&](const uint32_t* from) HWY_ATTR {
    const auto number = hn::LoadU(integers, reinterpret_cast<const int32_t*>(from));
    return hn::Add(hn::PromoteTo(lanes, hn::Xor(number, sign)), half);
  };
  // In the order of Bm25Shares::Of, without a fused step.
  for (size_t i = 0; i < count; i += hn::Lanes(lanes)) {
    const auto times = load(frequencies + i);
    const auto norm = hn::Add(base, hn::Mul(slope, load(lengths + i)));
    hn::StoreU(hn::Mul(weight, hn::Div(times, hn::Add(times, norm))), lanes, worths + i);
  }
}

HWY_ATTR void Marks(const ScoreSum* sums, size_t count, ScoreSum least, uint64_t* marks) {
  const hn::CappedTag<int64_t, kBm25Lanes> lanes;
  const auto below = hn::Set(lanes, least - 1);
  for (size_t begin = 0; begin < count; begin += kMarksPerWord) {
    uint64_t word = 0;
    for (size_t i = 0; i < kMarksPerWord; i += hn::Lanes(lanes)) {
      uint8_t bits[8] = {};
      hn::StoreMaskBits(lanes, hn::Gt(hn::LoadU(lanes, sums + begin + i), below), bits);
      word |= uint64_t{bits[0]} << i;
    }
    marks[begin / kMarksPerWord] = word;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(Worths);
HWY_EXPORT(Marks);

}  // namespace

void WorthsOf(const Bm25Weight& weight, const Bm25Shares& shares, const uint32_t* frequencies,
              const uint32_t* lengths, size_t count, double* worths) {
  HWY_DYNAMIC_DISPATCH(Worths)(weight, shares, frequencies, lengths, count, worths);
}

void MarkAtLeast(const ScoreSum* sums, size_t count, ScoreSum least, uint64_t* marks) {
  HWY_DYNAMIC_DISPATCH(Marks)(sums, count, least, marks);
}

}  // namespace pigment
#endif  // HWY_ONCE
