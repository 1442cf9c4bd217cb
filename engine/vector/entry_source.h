// SPDX-License-Identifier: Apache-2.0
//
// EntrySource: what every search by estimates reads, be it of a graph or of clusters: where it may
// begin, and exact distances. From memory, or from the blocks of a segment. One thread.

#pragma once

#include <cstdint>

#include "engine/base/status.h"
#include "engine/vector/graph_node.h"

namespace pigment {

class EntrySource {
 public:
  virtual ~EntrySource() = default;

  // Nodes that link to the entries; their vector, the centre of all, is no vector of the index.
  virtual uint32_t entry_nodes() const = 0;
  // Valid until the next call, as all that sources give. Errors end the search.
  virtual Result<GraphNode> EntryNode(uint32_t number) = 0;
  // The squared distance of the query to the centre, in the space of the nodes' estimates.
  virtual float centre_square() const = 0;
  // Whether the codes of nodes are around the centre of all, and exact, as those of bits may be
  // (graph_space.h); otherwise they are around each node's own vector.
  virtual bool has_exact_codes() const { return false; }
  // The exact distance of the query to a vector: what hits are ordered by.
  virtual Result<float> Distance(uint32_t vector) = 0;
  // The squared distance, in the space of the nodes' estimates, of a vector at this distance;
  // ascends with it.
  virtual float SquareOf(float distance) const = 0;
  // This vector is likely to be read soon.
  virtual void Expect(uint32_t vector) = 0;
};

// What a search says of a node that links to `link` among `count`.
Status LinkBeyondTheEnd(uint32_t link, uint32_t count);

}  // namespace pigment
