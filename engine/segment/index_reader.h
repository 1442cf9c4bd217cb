// SPDX-License-Identifier: Apache-2.0
//
// Reads nodes and vectors of a segment's index, in any order: its cursors stay on their blocks. One
// thread; source, root and head are borrowed. At most one block of each part is pinned.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/segment/index_part.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/vector_reader.h"
#include "engine/vector/graph_node.h"

namespace pigment {

class IndexReader {
 public:
  IndexReader(BlockSource* source, const Root* root, const IndexHead& head);

  const IndexHead& head() const { return head_; }
  // Each is valid until the next call of the same name. REQUIRES: number < head().entry_nodes();
  // vector < vectors.
  Result<GraphNode> EntryNode(uint32_t number) { return Read(entries_, number, entry_bytes_); }
  Result<const float*> Vector(uint32_t vector) { return vectors_.Read(vector); }
  // It is likely to be read soon. True: it comes from a disk.
  bool ExpectVector(uint32_t vector) { return vectors_.Expect(vector); }
  // Of a graph.
  Result<GraphNode> Node(uint32_t vector) { return Read(nodes_, vector, node_bytes_); }
  // What of it is asked for first, before its codes where these are many, and then the rest.
  bool ExpectNodeHead(uint32_t vector) {
    return nodes_.ExpectElement(vector, node_size_, node_head_);
  }
  bool ExpectNodeRest(uint32_t vector) {
    return nodes_.ExpectRestOfElement(vector, node_size_, node_head_);
  }
  // Row codes from that of `row` on which lie together. REQUIRES: head().row_radius != 0.
  struct RowCodes {
    const std::byte* first;
    uint32_t count;
  };
  Result<RowCodes> RowCodesFrom(uint32_t row);
  // Where these probably lie: to be asked for ahead, never to be read. None: nobody knows, or they
  // lie in two blocks.
  RowCodes LikelyRowCodesFrom(uint32_t row) const;
  // Of clusters. REQUIRES: cluster < head().entries; number < head().cluster(cluster).nodes().
  Result<const float*> Centroid(uint32_t cluster);
  void ExpectCentroid(uint32_t cluster) {
    centroids_.ExpectElement(cluster, head_.centroid_bytes());
  }
  Result<GraphNode> ClusterNode(uint32_t cluster, uint32_t number);
  // The first of them.
  void ExpectCluster(uint32_t cluster) {
    nodes_.ExpectStream(head_.cluster_begins[cluster], head_.cluster(cluster).node_bytes(0));
  }

 private:
  Result<GraphNode> Read(PartCursor& part, uint32_t number, std::string& copy) const;

  const Root* const root_;
  const IndexHead& head_;
  const uint64_t node_size_;
  const uint64_t node_head_;
  PartCursor entries_;
  PartCursor nodes_;  // of the graph, or of the clusters
  PartCursor centroids_;
  PartCursor row_codes_;
  VectorReader vectors_;
  std::string entry_bytes_;  // of what lies in two blocks
  std::string node_bytes_;
  std::string centroid_bytes_;
  std::vector<float> centroid_;  // widened
  std::string row_code_;
};

}  // namespace pigment
