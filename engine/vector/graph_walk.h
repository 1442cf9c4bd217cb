// SPDX-License-Identifier: Apache-2.0
//
// GraphWalk: the search of a graph. It begins with estimates of all entries and goes on and on to
// the most promising vector that it knows, by the estimates of nodes (graph_node.h); where it has
// been it knows exact distances. It ends when the `width` most promising are all visited. One
// thread at a time; a walk's memory is kept from query to query and depends on the width, not on
// the graph. Nothing is allocated in the loop once it has grown.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/status.h"
#include "engine/vector/graph_node.h"
#include "engine/vector/top_k.h"

namespace pigment {

// Where a walk reads: memory, or the blocks of a segment.
class GraphSource {
 public:
  virtual ~GraphSource() = default;
  // Nodes that link to the entries; their vector, the centre of all, is no vector of the graph.
  virtual uint32_t entry_nodes() const = 0;
  virtual Result<GraphNode> EntryNode(uint32_t number) = 0;
  // Of the query to the centre, as Distance.
  virtual float centre_distance() const = 0;
  // A node, valid until the next call. Errors end the walk.
  virtual Result<GraphNode> Node(uint32_t vector) = 0;
  // The exact squared distance of the query to a vector, in the space of the nodes' estimates.
  virtual Result<float> Distance(uint32_t vector) = 0;
  // This vector and its node are likely to be read soon.
  virtual void Expect(uint32_t vector) = 0;
};

struct GraphWalkOptions {
  size_t width = 100;  // 1 or more; at least k
  size_t k = 10;
  // One bit per vector (bit v % 64 of word v / 64), set where it may be a hit; empty: all may.
  // Walks go through the others too.
  std::span<const uint64_t> allowed;
};

class GraphWalk {
 public:
  // The nearest to `query` (rotated) that were visited, at most k, ascending by distance, then
  // number. What a source says is believed only as far as `vectors`, their number. REQUIRES:
  // vectors <= kVectorsMax.
  Result<std::vector<Scored>> Search(GraphSource& source, const SignCodeQuery& query,
                                     uint32_t vectors, const GraphWalkOptions& options);

  // Graphs have no more vectors than this.
  static constexpr uint32_t kVectorsMax = uint32_t{1} << 31;

  // Of the last search.
  uint64_t nodes_visited() const { return nodes_visited_; }
  uint64_t links_estimated() const { return links_estimated_; }

 private:
  // The most promising vectors, by estimate, ascending; each may stand here more than once, by
  // other estimates.
  struct Promise {
    float estimate;
    uint32_t vector;  // with kVisited, once it was the next
  };
  static constexpr uint32_t kVisited = uint32_t{1} << 31;

  void Begin(size_t width);
  // Notes what a node links to, by estimates from the query's distance to the node.
  Status NoteLinks(const GraphNode& node, const SignCodeQuery& query, float distance,
                   uint32_t vectors);
  bool Visits(uint32_t vector);  // true the first time
  bool IsVisited(uint32_t vector) const { return visited_[PlaceOf(vector)] == vector; }
  size_t PlaceOf(uint32_t vector) const;
  void GrowVisited();
  // What a promise must not reach to enter; NaN, which nothing reaches, while there is room.
  float Limit() const;
  size_t PlaceFor(float estimate) const;       // behind the promises that are not worse
  void Note(float estimate, uint32_t vector);  // REQUIRES: not at the limit
  // The most promising vector that was not visited; false: there is none.
  bool Next(uint32_t* vector);

  size_t width_ = 0;
  std::vector<Promise> promises_;  // before next_ all are visited
  size_t next_ = 0;
  std::vector<uint32_t> visited_;  // a hash set
  size_t visited_count_ = 0;
  uint64_t nodes_visited_ = 0;
  uint64_t links_estimated_ = 0;
};

}  // namespace pigment
