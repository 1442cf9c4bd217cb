// SPDX-License-Identifier: Apache-2.0
//
// A walk over the blocks of a segment: see the header.

#include "engine/segment/graph_search.h"

namespace pigment {
namespace {

// Visits between two looks at the clock: well below a millisecond.
constexpr uint32_t kVisitsPerCheck = 64;

class SegmentGraphSource final : public GraphSource {
 public:
  SegmentGraphSource(GraphReader& reader, const GraphSearch& search)
      : reader_(reader), search_(search), distance_(search.metric, search.vector) {}

  uint32_t entry_nodes() const override { return reader_.head().entry_nodes(); }
  Result<GraphNode> EntryNode(uint32_t number) override { return reader_.EntryNode(number); }
  float centre_square() const override { return search_.query->centre_square(); }
  Result<GraphNode> Node(uint32_t vector) override { return reader_.Node(vector); }
  Result<float> Distance(uint32_t vector) override {
    if (visits_++ % kVisitsPerCheck == 0 && search_.control != nullptr)
      PIGMENT_RETURN_IF_ERROR(search_.control->Check());
    PIGMENT_ASSIGN_OR_RETURN(const float* numbers, reader_.Vector(vector));
    return distance_(numbers);
  }
  float SquareOf(float distance) const override { return search_.query->SquareOf(distance); }
  void Expect(uint32_t vector) override { reader_.Expect(vector); }

 private:
  GraphReader& reader_;
  const GraphSearch& search_;
  const DistanceFunction distance_;
  uint32_t visits_ = 0;
};

}  // namespace

Result<GraphSearchResult> SearchGraph(const SegmentInfo& info, GraphReader& reader,
                                      const GraphSearch& search, GraphWalk& walk) {
  SegmentGraphSource source(reader, search);
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<Scored> found,
                           walk.Search(source, SignCodeQuery(search.query->point()), info.vectors,
                                       {.k = search.k,
                                        .reach = search.reach,
                                        .visits_max = search.visits_max,
                                        .allowed = search.allowed_rows}));
  GraphSearchResult result;
  result.nodes_visited = walk.nodes_visited();
  result.links_estimated = walk.links_estimated();
  result.hits.reserve(found.size());
  for (const Scored& scored : found)
    result.hits.push_back({scored.distance, static_cast<uint32_t>(scored.tie)});
  return result;
}

}  // namespace pigment
