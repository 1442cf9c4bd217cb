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
constexpr LongWalk kShortWalk = {.rows = 2, .reach = 1.4f, .visits = 2000};
// Where these find too few, as of few dimensions, whose codes say less, others go further.
constexpr LongWalk kLongerWalk = {.rows = 3, .reach = 1.5f, .visits = 6000};
constexpr LongWalk kLongerShortWalk = {.rows = 2, .reach = 2.2f, .visits = 4000};
constexpr uint32_t kLongWalksOf = 3;  // one of so many is long
// What may be nearer than the k-th nearest is always visited.
constexpr float kLeastReach = 1;

// All entry nodes, one after the other: each walk begins with them.
std::vector<std::byte> EncodeEntryNodes(const GraphEncoder& encoder) {
  std::vector<std::byte> bytes(size_t{encoder.entry_nodes()} * encoder.node_bytes());
  for (uint32_t number = 0; number < encoder.entry_nodes(); ++number)
    encoder.EncodeEntryNode(number, bytes.data() + number * encoder.node_bytes());
  return bytes;
}

class TableSource final : public GraphSource {
 public:
  TableSource(GraphNodes& nodes, std::span<const std::byte> entry_nodes,
              std::span<const float> query)
      : nodes_(nodes),
        encoder_(nodes.encoder()),
        points_(encoder_.points()),
        distance_(Metric::kL2, query),
        centre_square_(InnerProduct(query.data(), query.data(), query.size())),
        entry_nodes_(entry_nodes) {}

  uint32_t entry_nodes() const override { return encoder_.entry_nodes(); }
  Result<GraphNode> EntryNode(uint32_t number) override {
    return Read(entry_nodes_.subspan(number * encoder_.node_bytes(), encoder_.node_bytes()));
  }
  float centre_square() const override { return centre_square_; }
  bool has_exact_codes() const override { return encoder_.codes().are_exact; }
  Result<GraphNode> Node(uint32_t vector) override { return Read(nodes_.Node(vector)); }
  Result<float> Distance(uint32_t vector) override { return distance_(points_.row(vector)); }
  float SquareOf(float distance) const override { return distance; }
  void Expect(uint32_t vector) override { points_.Expect(vector); }
  void ExpectNode(uint32_t vector) override { nodes_.Expect(vector); }

 private:
  Result<GraphNode> Read(std::span<const std::byte> bytes) const {
    GraphNode node;
    if (!GraphNode::Read(bytes, encoder_.code_bits(), encoder_.places(), &node))
      return Internal("a node that was just encoded is none");
    return node;
  }

  GraphNodes& nodes_;
  const GraphEncoder& encoder_;
  const VectorTable& points_;
  const DistanceFunction distance_;
  const float centre_square_;
  const std::span<const std::byte> entry_nodes_;
};

// Walks to the queries of a sample from one to before another.
Status WalkTo(const CalibrationSample& sample, uint32_t begin, uint32_t end, GraphNodes& nodes,
              std::span<const std::byte> entry_nodes, bool is_longer, const BuildPause& pause,
              CalibrationSums& sums) {
  GraphWalk walk;
  std::vector<SearchStep> steps;
  for (uint32_t i = begin; i < end; ++i) {
    if (pause) PIGMENT_RETURN_IF_ERROR(pause());
    const bool is_long = i % kLongWalksOf == 0;
    const LongWalk& longest =
        is_longer ? (is_long ? kLongerWalk : kLongerShortWalk) : (is_long ? kLongWalk : kShortWalk);
    const std::span<const float> query = sample.points.vector(i);
    TableSource source(nodes, entry_nodes, query);
    steps.clear();
    PIGMENT_RETURN_IF_ERROR(walk.Search(source, SignCodeQuery(query, nodes.encoder().codes().bits),
                                        nodes.encoder().points().count(),
                                        {.k = ReachTable::kNeighbors[longest.rows - 1],
                                         .reach = longest.reach,
                                         .visits_max = longest.visits,
                                         .absent = sample.absent[i],
                                         .steps = &steps})
                                .status());
    sums.Add(sample, i, steps, longest.rows);
  }
  return Status::Ok();
}

Result<CalibrationSums> WalkToAll(const CalibrationSample& sample, GraphNodes& nodes,
                                  std::span<const std::byte> entry_nodes, const BuildPause& pause) {
  constexpr uint32_t kFirst = 32;  // they tell most often when longer walks are needed
  const uint32_t count = sample.points.count();
  CalibrationSums sums(ReachSums::Kind::kWalks, kLeastReach);
  for (uint32_t begin = 0, end = std::min(kFirst, count); begin < count; begin = end, end = count) {
    PIGMENT_RETURN_IF_ERROR(WalkTo(sample, begin, end, nodes, entry_nodes, false, pause, sums));
    if (!sums.FindsAll()) {
      CalibrationSums longer(ReachSums::Kind::kWalks, kLeastReach);
      PIGMENT_RETURN_IF_ERROR(WalkTo(sample, 0, count, nodes, entry_nodes, true, pause, longer));
      return longer;
    }
  }
  return sums;
}

}  // namespace

Result<ReachTable> CalibrateReach(GraphNodes& nodes, const CalibrationOptions& options) {
  const std::vector<std::byte> entry_nodes = EncodeEntryNodes(nodes.encoder());
  return Calibrate(nodes.encoder().points(), options, [&](const CalibrationSample& sample) {
    return WalkToAll(sample, nodes, entry_nodes, options.pause);
  });
}

}  // namespace pigment
