// SPDX-License-Identifier: Apache-2.0
//
// The links of a segment's graph, as its nodes have them.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/segment/index_reader.h"
#include "engine/segment/segment.h"

namespace pigment {

// Of each vector. REQUIRES: the segment has a graph, and it is sound.
inline std::vector<std::vector<uint32_t>> GraphLinks(const Segment& segment) {
  const auto reader = segment.NewIndexReader(*segment.Index().value());
  std::vector<std::vector<uint32_t>> links(segment.info().vectors);
  for (uint32_t vector = 0; vector < links.size(); ++vector) {
    const GraphNode node = reader->Node(vector).value();
    for (uint32_t i = 0; i < node.links(); ++i) links[vector].push_back(node.link(i));
  }
  return links;
}

}  // namespace pigment
