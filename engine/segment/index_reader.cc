// SPDX-License-Identifier: Apache-2.0
//
// Where a node and a vector lie: see the header.

#include "engine/segment/index_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "engine/vector/half.h"

namespace pigment {
namespace {

constexpr uint64_t kNodeAtOnceMax = 512;  // bytes that are not asked for in two steps

}  // namespace

IndexReader::IndexReader(BlockSource* source, const Root* root, const IndexHead& head)
    : root_(root),
      head_(head),
      node_size_(head.node_bytes()),
      node_head_(node_size_ <= kNodeAtOnceMax ? node_size_ : GraphNodeHeadBytes(head.places)),
      entries_(source, root, BlockKind::kEntries),
      nodes_(source, root,
             root->info.kind == SegmentKind::kGraph ? BlockKind::kGraphNodes
                                                    : BlockKind::kClusterNodes),
      centroids_(source, root, BlockKind::kCentroids),
      row_codes_(source, root, BlockKind::kRowCodes),
      vectors_(source, root) {}

Result<GraphNode> IndexReader::Read(PartCursor& part, uint32_t number, std::string& copy) const {
  PIGMENT_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes,
                           part.ViewElement(number, node_size_, copy));
  GraphNode node;
  if (GraphNode::Read(bytes, head_.code_bits(), head_.places, &node)) return node;
  return part.Damaged(Detail::kMiscounted, fmt::format("node {} has {} links of {}", number,
                                                       node.links(), head_.places));
}

Result<const float*> IndexReader::Centroid(uint32_t cluster) {
  PIGMENT_ASSIGN_OR_RETURN(
      const std::span<const std::byte> bytes,
      centroids_.ViewElement(cluster, head_.centroid_bytes(), centroid_bytes_));
  if (head_.centroid_element == VectorElement::kF32)
    return reinterpret_cast<const float*>(bytes.data());
  centroid_.resize(head_.space.point_dimension());
  WidenHalves(bytes.data(), centroid_);
  return static_cast<const float*>(centroid_.data());
}

Result<IndexReader::RowCodes> IndexReader::RowCodesFrom(uint32_t row) {
  const size_t size = head_.row_code_bytes();
  const PartCursor::ElementRun run = row_codes_.RunFrom(row, size);
  if (run.count != 0) {
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* const payload, row_codes_.Block(run.block));
    return RowCodes{payload + run.within, std::min(run.count, root_->info.vectors - row)};
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes,
                           row_codes_.ViewElement(row, size, row_code_));
  return RowCodes{bytes.data(), 1};
}

IndexReader::RowCodes IndexReader::LikelyRowCodesFrom(uint32_t row) const {
  const PartCursor::ElementRun run = row_codes_.RunFrom(row, head_.row_code_bytes());
  const std::byte* const payload = run.count != 0 ? row_codes_.LikelyBlock(run.block) : nullptr;
  if (payload == nullptr) return {nullptr, 0};
  return {payload + run.within, std::min(run.count, root_->info.vectors - row)};
}

Result<GraphNode> IndexReader::ClusterNode(uint32_t cluster, uint32_t number) {
  const ClusterShape shape = head_.cluster(cluster);
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view bytes,
                           nodes_.ViewStream(head_.cluster_begins[cluster] + shape.offset(number),
                                             shape.node_bytes(number), node_bytes_));
  GraphNode node;
  if (GraphNode::Read(std::as_bytes(std::span(bytes)), head_.code_bits(), shape.places(number),
                      &node) &&
      node.links() == shape.links(number)) {
    return node;
  }
  return nodes_.Damaged(Detail::kMiscounted,
                        fmt::format("node {} of cluster {} has {} links of {}", number, cluster,
                                    node.links(), shape.links(number)));
}

}  // namespace pigment
