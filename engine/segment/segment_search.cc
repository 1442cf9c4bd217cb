// SPDX-License-Identifier: Apache-2.0
//
// Walk or scan: see the header. Costs are bytes that come from memory one place after the other,
// which is what both spend their time on.

#include "engine/segment/segment_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "engine/segment/graph_search.h"

namespace pigment {
namespace {

// What a visit costs beside the bytes of node and vector (heap, picking links), and what a row of a
// scan costs beside its vector, in bytes that are read meanwhile.
constexpr double kVisitBytes = 2500;
constexpr double kRowBytes = 250;

class SegmentSearcher {
 public:
  SegmentSearcher(const Segment& segment, const SegmentSearch& search)
      : segment_(segment), search_(search), dimension_(segment.info().dimension) {}

  Result<SegmentSearchResult> Run();

 private:
  std::span<const float> Query(size_t i) const {
    return {search_.scan.queries + i * dimension_, dimension_};
  }
  size_t wanted() const {
    return static_cast<size_t>(std::min<uint64_t>(search_.scan.k, search_.allowed_count));
  }
  bool MayWalk() const;
  // Sets reach and visits of walks, unless a scan is expected to cost less.
  bool PlanWalks(const GraphHead& head);
  // The queries that a walk did not answer.
  Result<std::vector<size_t>> WalkAll(const GraphHead& head);
  Status Scan(const std::vector<size_t>& queries);

  const Segment& segment_;
  const SegmentSearch& search_;
  const uint32_t dimension_;
  float reach_ = 0;
  size_t visits_max_ = 0;
  SegmentSearchResult result_;
};

bool SegmentSearcher::MayWalk() const {
  const SegmentInfo& info = segment_.info();
  return segment_.has_graph() && info.rows == info.vectors && info.metric == search_.scan.metric &&
         wanted() > 0 && (search_.recall < 1 || search_.width != 0);
}

bool SegmentSearcher::PlanWalks(const GraphHead& head) {
  const double vector_bytes = segment_.info().vector_bytes();
  const double allowed = static_cast<double>(search_.allowed_count);
  const double visit_bytes = static_cast<double>(head.node_bytes()) + vector_bytes + kVisitBytes;
  const double visits_of_scan = allowed * (vector_bytes + kRowBytes) / visit_bytes;
  if (search_.width != 0) {
    reach_ = std::numeric_limits<float>::infinity();
    visits_max_ = std::max(search_.width, wanted());
    return static_cast<double>(visits_max_) < visits_of_scan;
  }
  reach_ = head.reach.For(wanted(), search_.recall).reach;
  // Among all rows those allowed are as far apart as so many more neighbours are.
  const double among = static_cast<double>(wanted()) * segment_.info().rows / allowed;
  const Reach expected = head.reach.For(static_cast<size_t>(among), search_.recall);
  // A walk that has cost as much as a scan is given up for one: it may have met few of the allowed
  // rows, where these are far from the query. It has seldom so far to go.
  visits_max_ = static_cast<size_t>(std::max(visits_of_scan, 1.0));
  return std::isfinite(reach_) && expected.visits < visits_of_scan;
}

Result<std::vector<size_t>> SegmentSearcher::WalkAll(const GraphHead& head) {
  std::vector<size_t> left;
  const std::unique_ptr<GraphReader> reader = segment_.NewGraphReader(head);
  const size_t tracked = std::max(wanted(), static_cast<size_t>(std::min<uint64_t>(
                                                ReachTable::kNeighborsMin, search_.allowed_count)));
  GraphWalk walk;
  for (size_t i = 0; i < search_.scan.query_count; ++i) {
    const GraphQuery query(head.space, Query(i));
    if (!query.is_finite()) {
      left.push_back(i);
      continue;
    }
    PIGMENT_ASSIGN_OR_RETURN(GraphSearchResult walked,
                             SearchGraph(segment_.info(), *reader,
                                         {.metric = search_.scan.metric,
                                          .vector = Query(i),
                                          .query = &query,
                                          .k = tracked,
                                          .allowed_rows = search_.scan.allowed_rows,
                                          .reach = reach_,
                                          .visits_max = visits_max_,
                                          .control = search_.scan.control},
                                         walk));
    if (walked.hits.size() > wanted()) walked.hits.resize(wanted());
    result_.nodes_visited += walked.nodes_visited;
    result_.links_estimated += walked.links_estimated;
    const bool was_given_up = search_.width == 0 && walked.nodes_visited >= visits_max_;
    if (walked.hits.size() < wanted() || was_given_up) {
      left.push_back(i);
      continue;
    }
    ++result_.walks;
    result_.found.hits[i] = std::move(walked.hits);
  }
  result_.found.rows_scored += result_.nodes_visited;
  result_.found.bytes_scored +=
      result_.nodes_visited * (head.node_bytes() + segment_.info().vector_bytes());
  return left;
}

Status SegmentSearcher::Scan(const std::vector<size_t>& queries) {
  FlatScan scan = search_.scan;
  std::vector<float> vectors;
  if (queries.size() != search_.scan.query_count) {
    for (const size_t i : queries) {
      const std::span<const float> query = Query(i);
      vectors.insert(vectors.end(), query.begin(), query.end());
    }
    scan.queries = vectors.data();
    scan.query_count = queries.size();
  }
  PIGMENT_ASSIGN_OR_RETURN(FlatScanResult scanned, ScanFlat(segment_, dimension_, scan));
  for (size_t i = 0; i < queries.size(); ++i)
    result_.found.hits[queries[i]] = std::move(scanned.hits[i]);
  result_.found.rows_scored += scanned.rows_scored;
  result_.found.bytes_scored += scanned.bytes_scored;
  return Status::Ok();
}

Result<SegmentSearchResult> SegmentSearcher::Run() {
  result_.found.hits.resize(search_.scan.query_count);
  PIGMENT_ASSIGN_OR_RETURN(const GraphHead* const head, segment_.Graph());
  std::vector<size_t> left;
  if (MayWalk() && PlanWalks(*head)) {
    PIGMENT_ASSIGN_OR_RETURN(left, WalkAll(*head));
  } else {
    for (size_t i = 0; i < search_.scan.query_count; ++i) left.push_back(i);
  }
  if (!left.empty()) PIGMENT_RETURN_IF_ERROR(Scan(left));
  return std::move(result_);
}

}  // namespace

Result<SegmentSearchResult> SearchSegment(const Segment& segment, uint32_t dimension,
                                          const SegmentSearch& search) {
  if (dimension == segment.info().dimension && segment.info().vectors != 0)
    return SegmentSearcher(segment, search).Run();
  SegmentSearchResult result;
  PIGMENT_ASSIGN_OR_RETURN(result.found, ScanFlat(segment, dimension, search.scan));
  return result;
}

}  // namespace pigment
