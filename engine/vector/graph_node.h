// SPDX-License-Identifier: Apache-2.0
//
// Nodes: a vector's links with what estimates the distances to all of them at once, in one run of
// bytes, so that a step of a walk reads one place (SymphonyQG; Gou et al., SIGMOD 2025). Pure
// functions over bytes of the caller's; any thread.
//
//   offset  size     meaning
//   0       4        number of links n
//   4       4        f32: what the offsets are multiplied by
//   8       4        f32: what the slopes are multiplied by
//   12      4 * m    links: vectors; m is the places of every node of the graph, a multiple of 8;
//                    what is beyond n is zero
//   …       2 * m    f16: offset of each estimate
//   …       2 * m    f16: slope of each estimate
//   …       …        codes of what lies between node and links, one group (level_code.h)
//
// With c the node's vector, x that of a link, both rotated, r = x - c and u the levels of r, the
// squared distance of x to a rotated query q is estimated as
//   |q - c|^2 + offset + slope * (u . q),  offset = |r|^2 + 2 scale (u . c),  slope = -2 scale.
// Vectors and query are less by the middle of all, or u . q and u . c would be large beside their
// difference.
//
// All nodes of an index have codes of as many bits a dimension. What a code takes, the dimension of
// rotated vectors times these, is the `code_bits` of what follows.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/vector/level_code.h"
#include "engine/vector/sign_code.h"

namespace pigment {

inline constexpr uint32_t kLinksPerNodeMax = kSignCodesPerGroup;

struct GraphNodeHeader {
  uint32_t links;
  float offset_scale;
  float slope_scale;
};
static_assert(sizeof(GraphNodeHeader) == 12);

// Codes come in groups of eight.
constexpr uint32_t GraphNodePlaces(uint32_t degree_max) { return (degree_max + 7) / 8 * 8; }
// What comes before the codes: the header, links and numbers.
constexpr size_t GraphNodeHeadBytes(uint32_t places) {
  return sizeof(GraphNodeHeader) + size_t{places} * (sizeof(uint32_t) + 2 * sizeof(uint16_t));
}
// REQUIRES: places is a multiple of 8, not 0 and at most kLinksPerNodeMax.
constexpr size_t GraphNodeBytes(uint32_t code_bits, uint32_t places) {
  return GraphNodeHeadBytes(places) + SignCodeGroupBytes(code_bits, places);
}

// What a link's estimate is made of, before it is rounded.
struct GraphLinkNumbers {
  float offset;
  float slope;
};

// Writes one node of GraphNodeBytes(bits * centre.size(), places) bytes. REQUIRES: links.size() <=
// places; `vectors` gives the rotated vector of a link, valid until it is asked for the next one.
template <typename Vectors>
void EncodeGraphNode(std::span<const float> centre, uint32_t bits, std::span<const uint32_t> links,
                     uint32_t places, const Vectors& vectors, std::byte* out);

// A node where it lies. Reads with any alignment.
class GraphNode {
 public:
  // Borrows the bytes, which may go on behind the node. False where they are no such node: too few,
  // or with more links than places.
  static bool Read(std::span<const std::byte> bytes, uint32_t code_bits, uint32_t places,
                   GraphNode* node);

  std::span<const std::byte> bytes() const { return bytes_; }
  uint32_t links() const { return header_.links; }
  uint32_t all_links() const {  // a bit for each
    return header_.links == 0 ? 0 : ~uint32_t{0} >> (kLinksPerNodeMax - header_.links);
  }
  uint32_t link(size_t i) const {
    uint32_t link;
    std::memcpy(&link, bytes_.data() + sizeof(GraphNodeHeader) + i * sizeof link, sizeof link);
    return link;
  }
  // All of them; room for links().
  void CopyLinks(uint32_t* out) const {
    std::memcpy(out, bytes_.data() + sizeof(GraphNodeHeader), links() * sizeof(uint32_t));
  }
  // Estimates of the squared distances of `query`, which is for codes of as many bits, to all
  // links, given that to this node; room for 32.
  void Estimate(const SignCodeQuery& query, float distance, float* estimates) const;
  // The same, less `errors` standard errors of each. A bit for each link that is not beyond
  // `limit` then; NaN: none is.
  uint32_t LinksWithin(const SignCodeQuery& query, float distance, float errors, float limit,
                       float* bounds) const;
  // What lies behind this node, as the next of a run does, is asked for from memory.
  void ExpectNext() const;

 private:
  // With `shift` added to each u . q; a bit for each place that is beyond `limit`.
  uint32_t EstimateShifted(const SignCodeQuery& query, float distance, float shift, float limit,
                           float* estimates) const;

  std::span<const std::byte> bytes_;
  uint32_t places_ = 0;
  GraphNodeHeader header_{};
};

// The steps of EncodeGraphNode: a link's code within the node at `out`, then all numbers.
GraphLinkNumbers EncodeGraphLink(std::span<const float> centre, uint32_t bits,
                                 std::span<const float> vector, size_t index, uint32_t places,
                                 std::byte* out);
void FinishGraphNode(std::span<const uint32_t> links, std::span<const GraphLinkNumbers> numbers,
                     uint32_t places, std::byte* out);

template <typename Vectors>
void EncodeGraphNode(std::span<const float> centre, uint32_t bits, std::span<const uint32_t> links,
                     uint32_t places, const Vectors& vectors, std::byte* out) {
  std::memset(out, 0, GraphNodeBytes(bits * static_cast<uint32_t>(centre.size()), places));
  std::array<GraphLinkNumbers, kLinksPerNodeMax> numbers;
  for (size_t i = 0; i < links.size(); ++i)
    numbers[i] = EncodeGraphLink(centre, bits, vectors(links[i]), i, places, out);
  FinishGraphNode(links, std::span(numbers).first(links.size()), places, out);
}

}  // namespace pigment
