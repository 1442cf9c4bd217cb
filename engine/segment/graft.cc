// SPDX-License-Identifier: Apache-2.0
//
// Nodes of each row by a walk to its vector, rows of each node by counting: see the header.

#include "engine/segment/graft.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "engine/base/prefetch.h"
#include "engine/segment/code_scan.h"
#include "engine/segment/index_search.h"
#include "engine/vector/row_code.h"
#include "engine/vector/seeded_random.h"
#include "engine/vector/top_k.h"

namespace pigment {
namespace {

// Nodes that a row hangs on. Walks to the neighbours of a row meet one of them nearly as often as
// they meet a node that is as near: with 8 a twentieth of the rows is missed, with 16 a fiftieth,
// with 24 a hundredth.
constexpr size_t kNodesPerRow = 16;
// Of the walks that look for these.
constexpr double kWalkRecall = 0.9;
constexpr size_t kWalkVisitsMax = 1000;
// A graph of fewer times the rows would not stay the large one for long.
constexpr uint64_t kTimesLarger = 2;
// Nodes at more than so many times the squared distance of what was found lead to little that is
// as near.
constexpr float kNear = 1.1f;
// Samples of each kind, the neighbours that they want, how many of these must be found, and at how
// many rows, or which part of them, a search may look, on average.
constexpr uint32_t kSamples = 50;
constexpr size_t kSampleNeighbors = 10;
constexpr double kRecallMin = 0.96;
constexpr size_t kMetMax = 256;
constexpr size_t kMetPart = 16;
constexpr uint64_t kOfGraph = uint64_t{1} << 32;  // in ties: no row
constexpr uint32_t kRowsPerPause = 16;
constexpr uint32_t kRowsPerCheck = 64;

uint64_t HungBytes(const SegmentInfo& rows) {
  return uint64_t{rows.vectors} * kNodesPerRow * sizeof(uint32_t);
}

// Walks of a graph to anything.
class Walker {
 public:
  static Result<Walker> Make(const Segment& graph) {
    PIGMENT_ASSIGN_OR_RETURN(const IndexHead* const head, graph.Index());
    return Walker(graph, *head);
  }

  // The nearest k, which are none where no walk can tell near from far.
  Result<std::vector<RowHit>> Walk(std::span<const float> vector, size_t k, double recall) {
    const GraphQuery query(head_->space, vector);
    const float reach = head_->reach.For(ReachTable::kNeighborsMin, recall).reach;
    steps_.clear();
    nodes_.clear();
    if (!query.is_finite() || !std::isfinite(reach)) return std::vector<RowHit>();
    auto found = SearchGraph(graph_->info(), *reader_,
                             {.metric = graph_->info().metric,
                              .vector = vector,
                              .query = &query,
                              .k = k,
                              .reach = reach,
                              .visits_max = kWalkVisitsMax,
                              .steps = &steps_},
                             walk_);
    if (found.ok()) nodes_ = Graft::NodesNear(query, steps_, *found);
    return found;
  }
  // Of the last walk.
  const std::vector<uint32_t>& nodes() const { return nodes_; }

 private:
  Walker(const Segment& graph, const IndexHead& head)
      : graph_(&graph), head_(&head), reader_(graph.NewIndexReader(head)) {}

