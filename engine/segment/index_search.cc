// SPDX-License-Identifier: Apache-2.0
//
// Walks and probes over the blocks of a segment: see the header.

#include "engine/segment/index_search.h"

#include <optional>

#include "engine/vector/top_k.h"

namespace pigment {
namespace {

// Vectors compared, or clusters probed, between two looks at the clock: well below a millisecond.
constexpr uint32_t kStepsPerCheck = 64;

// What graphs and clusters are read alike.
template <class Base>
class SegmentSource : public Base {
 public:
  SegmentSource(IndexReader& reader, const IndexSearch& search)
      : reader_(reader), search_(search), distance_(SearchedBy(search.metric), search.vector) {
    if (HasStandIn(search.metric)) own_.emplace(search.metric, search.vector);
  }

  uint32_t entry_nodes() const override { return reader_.head().entry_nodes(); }
  Result<GraphNode> EntryNode(uint32_t number) override { return reader_.EntryNode(number); }
  float centre_square() const override { return search_.query->centre_square(); }
  bool has_exact_codes() const override { return reader_.head().space.has_exact_codes(); }
  Result<float> Distance(uint32_t vector) override {
    PIGMENT_RETURN_IF_ERROR(Pace());
    PIGMENT_ASSIGN_OR_RETURN(const float* numbers, reader_.Vector(vector));
    if (own_ && IsAllowed(search_.allowed_rows, vector)) nearest_.Offer((*own_)(numbers), vector);
    return distance_(numbers);
  }
  float SquareOf(float distance) const override { return search_.query->SquareOf(distance); }

  Result<std::vector<RowHit>> HitsOf(const Result<std::vector<Scored>>& found) {
    PIGMENT_RETURN_IF_ERROR(found.status());
    const std::vector<Scored> own = nearest_.TakeSorted();
    std::vector<RowHit> hits;
    hits.reserve(own_ ? own.size() : found->size());
    for (const Scored& scored : own_ ? own : *found)
      hits.push_back({scored.distance, static_cast<uint32_t>(scored.tie)});
    return hits;
  }

 protected:
  Status Pace() {
    if (steps_++ % kStepsPerCheck != 0 || search_.control == nullptr) return Status::Ok();
    return search_.control->Check();
  }

  IndexReader& reader_;
  const IndexSearch& search_;

 private:
  const DistanceFunction distance_;
  std::optional<DistanceFunction> own_;  // of a metric that another stands in for
  TopK nearest_{search_.given};          // by that
  uint32_t steps_ = 0;
};

class SegmentGraph final : public SegmentSource<GraphSource> {
 public:
  using SegmentSource::SegmentSource;

  Result<GraphNode> Node(uint32_t vector) override {
    if (far_visits_ != 0) --far_visits_;
    return reader_.Node(vector);
  }
  void Expect(uint32_t vector) override {
    const bool vector_is_far = reader_.ExpectVector(vector);
    if (reader_.ExpectNodeHead(vector) || vector_is_far) far_visits_ = kFarVisits;
  }
  void ExpectNode(uint32_t vector) override {
    if (reader_.ExpectNodeRest(vector)) far_visits_ = kFarVisits;
  }
  bool waits_for_disk() const override { return far_visits_ != 0; }

 private:
  // Where one is far, others are.
  static constexpr uint32_t kFarVisits = 8;
  uint32_t far_visits_ = 0;
};

class SegmentClusters final : public SegmentSource<ClusterSource> {
 public:
  SegmentClusters(IndexReader& reader, const IndexSearch& search)
      : SegmentSource(reader, search), point_distance_(Metric::kL2, search.query->point()) {}

  uint32_t clusters() const override { return reader_.head().entries; }
  void Expect(uint32_t vector) override { reader_.ExpectVector(vector); }
  Result<float> CentroidSquare(uint32_t cluster) override {
    PIGMENT_ASSIGN_OR_RETURN(const float* point, reader_.Centroid(cluster));
    return point_distance_(point);
  }
  void ExpectCentroid(uint32_t cluster) override { reader_.ExpectCentroid(cluster); }
  void ExpectCluster(uint32_t cluster) override { reader_.ExpectCluster(cluster); }
  Result<uint32_t> Go(uint32_t cluster) override {
    PIGMENT_RETURN_IF_ERROR(Pace());
    cluster_ = cluster;
    return reader_.head().cluster(cluster).nodes();
  }
  Result<GraphNode> Node(uint32_t number) override { return reader_.ClusterNode(cluster_, number); }

 private:
  const DistanceFunction point_distance_;
  uint32_t cluster_ = 0;
};

}  // namespace

Result<std::vector<RowHit>> SearchGraph(const SegmentInfo& info, IndexReader& reader,
                                        const IndexSearch& search, GraphWalk& walk) {
  SegmentGraph source(reader, search);
  return source.HitsOf(walk.Search(source, SignCodeQuery(search.query->point(), reader.head().bits),
                                   info.vectors,
                                   {.k = search.k,
                                    .spare = search.spare,
                                    .reach = search.reach,
                                    .masked = search.masked,
                                    .wanted = search.wanted,
                                    .visits_max = search.visits_max,
                                    .allowed = search.allowed_rows,
                                    .steps = search.steps}));
}

Result<std::vector<RowHit>> SearchClusters(const SegmentInfo& info, IndexReader& reader,
                                           const IndexSearch& search, ClusterProbe& probe) {
  SegmentClusters source(reader, search);
  return source.HitsOf(
      probe.Search(source, SignCodeQuery(search.query->point(), reader.head().bits), info.vectors,
                   {.k = search.k,
                    .reach = search.reach,
                    .masked = search.masked,
                    .clusters_max = search.visits_max,
                    .wanted = search.wanted,
                    .wanted_rank = search.given,
                    .allowed = search.allowed_rows,
                    .allows_most = search.allows_most,
                    .probed = search.probed}));
}

Result<uint32_t> NearestCluster(IndexReader& reader, const IndexSearch& search,
                                ClusterProbe& probe) {
  SegmentClusters source(reader, search);
  return probe.Nearest(source, SignCodeQuery(search.query->point(), reader.head().bits));
}

}  // namespace pigment
