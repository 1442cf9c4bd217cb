// SPDX-License-Identifier: Apache-2.0
//
// GraphWalk: the search of a graph. It begins with estimates of all entries and goes on and on to
// the most promising vector that it knows, by the estimates of nodes (graph_node.h); where it has
// been it knows exact distances. It ends when the most promising is farther than the k-th nearest
// so far by more than its reach allows: near queries end early, hard ones go on. One thread at a
// time; a walk's memory is kept from query to query, and nothing is allocated in the loop once it
// has grown.

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/base/status.h"
#include "engine/vector/entry_source.h"
#include "engine/vector/near_places.h"
#include "engine/vector/promises.h"
#include "engine/vector/reach_table.h"
#include "engine/vector/row_mask.h"
#include "engine/vector/top_k.h"

namespace pigment {

// Where a walk reads.
class GraphSource : public EntrySource {
 public:
  // Of a vector.
  virtual Result<GraphNode> Node(uint32_t vector) = 0;
  // The rest of its node is read soon, of which Expect asked for the beginning: a core waits for
  // some two dozen lines of its caches at once, and stands at further requests.
  virtual void ExpectNode(uint32_t) {}
  // Whether some of what was expected lately comes from a disk: then a walk expects all that it
  // will probably visit, not the next alone, so that many come at once.
  virtual bool waits_for_disk() const { return false; }
};

struct GraphWalkOptions {
  size_t k = 10;
  // So many more are given of those that were visited: found less surely, since a walk goes no
  // farther for them.
  size_t spare = 0;
  // A walk goes on to what is estimated at up to so many times the squared distance of the k-th
  // nearest. 1 finds most, infinity goes everywhere and is exact.
  float reach = 1.1f;
  // With `allowed`: says when a smaller reach will do; null: none does.
  MaskedReach* masked = nullptr;
  // The caller keeps nothing that is farther, because it has k nearer ones from elsewhere; NaN:
  // all. The walk ends by this distance in place of the k-th nearest, once it has found a few.
  float wanted = std::numeric_limits<float>::quiet_NaN();
  // Nodes that are visited at most; 0: as many as it takes.
  size_t visits_max = 0;
  RowMask allowed = {};                      // of vectors; walks go through the others too
  uint32_t absent = SearchStep::kNoVector;   // a vector that is treated as if it were not there
  std::vector<SearchStep>* steps = nullptr;  // all visits are appended here; may be null
};

class GraphWalk {
 public:
  // The nearest to `query` (rotated, less the centre) that were visited, at most k and the spare
  // ones, ascending by distance, then number. What a source says is believed only as far as
  // `vectors`, their number.
  Result<std::vector<Scored>> Search(GraphSource& source, const SignCodeQuery& query,
                                     uint32_t vectors, const GraphWalkOptions& options);

  // Of the last search.
  uint64_t nodes_visited() const { return nodes_visited_; }
  uint64_t links_estimated() const { return links_estimated_; }

 private:
  void Begin();
  // Estimates all entries; some of the nearest become promises, the others wait.
  Status NoteEntries(GraphSource& source, const SignCodeQuery& query, uint32_t vectors);
  // Makes promises of those that wait and are estimated at most at `limit`.
  void PushEntries(float limit);
  // The same of the nearest of those that wait.
  void PushMoreEntries();
  // Notes what a node links to, by estimates from the query's squared distance to what its codes
  // are around.
  Status NoteLinks(GraphSource& source, const GraphNode& node, const SignCodeQuery& query,
                   float square, uint32_t vectors);
  bool Visits(uint32_t vector);  // true the first time
  bool IsVisited(uint32_t vector) const { return visited_[PlaceOf(vector)] == vector; }
  size_t PlaceOf(uint32_t vector) const;
  void GrowVisited();
  struct Visit {
    uint32_t vector = 0;
    float estimate = 0;
  };
  // The most promising vector that was not visited; false: there is none within the limit.
  bool Next(Visit* next);

  Promises promises_;  // vectors by their estimates, each once for each node that has it
  std::vector<uint32_t> entries_;       // those that wait, in no order
  std::vector<float> entry_estimates_;  // theirs
  uint64_t entries_from_ = 0;           // no promise of these would be less
  NearPlaces near_entries_;
  std::vector<float> sorted_;      // scratch
  float limit_ = 0;                // of estimates that are worth a visit; NaN: all are
  std::vector<uint32_t> visited_;  // a hash set
  size_t visited_count_ = 0;
  uint64_t nodes_visited_ = 0;
  uint64_t links_estimated_ = 0;
};

}  // namespace pigment
