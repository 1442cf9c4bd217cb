// SPDX-License-Identifier: Apache-2.0
//
// Reads nodes and vectors of a segment's graph, in any order: its cursors stay on their blocks. One
// thread; source, root and head are borrowed. At most one block of each part is pinned.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/segment/graph_part.h"
#include "engine/segment/part_reader.h"
#include "engine/vector/graph_node.h"

namespace pigment {

class GraphReader {
 public:
  GraphReader(BlockSource* source, const Root* root, const GraphHead& head);

  const GraphHead& head() const { return head_; }
  // Each is valid until the next call of the same name. REQUIRES: number < head().entry_nodes();
  // vector < vectors.
  Result<GraphNode> EntryNode(uint32_t number) { return Read(entries_, number, entry_bytes_); }
  Result<GraphNode> Node(uint32_t vector) { return Read(nodes_, vector, node_bytes_); }
  Result<const float*> Vector(uint32_t vector);
  // This vector and its node are likely to be read soon.
  void Expect(uint32_t vector);

 private:
  Result<GraphNode> Read(PartCursor& part, uint32_t number, std::string& copy) const;

  const Root* const root_;
  const GraphHead& head_;
  const uint64_t node_size_;
  PartCursor entries_;
  PartCursor nodes_;
  PartCursor vectors_;
  std::string entry_bytes_;  // of what lies in two blocks
  std::string node_bytes_;
  std::vector<float> vector_;  // of what lies in more than one block, or as halves
};

}  // namespace pigment
