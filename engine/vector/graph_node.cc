// SPDX-License-Identifier: Apache-2.0
//
// Codes of links and estimates from them: see the header.

#include "engine/vector/graph_node.h"

namespace pigment {

GraphLinkNumbers EncodeGraphLink(std::span<const float> centre, std::span<const float> vector,
                                 size_t index, size_t count, std::byte* group) {
  const SignCodeFactor factor = EncodeSignCode(vector, centre, index, count, group);
  return {.offset = factor.square + 2 * factor.scale * factor.centre, .slope = -2 * factor.scale};
}

bool GraphNode::Read(std::span<const std::byte> bytes, uint32_t dimension, GraphNode* node) {
  if (bytes.size() < sizeof(GraphNodeHeader)) return false;
  node->bytes_ = bytes.data();
  const auto header = node->Load<GraphNodeHeader>(0);
  if (header.links > kLinksPerNodeMax || bytes.size() < GraphNodeBytes(dimension, header.links))
    return false;
  node->links_ = header.links;
  return true;
}

void GraphNode::Estimate(const SignCodeQuery& query, float distance, float* estimates) const {
  if (links_ == 0) return;
  const size_t column = GraphNodePlaces(links_) * sizeof(uint32_t);
  const size_t offsets = sizeof(GraphNodeHeader) + column;
  const size_t slopes = offsets + column;
  query.Sums(bytes_ + slopes + column, links_, estimates);
  for (size_t i = 0; i < links_; ++i) {
    estimates[i] = (distance + Load<float>(offsets + i * sizeof(float))) +
                   Load<float>(slopes + i * sizeof(float)) * estimates[i];
  }
}

}  // namespace pigment
