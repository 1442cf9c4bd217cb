// SPDX-License-Identifier: Apache-2.0
//
// Long walks to the samples: see the header.

#include "engine/vector/graph_reach.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "engine/vector/graph_encode.h"
#include "engine/vector/graph_walk.h"

namespace pigment {
namespace {

// How far walks go that tell of all shorter ones: a part of them for as many neighbours as are
// calibrated, the others, which cost less, for those before. Not beyond so many visits.
struct LongWalk {
  size_t rows;  // of the table, that it tells of
  float reach;
  size_t visits;
};
constexpr LongWalk kLongWalk = {.rows = 3, .reach = 1.15f, .visits = 3000};
constexpr LongWalk kShortWalk = {.rows = 2, .reach = 1.3f, .visits = 2000};
// Where these find too few, as of few dimensions, whose codes say less, others go further.
constexpr LongWalk kLongerWalk = {.rows = 3, .reach = 1.5f, .visits = 6000};
constexpr LongWalk kLongerShortWalk = {.rows = 2, .reach = 2.2f, .visits = 4000};
constexpr uint32_t kLongWalksOf = 3;  // one of so many is long
// Nodes that are kept encoded: the same ones are visited again and again where there are few.
constexpr uint32_t kNodesKept = 16 << 10;

// Nodes of a graph, encoded when they are visited.
class NodeCache {
 public:
  NodeCache(const GraphEncoder& encoder, uint32_t points)
      : encoder_(encoder),
        holds_(std::min(points, kNodesKept), SearchStep::kNoVector),
        bytes_(holds_.size() * encoder.node_bytes()) {}

  std::span<const std::byte> Node(uint32_t point) {
    const size_t slot = point % holds_.size();
    const auto node =
        std::span(bytes_).subspan(slot * encoder_.node_bytes(), encoder_.node_bytes());
    if (std::exchange(holds_[slot], point) != point) encoder_.EncodeNode(point, node.data());
    return node;
  }

 private:
  const GraphEncoder& encoder_;
  std::vector<uint32_t> holds_;
  std::vector<std::byte> bytes_;
};

class TableSource final : public GraphSource {
 public:
  TableSource(const GraphEncoder& encoder, const VectorTable& points, NodeCache& nodes,
              std::span<const float> query)
      : encoder_(encoder),
        points_(points),
        nodes_(nodes),
        distance_(Metric::kL2, query),
        centre_square_(InnerProduct(query.data(), query.data(), query.size())),
        entry_node_(encoder.node_bytes()) {}

  uint32_t entry_nodes() const override { return encoder_.entry_nodes(); }
  Result<GraphNode> EntryNode(uint32_t number) override {
    encoder_.EncodeEntryNode(number, entry_node_.data());
    return Read(entry_node_);
  }
  float centre_square() const override { return centre_square_; }
  Result<GraphNode> Node(uint32_t vector) override { return Read(nodes_.Node(vector)); }
  Result<float> Distance(uint32_t vector) override { return distance_(points_.row(vector)); }
  float SquareOf(float distance) const override { return distance; }
  void Expect(uint32_t vector) override { points_.Expect(vector); }

 private:
  Result<GraphNode> Read(std::span<const std::byte> bytes) const {
    GraphNode node;
    if (!GraphNode::Read(bytes, points_.dimension(), encoder_.places(), &node))
      return Internal("a node that was just encoded is none");
    return node;
  }

  const GraphEncoder& encoder_;
  const VectorTable& points_;
  NodeCache& nodes_;
  const DistanceFunction distance_;
  const float centre_square_;
  std::vector<std::byte> entry_node_;
};

// Walks to each query of a sample.
Result<CalibrationSums> WalkTo(const CalibrationSample& sample, const VectorTable& points,
                               const GraphEncoder& encoder, bool is_longer,
                               const BuildPause& pause) {
  NodeCache nodes(encoder, points.count());
  GraphWalk walk;
  std::vector<SearchStep> steps;
  CalibrationSums sums;
  for (uint32_t i = 0; i < sample.points.count(); ++i) {
    if (pause) PIGMENT_RETURN_IF_ERROR(pause());
    const bool is_long = i % kLongWalksOf == 0;
    const LongWalk& longest =
        is_longer ? (is_long ? kLongerWalk : kLongerShortWalk) : (is_long ? kLongWalk : kShortWalk);
    const std::span<const float> query = sample.points.vector(i);
    TableSource source(encoder, points, nodes, query);
    steps.clear();
    PIGMENT_RETURN_IF_ERROR(walk.Search(source, SignCodeQuery(query), points.count(),
                                        {.k = ReachTable::kNeighbors[longest.rows - 1],
                                         .reach = longest.reach,
                                         .visits_max = longest.visits,
                                         .absent = sample.absent[i],
                                         .steps = &steps})
                                .status());
    sums.Add(sample, i, steps, longest.rows);
  }
  return sums;
}

}  // namespace

Result<ReachTable> CalibrateReach(const VectorTable& points, const Graph& graph,
                                  const CalibrationOptions& options) {
  const GraphEncoder encoder(points, graph);
  return Calibrate(points, options,
                   [&](const CalibrationSample& sample) -> Result<CalibrationSums> {
                     auto sums = WalkTo(sample, points, encoder, false, options.pause);
                     if (!sums.ok() || sums->FindsAll()) return sums;
                     return WalkTo(sample, points, encoder, true, options.pause);
                   });
}

}  // namespace pigment
