// SPDX-License-Identifier: Apache-2.0
//
// Codes of links and estimates from them, the latter once per SIMD target by Highway: see the
// header.

#include "engine/vector/graph_node.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/prefetch.h"
#include "engine/vector/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/graph_node.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef PIGMENT_VECTOR_GRAPH_NODE_KERNEL_
#define PIGMENT_VECTOR_GRAPH_NODE_KERNEL_
namespace pigment {

struct EstimateArguments {
  const std::byte* offsets;  // halves, a multiple of 8
  const std::byte* slopes;
  size_t places;
  float offset_scale;
  float slope_scale;
  float distance;
  float shift;
  float limit;       // NaN: there is none
  float* estimates;  // u . q in, estimates out
};

}  // namespace pigment
#endif

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A bit for each place whose estimate is beyond the limit.
HWY_ATTR uint32_t EstimateLinks(const EstimateArguments& arguments) {
  const hn::CappedTag<float, 8> lanes;
  const hn::Rebind<hwy::float16_t, decltype(lanes)> halves;
  const auto* offsets = reinterpret_cast<const hwy::float16_t*>(arguments.offsets);
  const auto* slopes = reinterpret_cast<const hwy::float16_t*>(arguments.slopes);
  const auto offset_scale = hn::Set(lanes, arguments.offset_scale);
  const auto slope_scale = hn::Set(lanes, arguments.slope_scale);
  const auto distance = hn::Set(lanes, arguments.distance);
  const auto shift = hn::Set(lanes, arguments.shift);
  const auto limit = hn::Set(lanes, arguments.limit);
  uint32_t beyond = 0;
  for (size_t i = 0; i < arguments.places; i += hn::Lanes(lanes)) {
    const auto offset = hn::PromoteTo(lanes, hn::LoadU(halves, offsets + i));
    const auto slope = hn::PromoteTo(lanes, hn::LoadU(halves, slopes + i));
    const auto sum = hn::Add(hn::LoadU(lanes, arguments.estimates + i), shift);
    const auto base = hn::Add(distance, hn::Mul(offset_scale, offset));
    const auto estimate = hn::Add(base, hn::Mul(hn::Mul(slope_scale, slope), sum));
    hn::StoreU(estimate, lanes, arguments.estimates + i);
    uint8_t bits[8] = {};
    hn::StoreMaskBits(lanes, hn::Gt(estimate, limit), bits);
    beyond |= static_cast<uint32_t>(bits[0]) << i;
  }
  return beyond;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(EstimateLinks);

constexpr size_t NumbersAt(uint32_t places) {
  return sizeof(GraphNodeHeader) + places * sizeof(uint32_t);
}
constexpr size_t CodesAt(uint32_t places) {
  return NumbersAt(places) + size_t{places} * 2 * sizeof(uint16_t);
}

// Halves have 11 bits over a limited range: the largest number of a node becomes 1.
void NarrowScaled(std::span<const float> numbers, float scale, std::byte* out) {
  std::array<float, kLinksPerNodeMax> scaled;
  for (size_t i = 0; i < numbers.size(); ++i) scaled[i] = scale > 0 ? numbers[i] / scale : 0;
  NarrowToHalves(std::span(scaled).first(numbers.size()), out);
}

}  // namespace

GraphLinkNumbers EncodeGraphLink(std::span<const float> centre, uint32_t bits,
                                 std::span<const float> vector, size_t index, uint32_t places,
                                 std::byte* out) {
  const SignCodeFactor factor =
      EncodeLevelCode(vector, centre, bits, index, places, out + CodesAt(places));
  return {.offset = factor.square + 2 * factor.scale * factor.centre, .slope = -2 * factor.scale};
}

void FinishGraphNode(std::span<const uint32_t> links, std::span<const GraphLinkNumbers> numbers,
                     uint32_t places, std::byte* out) {
  std::array<float, kLinksPerNodeMax> offsets;
  std::array<float, kLinksPerNodeMax> slopes;
  GraphNodeHeader header{
      .links = static_cast<uint32_t>(links.size()), .offset_scale = 0, .slope_scale = 0};
  for (size_t i = 0; i < links.size(); ++i) {
    offsets[i] = numbers[i].offset;
    slopes[i] = numbers[i].slope;
    header.offset_scale = std::max(header.offset_scale, std::abs(offsets[i]));
    header.slope_scale = std::max(header.slope_scale, std::abs(slopes[i]));
  }
  std::memcpy(out, &header, sizeof header);
  if (links.empty()) return;
  std::memcpy(out + sizeof header, links.data(), links.size_bytes());
  NarrowScaled(std::span(offsets).first(links.size()), header.offset_scale,
               out + NumbersAt(places));
  NarrowScaled(std::span(slopes).first(links.size()), header.slope_scale,
               out + NumbersAt(places) + places * sizeof(uint16_t));
}

bool GraphNode::Read(std::span<const std::byte> bytes, uint32_t code_bits, uint32_t places,
                     GraphNode* node) {
  const size_t size = GraphNodeBytes(code_bits, places);
  if (bytes.size() < size) return false;
  node->bytes_ = bytes.first(size);
  node->places_ = places;
  std::memcpy(&node->header_, bytes.data(), sizeof node->header_);
  return node->header_.links <= places;
}

void GraphNode::Estimate(const SignCodeQuery& query, float distance, float* estimates) const {
  constexpr float kNoLimit = std::numeric_limits<float>::quiet_NaN();
  (void)EstimateShifted(query, distance, 0, kNoLimit, estimates);
}

// Of a code with a = u . r / (|u| |r|) the standard error of r . p is |p| |r| sqrt(1 / a^2 - 1) /
// sqrt(d - 1) (level_code.h), and its slope is -2 |r| / (a |u|): so that of an estimate, 2 r . p,
// is |p| |u| sqrt(1 - a^2) / sqrt(d) slope. The numbers of rotated vectors are nearly normal, for
// which a^2 is 2 / pi of signs, and 0.8812, 0.9626 and 0.9885 of 2, 3 and 4 bits; of signs |u|^2 is
// d, then 3.555 d, 11.21 d and 35.2 d.
uint32_t GraphNode::LinksWithin(const SignCodeQuery& query, float distance, float errors,
                                float limit, float* bounds) const {
  static constexpr float kErrorsOfSlope[kLevelBitsMax + 1] = {0, 0.6028f, 0.6500f, 0.6479f,
                                                              0.6373f};
  const float shift =
      errors == 0 ? 0 : errors * kErrorsOfSlope[query.bits()] * std::sqrt(std::max(distance, 0.0f));
  const uint32_t beyond = EstimateShifted(query, distance, shift, limit, bounds);
  return ~beyond & all_links();
}

void GraphNode::ExpectNext() const { ExpectBytes(bytes_.data() + bytes_.size(), bytes_.size()); }

uint32_t GraphNode::EstimateShifted(const SignCodeQuery& query, float distance, float shift,
                                    float limit, float* estimates) const {
  query.Sums(bytes_.data() + CodesAt(places_), places_, estimates);
  const std::byte* const offsets = bytes_.data() + NumbersAt(places_);
  return HWY_DYNAMIC_DISPATCH(EstimateLinks)({offsets, offsets + places_ * sizeof(uint16_t),
                                              places_, header_.offset_scale, header_.slope_scale,
                                              distance, shift, limit, estimates});
}

}  // namespace pigment
#endif  // HWY_ONCE
