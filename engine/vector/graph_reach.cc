// SPDX-License-Identifier: Apache-2.0
//
// One long walk tells what all shorter ones find: a walk ends before the first visit whose estimate
// is beyond its reach, so those of a smaller reach, or for fewer neighbours, are its beginnings.

#include "engine/vector/graph_reach.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/vector/graph_encode.h"
#include "engine/vector/graph_walk.h"
#include "engine/vector/seeded_random.h"

namespace pigment {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();
// Reaches that are tried: in small steps where most lie, then in larger ones.
constexpr size_t kReaches = 61;
constexpr float ReachOf(size_t step) {
  constexpr size_t kSmallSteps = 30;
  const size_t small = std::min(step, kSmallSteps);
  return 1 + 0.01f * static_cast<float>(small) + 0.05f * static_cast<float>(step - small);
}
// Where the longest that is known finds too few, a scan does: when it misses so many times what may
// be missed, and one more that chance may have chosen.
constexpr double kMissesAllowed = 3;
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
        holds_(std::min(points, kNodesKept), GraphWalkOptions::kNobody),
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

// What walks of each reach found and took, summed over the queries.
struct ReachSums {
  std::array<double, kReaches> found{};  // parts of k
  std::array<double, kReaches> visits{};
  std::array<double, kReaches> ended{};  // before the long walk, so that it is known what they take
  double queries = 0;

  // What walks for nearest.size() neighbours have of the steps of one that went on for more.
  void Add(std::span<const GraphStep> steps, std::span<const float> nearest);
  GraphReach Least(float recall) const;
  // What is calibrated was found.
  bool FindsAll() const {
    return found.back() >= static_cast<double>(GraphReachTable::kRecalls.back()) * queries;
  }
};

void ReachSums::Add(std::span<const GraphStep> steps, std::span<const float> nearest) {
  const size_t tracked = std::max(nearest.size(), GraphReachTable::kNeighborsMin);
  TopK found_now(tracked);
  size_t reach = 0;  // walks of a smaller one have ended
  size_t right = 0;
  size_t visits_now = 0;
  const auto end_walks = [&](float ratio, bool is_over) {
    for (; reach < kReaches && ReachOf(reach) < ratio; ++reach) {
      found[reach] += static_cast<double>(right) / static_cast<double>(nearest.size());
      visits[reach] += static_cast<double>(visits_now);
      ended[reach] += is_over ? 0 : 1;
    }
  };
  for (const GraphStep& step : steps) {
    if (found_now.size() == tracked) end_walks(step.estimate / found_now.worst(), false);
    ++visits_now;
    if (step.distance <= nearest.back() && right < nearest.size()) ++right;
    found_now.Offer(step.distance, step.vector);
  }
  end_walks(kInfinite, true);
  ++queries;
}

GraphReach ReachSums::Least(float recall) const {
  if (queries == 0) return {.reach = 1, .visits = 1};
  const auto at = [this](size_t step) {
    return GraphReach{.reach = ReachOf(step), .visits = static_cast<float>(visits[step] / queries)};
  };
  for (size_t step = 0; step < kReaches; ++step) {
    if (found[step] >= recall * queries) return at(step);
  }
  size_t longest = kReaches - 1;
  while (longest > 0 && ended[longest] < queries / 2) --longest;
  const double missed = queries - found[longest];
  if (missed <= kMissesAllowed * (1 - recall) * queries + 1) return at(longest);
  return {.reach = kInfinite, .visits = kInfinite};
}

// Queries of one kind.
struct Sample {
  VectorTable points;
  std::vector<uint32_t> absent;  // of each query the point that it is, or kNobody
  // Squared distances of each to the nearest other points, ascending: as many as are calibrated, or
  // there are.
  std::vector<std::vector<float>> nearest;
};

// Points of the graph.
Result<Sample> SamplePoints(const VectorTable& points, uint32_t count, SeededRandom& random) {
  Sample sample{.points = VectorTable(points.dimension(), nullptr), .absent = {}, .nearest = {}};
  PIGMENT_RETURN_IF_ERROR(sample.points.Reserve(count));
  for (uint32_t i = 0; i < count; ++i) {
    sample.absent.push_back(random.Below(points.count()));
    sample.points.Add(points.vector(sample.absent.back()));
  }
  return sample;
}

// What lies between points: queries are seldom drawn as the points were.
Result<Sample> SampleBetween(const VectorTable& points, uint32_t count, SeededRandom& random) {
  Sample sample{.points = VectorTable(points.dimension(), nullptr), .absent = {}, .nearest = {}};
  PIGMENT_RETURN_IF_ERROR(sample.points.Reserve(count));
  std::vector<float> between(points.dimension());
  for (uint32_t i = 0; i < count; ++i) {
    const float* const near = points.row(random.Below(points.count()));
    const float* const far = points.row(random.Below(points.count()));
    const float share = 0.5f + 0.4f * static_cast<float>(random.Below(1000)) / 1000;
    for (size_t d = 0; d < between.size(); ++d) between[d] = share * near[d] + (1 - share) * far[d];
    sample.absent.push_back(GraphWalkOptions::kNobody);
    sample.points.Add(between);
  }
  return sample;
}

Status FindNearest(const VectorTable& points, const BuildPause& pause, Sample& sample) {
  const uint32_t count = sample.points.count();
  VectorPanels panels(points.dimension(), nullptr);
  std::vector<const float*> rows;
  for (uint32_t i = 0; i < count; ++i) rows.push_back(sample.points.row(i));
  PIGMENT_RETURN_IF_ERROR(panels.Pack(rows));
  std::vector<TopK> nearest(count, TopK(GraphReachTable::kNeighbors.back()));
  std::vector<uint32_t> all(points.count());
  std::iota(all.begin(), all.end(), 0u);
  PIGMENT_RETURN_IF_ERROR(
      MultiplyRows(panels, points, all, pause, [&](size_t i, const float* products) {
        for (uint32_t query = 0; query < count; ++query) {
          if (sample.absent[query] == i) continue;
          const float distance =
              points.square(all[i]) + (sample.points.square(query) - 2 * products[query]);
          if (nearest[query].MayEnter(distance)) nearest[query].Offer(distance, i);
        }
      }));
  for (uint32_t query = 0; query < count; ++query) {
    // Compared with those of walks, so computed as they are.
    const DistanceFunction distance(Metric::kL2, sample.points.vector(query));
    std::vector<float>& distances = sample.nearest.emplace_back();
    for (const Scored& scored : nearest[query].TakeSorted())
      distances.push_back(distance(points.row(static_cast<uint32_t>(scored.tie))));
    std::sort(distances.begin(), distances.end());
  }
  return Status::Ok();
}

using AllSums = std::array<ReachSums, GraphReachTable::kNeighbors.size()>;

// Walks to each query of a sample.
Result<AllSums> WalkTo(const Sample& sample, const VectorTable& points, const GraphEncoder& encoder,
                       bool is_longer, const BuildPause& pause) {
  NodeCache nodes(encoder, points.count());
  GraphWalk walk;
  std::vector<GraphStep> steps;
  AllSums sums;
  for (uint32_t i = 0; i < sample.points.count(); ++i) {
    if (pause) PIGMENT_RETURN_IF_ERROR(pause());
    const bool is_long = i % kLongWalksOf == 0;
    const LongWalk& longest =
        is_longer ? (is_long ? kLongerWalk : kLongerShortWalk) : (is_long ? kLongWalk : kShortWalk);
    const std::span<const float> query = sample.points.vector(i);
    TableSource source(encoder, points, nodes, query);
    steps.clear();
    PIGMENT_RETURN_IF_ERROR(walk.Search(source, SignCodeQuery(query), points.count(),
                                        {.k = GraphReachTable::kNeighbors[longest.rows - 1],
                                         .reach = longest.reach,
                                         .visits_max = longest.visits,
                                         .absent = sample.absent[i],
                                         .steps = &steps})
                                .status());
    for (size_t row = 0; row < longest.rows; ++row) {
      const size_t k = std::min<size_t>(GraphReachTable::kNeighbors[row], sample.nearest[i].size());
      if (k > 0) sums[row].Add(steps, std::span(sample.nearest[i]).first(k));
    }
  }
  return sums;
}

// `part` of the way from a to b: 0 is a, 1 is b.
float Between(float a, float b, double part) {
  if (part <= 0) return a;
  return part >= 1 || !std::isfinite(b) ? b : static_cast<float>(a + (b - a) * part);
}

GraphReach AtRecall(std::span<const GraphReach> values, double recall) {
  constexpr auto& kRecalls = GraphReachTable::kRecalls;
  size_t high = 1;
  while (high + 1 < kRecalls.size() && kRecalls[high] < recall) ++high;
  const double part = (recall - kRecalls[high - 1]) / (kRecalls[high] - kRecalls[high - 1]);
  return {.reach = Between(values[high - 1].reach, values[high].reach, part),
          .visits = Between(values[high - 1].visits, values[high].visits, part)};
}

}  // namespace

