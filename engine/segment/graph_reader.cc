// SPDX-License-Identifier: Apache-2.0
//
// Where a node and a vector lie: see the header.

#include "engine/segment/graph_reader.h"

#include <fmt/format.h>

#include <span>

#include "engine/segment/row_reader.h"

namespace pigment {

GraphReader::GraphReader(BlockSource* source, const Root* root, const GraphHead& head)
    : root_(root),
      head_(head),
      node_size_(head.node_bytes()),
      entries_(source, root, BlockKind::kGraphEntries),
      nodes_(source, root, BlockKind::kGraphNodes),
      vectors_(source, root, BlockKind::kVectors),
      vector_(root->info.dimension) {}

Result<GraphNode> GraphReader::Read(PartCursor& part, uint32_t number, std::string& copy) const {
  PIGMENT_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes,
                           part.ViewElement(number, node_size_, copy));
  GraphNode node;
  if (GraphNode::Read(bytes, head_.space.point_dimension(), head_.places, &node)) return node;
  return part.Damaged(Detail::kMiscounted, fmt::format("node {} has {} links of {}", number,
                                                       node.links(), head_.places));
}

Result<const float*> GraphReader::Vector(uint32_t vector) {
  const PartCursor::ElementRun run = vectors_.RunFrom(vector, root_->info.vector_bytes());
  if (root_->info.vector_element == VectorElement::kF32 && run.count != 0) {
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload, vectors_.Block(run.block));
    return reinterpret_cast<const float*>(payload + run.within);
  }
  PIGMENT_RETURN_IF_ERROR(ReadVectorFrom(vectors_, *root_, vector, vector_));
  return vector_.data();
}

void GraphReader::Expect(uint32_t vector) {
  nodes_.ExpectElement(vector, node_size_);
  vectors_.ExpectElement(vector, root_->info.vector_bytes());
}

}  // namespace pigment
