// SPDX-License-Identifier: Apache-2.0
//
// Nodes of each row by a search for its vector, rows of each node by counting: see the header.

#include "engine/segment/graft.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "engine/base/prefetch.h"
#include "engine/segment/bounded_rows.h"
#include "engine/segment/code_scan.h"
#include "engine/segment/index_search.h"
#include "engine/vector/row_code.h"
#include "engine/vector/seeded_random.h"
#include "engine/vector/top_k.h"

namespace pigment {
namespace {

// Of the walks that look for the nodes that a row hangs on.
constexpr double kWalkRecall = 0.9;
constexpr size_t kWalkVisitsMax = 1000;
// Where the first so many walks take half of that, rows lie where the graph has nothing, and the
// others would take as long.
constexpr uint32_t kFirstWalks = 64;
// A graph of fewer times the rows would not stay the large one for long.
constexpr uint64_t kTimesLarger = 2;
// What has a graph of its own is searched well enough, unless it is so small a part that no merge
// takes it soon.
constexpr uint64_t kTimesLargerThanGraph = 8;
// Nodes at more than so many times the squared distance of what was found lead to little that is
// as near.
constexpr float kNear = 1.2f;
// The neighbours that samples want, how many of these must be found, and at how many rows, or which
// part of them, a search may look, on average: where a graph has none, or where clusters would do
// as well without.
constexpr size_t kSampleNeighbors = 10;
constexpr double kRecallMin = 0.96;
constexpr size_t kMetMax = 256;
constexpr size_t kMetPartOfGraph = 16;
constexpr size_t kMetPartOfClusters = 4;
// Fewer new rows than this part of all change nothing of that.
constexpr uint32_t kNewPart = 64;
constexpr uint64_t kOfGraph = uint64_t{1} << 32;  // in ties: no row
constexpr uint32_t kRowsPerPause = 16;

uint64_t HungBytes(const SegmentInfo& graph, uint32_t rows) {
  return rows * Graft::NodesPerRow(graph) * sizeof(uint32_t);
}

// Searches of a large segment's index for anything.
class Walker {
 public:
  static Result<Walker> Make(const Segment& graph) {
    PIGMENT_ASSIGN_OR_RETURN(const IndexHead* const head, graph.Index());
    return Walker(graph, *head);
  }

  GraphQuery PointOf(std::span<const float> vector) const {
    return GraphQuery(head_->space, vector);
  }
  // Writes the nodes that a vector hangs on, of which there are none where no search can tell near
  // from far, and gives how many. `query` is the same as a point.
  Result<size_t> FindNodes(std::span<const float> vector, const GraphQuery& query,
                           uint32_t* nodes) {
    if (is_graph()) {
      PIGMENT_ASSIGN_OR_RETURN(const std::vector<RowHit> nearest,
                               Search(vector, query, Graft::kGraphNodesPerRow, kWalkRecall));
      for (const RowHit& hit : nearest) *nodes++ = hit.row;
      return nearest.size();
    }
    if (!query.is_finite()) return size_t{0};
    PIGMENT_ASSIGN_OR_RETURN(
        *nodes, NearestCluster(*reader_,
                               {.metric = graph_->info().metric, .vector = vector, .query = &query},
                               probe_));
    return size_t{1};
  }

  // The nearest k, which are none where no search can tell near from far.
  Result<std::vector<RowHit>> Search(std::span<const float> vector, const GraphQuery& query,
                                     size_t k, double recall) {
    const float reach = head_->reach.For(ReachTable::kNeighborsMin, recall).reach;
    steps_.clear();
    nodes_.clear();
    if (!query.is_finite() || !std::isfinite(reach)) return std::vector<RowHit>();
    IndexSearch search{
        .metric = graph_->info().metric, .vector = vector, .query = &query, .k = k, .reach = reach};
    if (!is_graph()) {
      search.probed = &nodes_;
      return SearchClusters(graph_->info(), *reader_, search, probe_);
    }
    search.visits_max = kWalkVisitsMax;
    search.steps = &steps_;
    auto found = SearchGraph(graph_->info(), *reader_, search, walk_);
    visits_ += walk_.nodes_visited();
    if (found.ok()) nodes_ = Graft::NodesNear(query, steps_, *found);
    return found;
  }
  // Of all searches of a graph.
  uint64_t visits() const { return visits_; }
  // Of the last search, those that rows nearer than what it found hang on.
  const std::vector<uint32_t>& nodes() const { return nodes_; }