GraphReach GraphReachTable::For(size_t k, double recall) const {
  const double wanted = static_cast<double>(std::max<size_t>(k, 1));
  size_t row = 0;
  while (row + 2 < kNeighbors.size() && wanted > kNeighbors[row + 1]) ++row;
  const GraphReach near = AtRecall(values[row], recall);
  const GraphReach far = AtRecall(values[row + 1], recall);
  // In powers of k; of visits also beyond the last.
  const double part = std::log(wanted / kNeighbors[row]) /
                      std::log(static_cast<double>(kNeighbors[row + 1]) / kNeighbors[row]);
  if (!std::isfinite(near.visits) || !std::isfinite(far.visits)) return part > 0 ? far : near;
  const double growth = far.visits / std::max(near.visits, 1.0f);
  return {.reach = Between(near.reach, far.reach, part),
          .visits = static_cast<float>(near.visits * std::pow(growth, part))};
}

Result<GraphReachTable> CalibrateReach(const VectorTable& points, const Graph& graph,
                                       const ReachOptions& options) {
  SeededRandom random(options.seed);
  const uint32_t count = std::min(options.queries, points.count());
  const GraphEncoder encoder(points, graph);
  GraphReachTable table;
  for (const auto& draw : {SamplePoints, SampleBetween}) {
    PIGMENT_ASSIGN_OR_RETURN(Sample sample, draw(points, count, random));
    PIGMENT_RETURN_IF_ERROR(FindNearest(points, options.pause, sample));
    PIGMENT_ASSIGN_OR_RETURN(AllSums sums, WalkTo(sample, points, encoder, false, options.pause));
    if (!std::ranges::all_of(sums, &ReachSums::FindsAll)) {
      PIGMENT_ASSIGN_OR_RETURN(sums, WalkTo(sample, points, encoder, true, options.pause));
    }
    for (size_t row = 0; row < sums.size(); ++row) {
      for (size_t i = 0; i < GraphReachTable::kRecalls.size(); ++i) {
        const GraphReach least = sums[row].Least(GraphReachTable::kRecalls[i]);
        if (least.reach > table.values[row][i].reach) table.values[row][i] = least;
      }
    }
  }
  return table;
}

}  // namespace pigment