  const Segment* graph_;
  const IndexHead* head_;
  std::unique_ptr<IndexReader> reader_;
  GraphWalk walk_;
  std::vector<SearchStep> steps_;
  std::vector<uint32_t> nodes_;
};

struct Sample {
  std::vector<float> query;
  uint32_t absent;                   // the row that it is, or SearchStep::kNoVector
  std::vector<uint32_t> nodes = {};  // of a walk
  // Of graph and rows, ties by row, or kOfGraph and more.
  TopK nearest{kSampleNeighbors};
};

// Rows, and what lies between two of them, because queries are seldom drawn as rows were.
Result<std::vector<Sample>> DrawSamples(const Segment& rows) {
  SeededRandom random(rows.info().segment);
  std::vector<Sample> samples;
  std::vector<float> other(rows.info().dimension);
  for (uint32_t i = 0; i < 2 * kSamples; ++i) {
    const uint32_t row = random.Below(rows.info().vectors);
    Sample sample{.query = std::vector<float>(other.size()), .absent = row};
    PIGMENT_RETURN_IF_ERROR(rows.ReadVector(row, sample.query));
    if (i % 2 != 0) {
      PIGMENT_RETURN_IF_ERROR(rows.ReadVector(random.Below(rows.info().vectors), other));
      constexpr float kShare = 0.7f;
      for (size_t d = 0; d < other.size(); ++d)
        sample.query[d] = kShare * sample.query[d] + (1 - kShare) * other[d];
      sample.absent = SearchStep::kNoVector;
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

Status CompareAll(const Segment& rows, const BuildPause& pause, std::vector<Sample>& samples) {
  std::vector<DistanceFunction> distances;
  for (const Sample& sample : samples)
    distances.emplace_back(SearchedBy(rows.info().metric), sample.query);
  std::vector<float> found;
  return rows.VisitVectors(
      [&](uint32_t first, const float* vectors, size_t stride, size_t count) -> Status {
        if (pause) PIGMENT_RETURN_IF_ERROR(pause());
        found.resize(count);
        for (size_t s = 0; s < samples.size(); ++s) {
          distances[s].Many(vectors, stride, count, found.data());
          for (uint32_t i = 0; i < count; ++i) {
            if (samples[s].nearest.MayEnter(found[i]) && first + i != samples[s].absent)
              samples[s].nearest.Offer(found[i], first + i);
          }
        }
        return Status::Ok();
      });
}

}  // namespace

bool Graft::Fits(const SegmentInfo& graph, const SegmentInfo& rows) {
  return graph.kind == SegmentKind::kGraph && rows.kind == SegmentKind::kClusters &&
         graph.metric == rows.metric && graph.dimension == rows.dimension &&
         (graph.metric == Metric::kL2 || IsCosine(graph.metric)) &&
         graph.vectors >= kTimesLarger * rows.vectors && rows.vectors != 0;
}

uint64_t Graft::MakeBytes(const SegmentInfo& graph, const SegmentInfo& rows) {
  const uint32_t dimension = GraphSpace::PointDimension(graph.metric, graph.dimension);
  return 2 * HungBytes(rows) + (uint64_t{graph.vectors} + 1) * sizeof(uint32_t) +
         uint64_t{rows.vectors} * RowCodeBytes(dimension, RowCodeBits(dimension));
}

Result<std::shared_ptr<const Graft>> Graft::Make(const Segment& graph, const Segment& rows,
                                                 const GraftOptions& options) {
  Reservation scratch(options.budget.get());
  std::shared_ptr<Graft> graft(new Graft(graph.info(), options.budget));
  const uint64_t scratch_bytes = HungBytes(rows.info());
  PIGMENT_RETURN_IF_ERROR(scratch.Grow(scratch_bytes));
  PIGMENT_RETURN_IF_ERROR(
      graft->reservation_.Grow(MakeBytes(graph.info(), rows.info()) - scratch_bytes));
  PIGMENT_ASSIGN_OR_RETURN(Walker walker, Walker::Make(graph));
  // Of each row the nodes, where there are fewer kNoVector.
  std::vector<uint32_t> nodes(size_t{rows.info().vectors} * kNodesPerRow, SearchStep::kNoVector);
  graft->begins_.resize(size_t{graph.info().vectors} + 1);
  bool has_all = true;
  const auto hang = [&](uint32_t first, const float* vectors, size_t stride,
                        size_t count) -> Status {
    for (uint32_t i = 0; i < count; ++i) {
      if (options.pause && i % kRowsPerPause == 0) PIGMENT_RETURN_IF_ERROR(options.pause());
      PIGMENT_ASSIGN_OR_RETURN(
          const std::vector<RowHit> nearest,
          walker.Walk({vectors + i * stride, rows.info().dimension}, kNodesPerRow, kWalkRecall));
      has_all = has_all && !nearest.empty();
      uint32_t* of_row = nodes.data() + size_t{first + i} * kNodesPerRow;
      for (const RowHit& hit : nearest) {
        *of_row++ = hit.row;
        ++graft->begins_[hit.row + 1];
      }
    }
    return Status::Ok();
  };
  PIGMENT_RETURN_IF_ERROR(rows.VisitVectors(hang));
  if (!has_all) return std::shared_ptr<const Graft>();
  std::vector<uint32_t>& begins = graft->begins_;
  for (size_t node = 1; node < begins.size(); ++node) begins[node] += begins[node - 1];
  graft->rows_.resize(begins.back());
  // Each begin goes on to the end of its rows, which is where the next one began.
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] != SearchStep::kNoVector)
      graft->rows_[begins[nodes[i]]++] = static_cast<uint32_t>(i / kNodesPerRow);
  }
  std::copy_backward(begins.begin(), begins.end() - 1, begins.end());
  begins[0] = 0;
  PIGMENT_RETURN_IF_ERROR(graft->EncodeRows(graph, rows, options.pause));
  PIGMENT_ASSIGN_OR_RETURN(const bool is_of_use, graft->IsOfUse(graph, rows, options.pause));
  if (!is_of_use) return std::shared_ptr<const Graft>();
  return std::shared_ptr<const Graft>(std::move(graft));
}

std::vector<uint32_t> Graft::NodesNear(const GraphQuery& query, std::span<const SearchStep> visits,
                                       std::span<const RowHit> found) {
  std::vector<uint32_t> nodes;
  if (found.empty()) return nodes;
  const float near = query.SquareOf(found.back().distance) * kNear;
  for (const SearchStep& step : visits) {
    if (!(query.SquareOf(step.distance) > near)) nodes.push_back(step.vector);
  }
  return nodes;
}

Result<bool> Graft::IsOfUse(const Segment& graph, const Segment& rows,
                            const BuildPause& pause) const {
  PIGMENT_ASSIGN_OR_RETURN(Walker walker, Walker::Make(graph));
  PIGMENT_ASSIGN_OR_RETURN(std::vector<Sample> samples, DrawSamples(rows));
  for (Sample& sample : samples) {
    if (pause) PIGMENT_RETURN_IF_ERROR(pause());
    PIGMENT_ASSIGN_OR_RETURN(const std::vector<RowHit> nearest,
                             walker.Walk(sample.query, kSampleNeighbors, kRecallMax));
    for (const RowHit& hit : nearest) sample.nearest.Offer(hit.distance, kOfGraph + hit.row);
    sample.nodes = walker.nodes();
  }
  PIGMENT_RETURN_IF_ERROR(CompareAll(rows, pause, samples));
  size_t wanted = 0, found = 0, met = 0;
  for (Sample& sample : samples) {
    std::vector<uint32_t> met_here = RowsMet(sample.nodes, {});
    met += met_here.size();
    std::sort(met_here.begin(), met_here.end());
    for (const Scored& scored : sample.nearest.TakeSorted()) {
      if (scored.tie >= kOfGraph) continue;
      ++wanted;
      found += std::binary_search(met_here.begin(), met_here.end(), scored.tie) ? 1 : 0;
    }
  }
  return static_cast<double>(found) >= kRecallMin * static_cast<double>(wanted) &&
         met <= samples.size() * std::max(kMetMax, rows.info().vectors / kMetPart);
}

Status Graft::EncodeRows(const Segment& graph, const Segment& rows, const BuildPause& pause) {
  PIGMENT_ASSIGN_OR_RETURN(const IndexHead* const head, graph.Index());
  std::vector<float> point(head->space.point_dimension());
  const auto visit_points = [&](const std::function<void(uint32_t row)>& visit) {
    return rows.VisitVectors(
        [&](uint32_t first, const float* vectors, size_t stride, size_t count) -> Status {
          if (pause) PIGMENT_RETURN_IF_ERROR(pause());
          for (uint32_t i = 0; i < count; ++i) {
            head->space.MakePoint({vectors + i * stride, rows.info().dimension}, point.data());
            visit(first + i);
          }
          return Status::Ok();
        });
  };
  PIGMENT_RETURN_IF_ERROR(visit_points([&](uint32_t) {
    radius_ = std::max(radius_, std::sqrt(InnerProduct(point.data(), point.data(), point.size())));
  }));
  const uint32_t bits = RowCodeBits(head->space.point_dimension());
  code_bytes_ = RowCodeBytes(point.size(), bits);
  codes_.resize(rows.info().vectors * code_bytes_);
  return visit_points([&](uint32_t row) {
    EncodeRowCode(point, bits, radius_, codes_.data() + row * code_bytes_);
  });
}

std::vector<uint32_t> Graft::RowsMet(std::span<const uint32_t> nodes, RowMask allowed) const {
  // Where lists begin, then the lists are asked for ahead.
  for (const uint32_t node : nodes) ExpectBytes(&begins_[node], 2 * sizeof(uint32_t));
  for (const uint32_t node : nodes) ExpectBytes(rows_.data() + begins_[node], 1);
  std::vector<uint64_t> is_met((codes_.size() / code_bytes_ + 63) / 64);
  std::vector<uint32_t> met;
  for (const uint32_t node : nodes) {
    for (const uint32_t row : RowsOf(node)) {
      const uint64_t bit = uint64_t{1} << (row % 64);
      if ((is_met[row / 64] & bit) != 0 || !IsAllowed(allowed, row)) continue;
      is_met[row / 64] |= bit;
      met.push_back(row);
      ExpectBytes(codes_.data() + row * code_bytes_, code_bytes_);
    }
  }
  return met;
}

Result<GraftSearchResult> Graft::Search(const Segment& graph, const Segment& rows,
                                        const GraftSearch& search) const {
  constexpr size_t kAhead = 4;
  PIGMENT_ASSIGN_OR_RETURN(const IndexHead* const head, graph.Index());
  const GraphQuery query(head->space, search.query);
  const std::vector<uint32_t> met = RowsMet(search.nodes, search.allowed_rows);
  std::vector<const std::byte*> codes;
  codes.reserve(met.size());
  for (const uint32_t row : met) codes.push_back(codes_.data() + row * code_bytes_);
  std::vector<float> bounds(met.size());
  RowCodeQuery(query.point(), RowCodeBits(head->space.point_dimension()), radius_)
      .LowerBounds(codes.data(), codes.size(), ErrorsForRecall(search.recall), bounds.data());
  float limit = query.SquareOf(search.limit);
  std::vector<uint64_t> promises;
  for (size_t i = 0; i < met.size(); ++i) {
    if (!(bounds[i] > limit)) promises.push_back(PromiseOf(bounds[i], met[i]));
  }
  std::sort(promises.begin(), promises.end());
  GraftSearchResult result{
      .hits = {}, .rows_scored = met.size(), .bytes_scored = met.size() * code_bytes_};
  const DistanceFunction distance(rows.info().metric, search.query);
  const std::unique_ptr<VectorReader> reader = rows.NewVectorReader();
  TopK nearest(search.k, search.limit);
  for (size_t i = 0; i < std::min(kAhead, promises.size()); ++i)
    reader->Expect(static_cast<uint32_t>(promises[i]));
  for (size_t i = 0; i < promises.size(); ++i) {
    if (DistanceOfKey(static_cast<uint32_t>(promises[i] >> 32)) > limit) break;
    if (i % kRowsPerCheck == 0 && search.control != nullptr)
      PIGMENT_RETURN_IF_ERROR(search.control->Check());
    if (i + kAhead < promises.size()) reader->Expect(static_cast<uint32_t>(promises[i + kAhead]));
    const auto row = static_cast<uint32_t>(promises[i]);
    PIGMENT_ASSIGN_OR_RETURN(const float* const vector, reader->Read(row));
    result.bytes_scored += rows.info().vector_bytes();
    const float found = distance(vector);
    if (!nearest.MayEnter(found)) continue;
    nearest.Offer(found, row);
    limit = query.SquareOf(nearest.worst());
  }
  for (const Scored& scored : nearest.TakeSorted())
    result.hits.push_back({scored.distance, static_cast<uint32_t>(scored.tie)});
  return result;
}

}  // namespace pigment
