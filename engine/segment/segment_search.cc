// SPDX-License-Identifier: Apache-2.0
//
// Index or scan: see the header. Costs are bytes that come from memory one place after the other,
// which is what both spend their time on.

#include "engine/segment/segment_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "engine/segment/code_scan.h"
#include "engine/segment/graft.h"
#include "engine/segment/index_search.h"

namespace pigment {
namespace {

// What a visit of a node or a cluster, and a row of a scan, cost beside what is read of them, in
// bytes of a scan: these are asked for ahead, and take 0.05 ns each.
constexpr double kVisitBytes = 10000;
constexpr double kRowBytes = 500;
// What a row costs beside its code, where a scan has codes.
constexpr double kRowCodeBytes = 250;
// What a row that hangs costs where it is searched otherwise.
constexpr double kHangingBytes = 100;
// Vectors that a probe compares for each neighbour.
constexpr double kComparedEach = 8;
// The same of a scan of codes. Those of fewer dimensions say less: by signs of 64 it compares some
// 2,000 of 10,000 rows for ten neighbours, where by those of 384 it compares 200. Codes of more
// bits say as much as signs of so many times the dimensions: the squares of errors, the query's
// rounding included, are as much smaller.
double ComparedByCodesEach(uint32_t dimension, uint32_t bits) {
  constexpr double kEach = 20, kDimension = 384, kGrowth = 1.3;
  static constexpr double kTimes[kLevelBitsMax + 1] = {0, 1, 3.9, 11.5, 25};
  return kEach * std::pow(std::max(kDimension / (kTimes[bits] * dimension), 1.0), kGrowth);
}
constexpr float kNoLimit = std::numeric_limits<float>::quiet_NaN();

class SegmentSearcher {
 public:
  SegmentSearcher(const Segment& segment, const SegmentSearch& search)
      : segment_(segment), search_(search), dimension_(segment.info().dimension) {}

  Result<SegmentSearchResult> Run();

 private:
  std::span<const float> Query(size_t i) const {
    return {search_.scan.queries + i * dimension_, dimension_};
  }
  size_t AtMost(size_t rows) const {
    return static_cast<size_t>(std::min<uint64_t>(rows, search_.allowed_count));
  }
  // Rows that are given, and those of them that the index is searched for.
  size_t wanted() const { return AtMost(search_.scan.k + search_.spare); }
  size_t sought() const { return is_graph() ? AtMost(search_.scan.k) : wanted(); }
  // Neighbours that the index is searched for.
  size_t searched(const IndexHead& head) const {
    const double widened = std::ceil(static_cast<double>(sought()) * head.widening);
    return static_cast<size_t>(std::min(widened, static_cast<double>(search_.allowed_count)));
  }
  bool is_graph() const { return segment_.info().kind == SegmentKind::kGraph; }
  bool MayUseIndex() const;
  bool MayScanCodes(const IndexHead& head) const {
    return MayUseIndex() && head.row_radius != 0 && search_.width == 0;
  }
  double ScanBytes(const IndexHead& head) const;
  // Sets reach and visits of searches, unless a scan is expected to cost less.
  bool PlanSearches(const IndexHead& head);
  // What nodes or clusters take, on average.
  double VisitBytes(const IndexHead& head) const;
  // The queries that no search of the index answered.
  Result<std::vector<size_t>> SearchAll(const IndexHead& head);
  Result<std::vector<RowHit>> SearchOne(IndexReader& reader, const IndexSearch& search);
  // The queries that codes say nothing of.
  Result<std::vector<size_t>> ScanCodes(const IndexHead& head, const std::vector<size_t>& queries);
  Status Scan(const std::vector<size_t>& queries);