 private:
  Walker(const Segment& graph, const IndexHead& head)
      : graph_(&graph), head_(&head), reader_(graph.NewIndexReader(head)) {}
  bool is_graph() const { return graph_->info().kind == SegmentKind::kGraph; }

  const Segment* graph_;
  const IndexHead* head_;
  std::unique_ptr<IndexReader> reader_;
  GraphWalk walk_;
  ClusterProbe probe_;
  std::vector<SearchStep> steps_;
  std::vector<uint32_t> nodes_;
  uint64_t visits_ = 0;
};

struct Sample {
  std::vector<float> query;
  uint32_t absent;                   // the row that it is, or SearchStep::kNoVector
  std::vector<uint32_t> nodes = {};  // of a walk
  // Of graph and rows, ties by row, or kOfGraph and more.
  TopK nearest{kSampleNeighbors};
};

// Half of them rows, half what lies between two, because queries are seldom drawn as rows were.
Result<std::vector<Sample>> DrawSamples(GraftRows& rows, uint32_t dimension, uint32_t count) {
  SeededRandom random(rows.count());
  std::vector<Sample> samples;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t row = random.Below(rows.count());
    PIGMENT_ASSIGN_OR_RETURN(const float* const near, rows.Read(row));
    Sample sample{.query = std::vector<float>(near, near + dimension), .absent = row};
    if (i % 2 != 0) {
      PIGMENT_ASSIGN_OR_RETURN(const float* const far, rows.Read(random.Below(rows.count())));
      constexpr float kShare = 0.7f;
      for (size_t d = 0; d < dimension; ++d)
        sample.query[d] = kShare * sample.query[d] + (1 - kShare) * far[d];
      sample.absent = SearchStep::kNoVector;
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

Status CompareAll(GraftRows& rows, Metric metric, const BuildPause& pause,
                  std::vector<Sample>& samples) {
  std::vector<DistanceFunction> distances;
  for (const Sample& sample : samples) distances.emplace_back(metric, sample.query);
  std::vector<float> found;
  return rows.Visit(
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

// visit(row, vector) for those that are `wanted`.
template <typename Visit>
Status ForRows(GraftRows& rows, const std::vector<bool>& wanted, const BuildPause& pause,
               const Visit& visit) {
  uint32_t visited = 0;
  for (uint32_t row = 0; row < rows.count(); ++row) {
    if (!wanted[row]) continue;
    if (pause && visited++ % kRowsPerPause == 0) PIGMENT_RETURN_IF_ERROR(pause());
    PIGMENT_ASSIGN_OR_RETURN(const float* const vector, rows.Read(row));
    PIGMENT_RETURN_IF_ERROR(visit(row, vector));
  }
  return Status::Ok();
}

}  // namespace

bool Graft::Fits(const SegmentInfo& graph, uint32_t rows) {
  return graph.kind != SegmentKind::kFlat &&
         (graph.metric == Metric::kL2 || IsCosine(graph.metric)) && rows != 0 &&
         graph.vectors >= kTimesLarger * rows;
}

bool Graft::Fits(const SegmentInfo& graph, const SegmentInfo& rows) {
  const bool is_small = graph.vectors >= kTimesLargerThanGraph * rows.vectors;
  return Fits(graph, rows.vectors) &&
         (rows.kind == SegmentKind::kClusters || (rows.kind == SegmentKind::kGraph && is_small)) &&
         graph.metric == rows.metric && graph.dimension == rows.dimension;
}

uint64_t Graft::MakeBytes(const SegmentInfo& graph, uint32_t rows) {
  const uint32_t dimension = GraphSpace::PointDimension(graph.metric, graph.dimension);
  return 2 * HungBytes(graph, rows) + (uint64_t{NodesOf(graph)} + 1) * sizeof(uint32_t) +
         rows * RowCodeBytes(dimension, RowCodeBits(dimension));
}

std::vector<bool> Graft::TakeFrom(const GraftOptions& options, std::vector<uint32_t>& by_row) {
  std::vector<bool> is_new(count_, true);
  if (options.from == nullptr) return is_new;
  radius_ = options.from->radius_;
  const std::vector<uint32_t> nodes = options.from->NodesByRow();
  const auto copy = [](const auto& from, size_t row, auto& to, size_t to_row, size_t size) {
    std::copy_n(from.begin() + static_cast<ptrdiff_t>(row * size), size,
                to.begin() + static_cast<ptrdiff_t>(to_row * size));
  };
  for (uint32_t row = 0; row < std::min<size_t>(count_, options.rows_of_from.size()); ++row) {
    const uint32_t of_from = options.rows_of_from[row];
    if (of_from >= options.from->count_) continue;
    copy(nodes, of_from, by_row, row, nodes_per_row_);
    copy(options.from->codes_, of_from, codes_, row, code_bytes_);
    is_new[row] = false;
  }
  return is_new;
}

Result<float> Graft::RadiusOf(const Segment& graph, const GraphSpace& space, GraftRows& rows,
                              const std::vector<bool>& wanted, const BuildPause& pause) {
  float radius = 0;
  std::vector<float> point(space.point_dimension());
  PIGMENT_RETURN_IF_ERROR(
      ForRows(rows, wanted, pause, [&](uint32_t, const float* vector) -> Status {
        space.MakePoint({vector, graph.info().dimension}, point.data());
        const float square = InnerProduct(point.data(), point.data(), point.size());
        radius = std::max(radius, std::sqrt(square));
        return Status::Ok();
      }));
  return radius;
}

void Graft::ResizeCodes(const GraphSpace& space) {
  const uint32_t dimension = space.point_dimension();
  code_bytes_ = RowCodeBytes(dimension, RowCodeBits(dimension));
  codes_.resize(count_ * code_bytes_);
}

void Graft::EncodeRow(uint32_t row, const GraphQuery& query) {
  EncodeRowCode(query.point(), RowCodeBits(static_cast<uint32_t>(query.point().size())), radius_,
                codes_.data() + row * code_bytes_);
}

Result<std::shared_ptr<const Graft>> Graft::OfNodes(const Segment& graph, GraftRows& rows,
                                                    std::span<const uint32_t> nodes) {
  std::shared_ptr<Graft> graft(new Graft(graph.info(), rows.count(), nullptr));
  PIGMENT_ASSIGN_OR_RETURN(const IndexHead* const head, graph.Index());
  const GraphSpace& space = head->space;
  graft->ResizeCodes(space);
  const std::vector<bool> all(rows.count(), true);
  float farthest = 0;
  const auto encode = [&](uint32_t row, const float* vector) -> Status {
    const GraphQuery query(space, {vector, graph.info().dimension});
    const float square =
        InnerProduct(query.point().data(), query.point().data(), query.point().size());
    farthest = std::max(farthest, std::sqrt(square));
    graft->EncodeRow(row, query);
    return Status::Ok();
  };
  // Rows are seldom farther from the middle than those of the graph, so most are encoded once.
  graft->radius_ = head->row_radius;
  if (graft->radius_ != 0) PIGMENT_RETURN_IF_ERROR(ForRows(rows, all, {}, encode));
  if (graft->radius_ == 0 || !(farthest <= graft->radius_)) {
    PIGMENT_ASSIGN_OR_RETURN(const float radius, RadiusOf(graph, space, rows, all, {}));
    if (!(radius * radius <= kPointSquareMax)) return std::shared_ptr<const Graft>();
    graft->radius_ = radius > 0 ? radius : 1;
    PIGMENT_RETURN_IF_ERROR(ForRows(rows, all, {}, encode));
  }
  graft->TakeNodes(NodesOf(graph.info()), nodes);
  return std::shared_ptr<const Graft>(std::move(graft));
}

Result<std::shared_ptr<const Graft>> Graft::Make(const Segment& graph, GraftRows& rows,
                                                 GraftOptions options) {
  Reservation scratch(options.budget.get());
  std::shared_ptr<Graft> graft(new Graft(graph.info(), rows.count(), options.budget));
  const uint64_t scratch_bytes = HungBytes(graph.info(), rows.count());
  PIGMENT_RETURN_IF_ERROR(scratch.Grow(scratch_bytes));
  PIGMENT_RETURN_IF_ERROR(
      graft->reservation_.Grow(MakeBytes(graph.info(), rows.count()) - scratch_bytes));
  PIGMENT_ASSIGN_OR_RETURN(const IndexHead* const head, graph.Index());
  const GraphSpace& space = head->space;
  graft->ResizeCodes(space);
  std::vector<uint32_t> by_row(rows.count() * graft->nodes_per_row_, kNoNode);
  const std::vector<bool> is_new = graft->TakeFrom(options, by_row);
  PIGMENT_ASSIGN_OR_RETURN(const float radius, RadiusOf(graph, space, rows, is_new, options.pause));
  if (!(radius * radius <= kPointSquareMax)) return std::shared_ptr<const Graft>();
  // With room for those that come later, of which codes lose nothing. Zero: all of them are the
  // middle of the graph.
  const bool has_codes = graft->radius_ != 0 && radius <= graft->radius_;
  if (!has_codes) graft->radius_ = radius > 0 ? 2 * radius : 1;
  PIGMENT_ASSIGN_OR_RETURN(Walker walker, Walker::Make(graph));
  uint32_t found = 0;
  bool may_hang = true;
  const auto hang = [&](uint32_t row, const float* numbers) -> Status {
    if (!may_hang) return Status::Ok();
    const std::span<const float> vector(numbers, graph.info().dimension);
    const GraphQuery query = walker.PointOf(vector);
    graft->EncodeRow(row, query);
    if (!is_new[row]) return Status::Ok();
    PIGMENT_ASSIGN_OR_RETURN(
        const size_t nodes,
        walker.FindNodes(vector, query, by_row.data() + row * graft->nodes_per_row_));
    may_hang = nodes != 0;
    if (++found == kFirstWalks && walker.visits() > kFirstWalks * kWalkVisitsMax / 2)
      may_hang = false;
    return Status::Ok();
  };
  PIGMENT_RETURN_IF_ERROR(ForRows(rows, has_codes ? is_new : std::vector<bool>(rows.count(), true),
                                  options.pause, hang));
  if (!may_hang) return std::shared_ptr<const Graft>();
  graft->TakeNodes(NodesOf(graph.info()), by_row);
  if (found < rows.count() / kNewPart) return std::shared_ptr<const Graft>(std::move(graft));
  PIGMENT_ASSIGN_OR_RETURN(const bool is_of_use, graft->IsOfUse(graph, rows, options));
  if (!is_of_use) return std::shared_ptr<const Graft>();
  return std::shared_ptr<const Graft>(std::move(graft));
}

void Graft::TakeNodes(uint32_t nodes, std::span<const uint32_t> by_row) {
  begins_.resize(size_t{nodes} + 1);
  for (const uint32_t node : by_row) {
    if (node != kNoNode) ++begins_[node + 1];
  }
  for (size_t node = 1; node < begins_.size(); ++node) begins_[node] += begins_[node - 1];
  rows_.resize(begins_.back());
  // Each begin goes on to the end of its rows, which is where the next one began.
  for (size_t i = 0; i < by_row.size(); ++i) {
    if (by_row[i] != kNoNode)
      rows_[begins_[by_row[i]]++] = static_cast<uint32_t>(i / nodes_per_row_);
  }
  std::copy_backward(begins_.begin(), begins_.end() - 1, begins_.end());
  begins_[0] = 0;
}

std::vector<uint32_t> Graft::NodesByRow() const {
  std::vector<uint32_t> by_row(count_ * nodes_per_row_, kNoNode);
  std::vector<uint8_t> counts(count_);
  for (uint32_t node = 0; node + 1 < begins_.size(); ++node) {
    for (const uint32_t row : RowsOf(node)) by_row[row * nodes_per_row_ + counts[row]++] = node;
  }
  return by_row;
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

Result<bool> Graft::IsOfUse(const Segment& graph, GraftRows& rows,
                            const GraftOptions& options) const {
  PIGMENT_ASSIGN_OR_RETURN(Walker walker, Walker::Make(graph));
  PIGMENT_ASSIGN_OR_RETURN(std::vector<Sample> samples,
                           DrawSamples(rows, graph.info().dimension, options.samples));
  for (Sample& sample : samples) {
    if (options.pause) PIGMENT_RETURN_IF_ERROR(options.pause());
    PIGMENT_ASSIGN_OR_RETURN(
        const std::vector<RowHit> nearest,
        walker.Search(sample.query, walker.PointOf(sample.query), kSampleNeighbors, kRecallMax));
    for (const RowHit& hit : nearest) sample.nearest.Offer(hit.distance, kOfGraph + hit.row);
    sample.nodes = walker.nodes();
  }
  PIGMENT_RETURN_IF_ERROR(CompareAll(rows, graph.info().metric, options.pause, samples));
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
  const size_t part =
      graph.info().kind == SegmentKind::kGraph ? kMetPartOfGraph : kMetPartOfClusters;
  return static_cast<double>(found) >= kRecallMin * static_cast<double>(wanted) &&
         met <= samples.size() * std::max(kMetMax, count_ / part);
}

std::vector<uint32_t> Graft::RowsMet(std::span<const uint32_t> nodes, RowMask allowed) const {
  // Where lists begin, then the lists are asked for ahead.
  for (const uint32_t node : nodes) ExpectBytes(&begins_[node], 2 * sizeof(uint32_t));
  for (const uint32_t node : nodes) ExpectBytes(rows_.data() + begins_[node], 1);
  std::vector<uint64_t> is_met((count_ + 63) / 64);
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

GraftQuery::GraftQuery(const Segment& graph, const GraphSpace& space, std::span<const float> vector)
    : distance_(graph.info().metric, vector),
      point_(space, vector),
      codes_(point_.point(), RowCodeBits(space.point_dimension())) {}

Result<GraftQuery> GraftQuery::Make(const Segment& graph, std::span<const float> vector) {
  PIGMENT_ASSIGN_OR_RETURN(const IndexHead* const head, graph.Index());
  return GraftQuery(graph, head->space, vector);
}

Graft::Met Graft::Meet(const GraftQuery& query, std::span<const uint32_t> nodes, RowMask allowed,
                       float errors) const {
  Met met{.rows = RowsMet(nodes, allowed), .bounds = {}};
  std::vector<const std::byte*> codes;
  codes.reserve(met.rows.size());
  for (const uint32_t row : met.rows) codes.push_back(codes_.data() + row * code_bytes_);
  met.bounds.resize(met.rows.size());
  query.codes_.LowerBounds(codes.data(), codes.size(), radius_, errors, met.bounds.data());
  return met;
}

Result<GraftSearchResult> Graft::Search(const GraftQuery& query, GraftRows& rows,
                                        const GraftSearch& search) const {
  const Met met = Meet(query, search.nodes, search.allowed_rows, ErrorsForRecall(search.recall));
  BoundedRows found(query.distance_, query.point_, search.k, search.limit, search.control);
  found.Gather(met.rows, met.bounds);
  PIGMENT_RETURN_IF_ERROR(found.Compare([&](uint32_t row) { rows.Expect(row); },
                                        [&](uint32_t row) { return rows.Read(row); }));
  return GraftSearchResult{.hits = found.TakeHits(),
                           .rows_scored = met.rows.size(),
                           .code_bytes = met.rows.size() * code_bytes_,
                           .rows_compared = found.compared()};
}

}  // namespace pigment
