// SPDX-License-Identifier: Apache-2.0
//
// Where a node and a vector lie: see the header.

#include "engine/segment/graph_reader.h"

#include <fmt/format.h>

#include <span>
#include <string_view>

#include "engine/segment/row_reader.h"

namespace pigment {

GraphReader::GraphReader(BlockSource* source, const Root* root, const GraphHead& head)
    : root_(root),
      head_(head),
      node_size_(head.node_bytes()),
      nodes_per_block_(DenseElementBytes(node_size_) != 0
                           ? ElementsPerBlock(static_cast<uint32_t>(node_size_))
                           : 0),
      entries_(source, root, BlockKind::kGraphEntries),
      nodes_(source, root, BlockKind::kGraphNodes),
      vectors_(source, root, BlockKind::kVectors),
      vectors_per_block_(vectors_.element_bytes() != 0 ? ElementsPerBlock(vectors_.element_bytes())
                                                       : 0),
      vector_(root->info.dimension) {}

Result<GraphNode> GraphReader::Read(PartCursor& part, uint32_t number, std::string& copy) const {
  std::span<const std::byte> bytes;
  if (nodes_per_block_ != 0) {
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload, part.Block(number / nodes_per_block_));
    bytes = {payload + number % nodes_per_block_ * node_size_, node_size_};
  } else {
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view view,
                             part.ViewStream(number * node_size_, node_size_, copy));
    bytes = std::as_bytes(std::span(view));
  }
  GraphNode node;
  if (GraphNode::Read(bytes, head_.space.point_dimension(), head_.places, &node)) return node;
  return part.Damaged(Detail::kMiscounted, fmt::format("node {} has {} links of {}", number,
                                                       node.links(), head_.places));
}

Result<const float*> GraphReader::Vector(uint32_t vector) {
  if (root_->info.vector_element == VectorElement::kF32 && vectors_per_block_ != 0) {
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload, vectors_.Block(vector / vectors_per_block_));
    return reinterpret_cast<const float*>(payload + size_t{vector % vectors_per_block_} *
                                                        root_->info.vector_bytes());
  }
  const uint64_t bytes = root_->info.vector_bytes();
  const size_t within = static_cast<size_t>(vector * bytes % kBlockPayloadBytes);
  if (root_->info.vector_element == VectorElement::kF32 && vectors_.element_bytes() == 0 &&
      within + bytes <= kBlockPayloadBytes) {
    PIGMENT_ASSIGN_OR_RETURN(
        const std::byte* payload,
        vectors_.Block(static_cast<uint32_t>(vector * bytes / kBlockPayloadBytes)));
    return reinterpret_cast<const float*>(payload + within);
  }
  PIGMENT_RETURN_IF_ERROR(ReadVectorFrom(vectors_, *root_, vector, vector_));
  return vector_.data();
}

void GraphReader::Expect(uint32_t vector) {
  if (nodes_per_block_ != 0) {
    nodes_.Expect(vector / nodes_per_block_, vector % nodes_per_block_ * node_size_, node_size_);
  } else {
    nodes_.ExpectStream(vector * node_size_, node_size_);
  }
  const size_t bytes = root_->info.vector_bytes();
  if (vectors_.element_bytes() == 0) {
    vectors_.ExpectStream(uint64_t{vector} * bytes, bytes);
  } else if (vectors_per_block_ != 0) {
    vectors_.Expect(vector / vectors_per_block_, vector % vectors_per_block_ * bytes, bytes);
  }
}

}  // namespace pigment