  const Segment& segment_;
  const SegmentSearch& search_;
  const uint32_t dimension_;
  float reach_ = 0;
  size_t visits_max_ = 0;
  GraphWalk walk_;
  ClusterProbe probe_;
  size_t visits_ = 0;              // of the last search
  std::vector<SearchStep> steps_;  // of it, where nodes are to be found
  SegmentSearchResult result_;
};

bool SegmentSearcher::MayUseIndex() const {
  const SegmentInfo& info = segment_.info();
  return segment_.has_index() && info.metric == search_.scan.metric && wanted() > 0 &&
         (search_.recall < 1 || search_.width != 0);
}

double SegmentSearcher::VisitBytes(const IndexHead& head) const {
  if (is_graph())
    return static_cast<double>(head.node_bytes()) + segment_.info().vector_bytes() + kVisitBytes;
  return static_cast<double>(head.cluster_begins.back()) / head.entries +
         static_cast<double>(head.centroid_bytes()) + kVisitBytes;
}

double SegmentSearcher::ScanBytes(const IndexHead& head) const {
  const double vector_bytes = segment_.info().vector_bytes() + kRowBytes;
  const double allowed = static_cast<double>(search_.allowed_count);
  const double hanging_bytes = kHangingBytes * static_cast<double>(search_.hanging);
  if (!MayScanCodes(head)) return allowed * vector_bytes + hanging_bytes;
  const double compared =
      std::min(allowed, ComparedByCodesEach(head.space.point_dimension(), head.row_bits) *
                            static_cast<double>(wanted()));
  return allowed * (static_cast<double>(head.row_code_bytes()) + kRowCodeBytes) +
         compared * vector_bytes + hanging_bytes;
}

bool SegmentSearcher::PlanSearches(const IndexHead& head) {
  const double vector_bytes = segment_.info().vector_bytes() + kRowBytes;
  const double allowed = static_cast<double>(search_.allowed_count);
  // What a probe costs before it goes anywhere, and for what it compares.
  const double fixed_bytes =
      is_graph() ? 0
                 : static_cast<double>(head.entry_nodes() * head.node_bytes()) +
                       kComparedEach * static_cast<double>(searched(head)) * vector_bytes;
  const double visits_of_scan = std::max(ScanBytes(head) - fixed_bytes, 0.0) / VisitBytes(head);
  if (search_.width != 0) {
    reach_ = std::numeric_limits<float>::infinity();
    visits_max_ = is_graph() ? std::max({search_.width, searched(head), wanted()}) : search_.width;
    return static_cast<double>(visits_max_) < visits_of_scan;
  }
  reach_ = head.reach.For(searched(head), search_.recall).reach;
  // Among all rows those allowed are as far apart as so many more neighbours are.
  const double among = static_cast<double>(searched(head)) * segment_.info().vectors / allowed;
  const Reach expected = head.reach.For(static_cast<size_t>(among), search_.recall);
  // A search that has cost as much as a scan is given up for one: it may have met few of the
  // allowed rows, where these are far from the query. It has seldom so far to go.
  visits_max_ = static_cast<size_t>(std::max(visits_of_scan, 1.0));
  return std::isfinite(reach_) && expected.visits < visits_of_scan;
}

Result<std::vector<RowHit>> SegmentSearcher::SearchOne(IndexReader& reader,
                                                       const IndexSearch& search) {
  const SegmentInfo& info = segment_.info();
  if (is_graph()) {
    auto hits = SearchGraph(info, reader, search, walk_);
    visits_ = walk_.nodes_visited();
    result_.nodes_visited += visits_;
    result_.links_estimated += walk_.links_estimated();
    result_.found.rows_scored += visits_;
    result_.found.bytes_scored += visits_ * (reader.head().node_bytes() + info.vector_bytes());
    return hits;
  }
  auto hits = SearchClusters(info, reader, search, probe_);
  visits_ = probe_.clusters_probed();
  result_.clusters_probed += visits_;
  result_.links_estimated += probe_.links_estimated();
  result_.found.rows_scored += probe_.links_estimated();
  result_.found.bytes_scored +=
      probe_.links_estimated() * GraphNodeBytes(reader.head().code_bits(), 8) / 8 +
      probe_.vectors_compared() * info.vector_bytes();
  return hits;
}

// Where other segments have given a limit, walks and probes end by it, and may find fewer than are
// wanted: those that are left are beyond it.
Result<std::vector<size_t>> SegmentSearcher::SearchAll(const IndexHead& head) {
  std::vector<size_t> left;
  const std::unique_ptr<IndexReader> reader = segment_.NewIndexReader(head);
  MaskedReach masked(head.reach, search_.recall);
  const bool is_masked = !search_.scan.allowed_rows.empty() && search_.width == 0;
  const auto least = static_cast<size_t>(ReachTable::kNeighborsMin * head.widening);
  const size_t tracked = std::max(searched(head), AtMost(least));
  const bool has_stand_in = HasStandIn(search_.scan.metric);
  const bool finds_nodes = search_.hanging != 0;
  if (finds_nodes) result_.nodes.resize(search_.scan.query_count);
  for (size_t i = 0; i < search_.scan.query_count; ++i) {
    std::optional<GraphQuery> made;
    if (search_.point == nullptr) made.emplace(head.space, Query(i));
    const GraphQuery& query = made ? *made : *search_.point;
    if (!query.is_finite()) {
      left.push_back(i);
      continue;
    }
    steps_.clear();
    std::vector<uint32_t> nodes;
    PIGMENT_ASSIGN_OR_RETURN(
        std::vector<RowHit> hits,
        SearchOne(*reader,
                  {.metric = search_.scan.metric,
                   .vector = Query(i),
                   .query = &query,
                   .k = tracked,
                   .given = wanted(),
                   .spare = wanted() > tracked ? wanted() - tracked : 0,
                   .allowed_rows = search_.scan.allowed_rows,
                   .allows_most = AllowsMost(search_.allowed_count, segment_.info().vectors),
                   .reach = reach_,
                   .masked = is_masked ? &masked : nullptr,
                   .wanted = has_stand_in ? kNoLimit : search_.scan.limit(i),
                   .visits_max = visits_max_,
                   .steps = finds_nodes && is_graph() ? &steps_ : nullptr,
                   .probed = finds_nodes ? &nodes : nullptr,
                   .control = search_.scan.control}));
    if (finds_nodes && is_graph()) nodes = Graft::NodesNear(query, steps_, hits);
    if (hits.size() > wanted()) hits.resize(wanted());
    const bool was_given_up = search_.width == 0 && visits_ >= visits_max_;
    const bool is_limited = search_.scan.limit(i) == search_.scan.limit(i);
    if ((hits.size() < sought() && !is_limited) || was_given_up) {
      left.push_back(i);
      continue;
    }
    ++(is_graph() ? result_.walks : result_.probes);
    result_.found.hits[i] = std::move(hits);
    if (finds_nodes) result_.nodes[i] = std::move(nodes);
  }
  return left;
}

Result<std::vector<size_t>> SegmentSearcher::ScanCodes(const IndexHead& head,
                                                       const std::vector<size_t>& queries) {
  std::vector<size_t> left;
  const std::unique_ptr<IndexReader> reader = segment_.NewIndexReader(head);
  const float errors = ErrorsForRecall(search_.recall);
  for (const size_t i : queries) {
    const GraphQuery query(head.space, Query(i));
    if (!query.is_finite()) {
      left.push_back(i);
      continue;
    }
    PIGMENT_ASSIGN_OR_RETURN(CodeScanResult scanned,
                             ScanRowCodes(segment_.info(), *reader,
                                          {.metric = search_.scan.metric,
                                           .vector = Query(i),
                                           .query = &query,
                                           .k = wanted(),
                                           .allowed_rows = search_.scan.allowed_rows,
                                           .wanted = search_.scan.limit(i),
                                           .control = search_.scan.control},
                                          errors));
    result_.found.rows_scored += scanned.codes;
    result_.found.bytes_scored += scanned.codes * head.row_code_bytes() +
                                  scanned.vectors_compared * segment_.info().vector_bytes();
    result_.found.hits[i] = std::move(scanned.hits);
  }
  return left;
}

Status SegmentSearcher::Scan(const std::vector<size_t>& queries) {
  FlatScan scan = search_.scan;
  scan.k = wanted();
  std::vector<float> vectors;
  std::vector<float> limits;
  if (queries.size() != search_.scan.query_count) {
    for (const size_t i : queries) {
      limits.push_back(search_.scan.limit(i));
      const std::span<const float> query = Query(i);
      vectors.insert(vectors.end(), query.begin(), query.end());
    }
    scan.queries = vectors.data();
    scan.query_count = queries.size();
    scan.limits = limits;
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
  PIGMENT_ASSIGN_OR_RETURN(const IndexHead* const head, segment_.Index());
  std::vector<size_t> left;
  if (MayUseIndex() && PlanSearches(*head)) {
    PIGMENT_ASSIGN_OR_RETURN(left, SearchAll(*head));
  } else {
    for (size_t i = 0; i < search_.scan.query_count; ++i) left.push_back(i);
  }
  if (!left.empty() && head != nullptr && MayScanCodes(*head)) {
    PIGMENT_ASSIGN_OR_RETURN(left, ScanCodes(*head, left));
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
