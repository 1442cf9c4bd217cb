// SPDX-License-Identifier: Apache-2.0
//
// Nodes: a vector's links with what estimates the distances to all of them at once, in one run of
// bytes, so that a step of a walk reads one place (SymphonyQG; Gou et al., SIGMOD 2025). Pure
// functions over bytes of the caller's; any thread.
//
//   offset  size     meaning
//   0       4        number of links n
//   4       4        reserved, zero
//   8       4 * m    links: vectors; m is n rounded up to a multiple of 8, what is beyond n is zero
//   …       4 * m    f32: offset of each estimate
//   …       4 * m    f32: slope of each estimate
//   …       …        sign codes of what lies between node and links, one group (sign_code.h)
//
// With c the node's vector, x that of a link, both rotated, r = x - c and s the signs of r, the
// squared distance of x to a rotated query q is estimated as
//   |q - c|^2 + offset + slope * (s . q),  offset = |r|^2 + 2 scale (s . c),  slope = -2 scale.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/vector/sign_code.h"

namespace pigment {

inline constexpr uint32_t kLinksPerNodeMax = kSignCodesPerGroup;

struct GraphNodeHeader {
  uint32_t links;
  uint32_t reserved;
};
static_assert(sizeof(GraphNodeHeader) == 8);

// Links, rounded up to what codes come in.
constexpr size_t GraphNodePlaces(size_t links) { return (links + 7) / 8 * 8; }
// REQUIRES: links <= kLinksPerNodeMax; dimension is that of rotated vectors.
constexpr size_t GraphNodeBytes(uint32_t dimension, size_t links) {
  return sizeof(GraphNodeHeader) + GraphNodePlaces(links) * 3 * sizeof(uint32_t) +
         (links == 0 ? 0 : SignCodeGroupBytes(dimension, links));
}

// Writes GraphNodeBytes(…) bytes. `vectors` gives the rotated vector of a link, valid until it is
// asked for the next one.
template <typename Vectors>
void EncodeGraphNode(std::span<const float> centre, std::span<const uint32_t> links,
                     const Vectors& vectors, std::byte* out);

// A node where it lies. Reads with any alignment.
class GraphNode {
 public:
  // Borrows the bytes, which may go on behind the node. False where they are no node of this
  // dimension: too few, or with more links than there can be.
  static bool Read(std::span<const std::byte> bytes, uint32_t dimension, GraphNode* node);

  uint32_t links() const { return links_; }
  uint32_t link(size_t i) const { return Load<uint32_t>(sizeof(GraphNodeHeader) + 4 * i); }
  // Estimates of the squared distances of `query` to all links, given that to this node; room for
  // 32.
  void Estimate(const SignCodeQuery& query, float distance, float* estimates) const;

 private:
  template <typename T>
  T Load(size_t offset) const {
    T value;
    std::memcpy(&value, bytes_ + offset, sizeof value);
    return value;
  }

  const std::byte* bytes_ = nullptr;
  uint32_t links_ = 0;
};

// Encodes one link: its code and its estimate's numbers. For EncodeGraphNode.
struct GraphLinkNumbers {
  float offset;
  float slope;
};
GraphLinkNumbers EncodeGraphLink(std::span<const float> centre, std::span<const float> vector,
                                 size_t index, size_t count, std::byte* group);

template <typename Vectors>
void EncodeGraphNode(std::span<const float> centre, std::span<const uint32_t> links,
                     const Vectors& vectors, std::byte* out) {
  const auto dimension = static_cast<uint32_t>(centre.size());
  const size_t column = GraphNodePlaces(links.size()) * sizeof(uint32_t);
  std::memset(out, 0, GraphNodeBytes(dimension, links.size()));
  const GraphNodeHeader header{static_cast<uint32_t>(links.size()), 0};
  std::memcpy(out, &header, sizeof header);
  std::byte* const columns = out + sizeof header;
  for (size_t i = 0; i < links.size(); ++i) {
    const GraphLinkNumbers numbers =
        EncodeGraphLink(centre, vectors(links[i]), i, links.size(), columns + 3 * column);
    std::memcpy(columns + i * sizeof(uint32_t), &links[i], sizeof(uint32_t));
    std::memcpy(columns + column + i * sizeof(float), &numbers.offset, sizeof(float));
    std::memcpy(columns + 2 * column + i * sizeof(float), &numbers.slope, sizeof(float));
  }
}

}  // namespace pigment
