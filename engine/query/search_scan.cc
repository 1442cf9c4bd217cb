// SPDX-License-Identifier: Apache-2.0
//
// Search by distance: see the header. Order by ordinal is in search_order.cc.

#include "engine/query/search_scan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/query/tail_scan.h"
#include "engine/segment/segment_search.h"
#include "engine/vector/top_k.h"

namespace pigment {

namespace {

struct Candidate {
  Scored key;  // ties by ordinal
  RowPlace place;
};

using CandidateLists = std::vector<std::vector<Candidate>>;  // by query

// What of segments and tail was found so far, so that what is searched next need not go beyond it.
class NearestSoFar {
 public:
  NearestSoFar(size_t queries, uint64_t k)
      : nearest_(queries, TopK(static_cast<size_t>(k))),
        limits_(queries, std::numeric_limits<float>::quiet_NaN()) {}

  void Add(size_t query, const Scored& key) {
    if (!nearest_[query].MayEnter(key.distance)) return;
    nearest_[query].Offer(key.distance, key.tie);
    limits_[query] = nearest_[query].worst();
  }
  // Of each query: the distance of the k-th nearest, NaN while there are fewer.
  const std::vector<float>& limits() const { return limits_; }

 private:
  std::vector<TopK> nearest_;
  std::vector<float> limits_;
};

Status ScanSegment(const Version& version, const QueryRequest& request, const RowSet& rows,
                   uint32_t index, NearestSoFar& nearest, CandidateLists& candidates,
                   SegmentReaders& readers, ReadCounters& counters) {
  const Segment& segment = *version.segments[index].segment;
  const SegmentSearch search{.scan = {.metric = request.metric,
                                      .queries = request.embeddings.data(),
                                      .query_count = request.queries,
                                      .k = static_cast<size_t>(std::min(request.k, rows.count())),
                                      .limits = nearest.limits(),
                                      .allowed_rows = rows.words(),
                                      .control = &request.read.control},
                             .allowed_count = rows.count(),
                             .recall = request.recall,
                             .width = static_cast<size_t>(request.width)};
  PIGMENT_ASSIGN_OR_RETURN(const SegmentSearchResult searched,
                           SearchSegment(segment, request.dimension, search));
  const FlatScanResult& found = searched.found;
  counters.segment_rows_scored += found.rows_scored;
  counters.segment_bytes += found.bytes_scored;
  counters.graph_walks += searched.walks;
  counters.graph_nodes_visited += searched.nodes_visited;
  counters.cluster_probes += searched.probes;
  counters.clusters_probed += searched.clusters_probed;
  counters.links_estimated += searched.links_estimated;
  RowReader& reader = readers.Of(index);
  PacedCheck check(request.read.control);
  for (size_t query = 0; query < request.queries; ++query) {
    for (const RowHit& hit : found.hits[query]) reader.Expect(hit.row);
    for (const RowHit& hit : found.hits[query]) {
      PIGMENT_RETURN_IF_ERROR(check.Step());
      PIGMENT_ASSIGN_OR_RETURN(const uint64_t ordinal, reader.ReadOrdinal(hit.row));
      candidates[query].push_back({{hit.distance, ordinal}, {index, hit.row}});
      nearest.Add(query, candidates[query].back().key);
    }
  }
  return Status::Ok();
}

Status SearchTail(const Version& version, const QueryRequest& request, const RowSet& rows,
                  const NearestSoFar& nearest, CandidateLists& candidates, ReadCounters& counters) {
  const TailScan scan{.metric = request.metric,
                      .query = {},
                      .k = static_cast<size_t>(std::min(request.k, rows.count())),
                      .is_exact = request.recall == 1 && request.width == 0,
                      .control = &request.read.control};
  for (size_t query = 0; query < request.queries; ++query) {
    TailScan one = scan;
    one.query = request.embeddings.subspan(query * request.dimension, request.dimension);
    one.limit = nearest.limits()[query];
    PIGMENT_ASSIGN_OR_RETURN(const TailScanResult found, ScanTail(version.tail, rows, one));
    for (const TailHit& hit : found.hits)
      candidates[query].push_back({hit.key, {RowPlace::kTail, hit.row}});
    counters.tail_rows_scored += found.rows_compared + found.rows_by_codes;
    counters.tail_bytes += found.rows_compared * request.dimension * sizeof(float) +
                           found.rows_by_codes * request.dimension / 8;
  }
  return Status::Ok();
}

// The largest first: what it finds limits the others most.
std::vector<uint32_t> OrderOfSegments(const Plan& plan) {
  std::vector<uint32_t> order;
  for (uint32_t index = 0; index < plan.segments.size(); ++index) {
    if (plan.segments[index].count() != 0) order.push_back(index);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return plan.segments[a].count() > plan.segments[b].count();
  });
  return order;
}

}  // namespace

Result<std::vector<std::vector<Hit>>> NearestRows(const Version& version,
                                                  const QueryRequest& request, const Plan& plan,
                                                  SegmentReaders& readers, ReadCounters& counters) {
  CandidateLists candidates(request.queries);
  if (request.k > 0 && request.queries > 0) {
    NearestSoFar nearest(request.queries, request.k);
    for (const uint32_t index : OrderOfSegments(plan)) {
      PIGMENT_RETURN_IF_ERROR(ScanSegment(version, request, plan.segments[index], index, nearest,
                                          candidates, readers, counters));
    }
    if (plan.tail.count() > 0) {
      PIGMENT_RETURN_IF_ERROR(
          SearchTail(version, request, plan.tail, nearest, candidates, counters));
    }
  }
  std::vector<std::vector<Hit>> hits(request.queries);
  for (size_t query = 0; query < request.queries; ++query) {
    PIGMENT_RETURN_IF_ERROR(request.read.control.Check());
    std::vector<Candidate>& found = candidates[query];
    const size_t kept = static_cast<size_t>(std::min<uint64_t>(request.k, found.size()));
    std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(kept), found.end(),
                      [](const Candidate& a, const Candidate& b) { return a.key < b.key; });
    hits[query].reserve(kept);
    for (size_t rank = 0; rank < kept; ++rank)
      hits[query].push_back({found[rank].key.distance, found[rank].place});
  }
  return hits;
}

}  // namespace pigment
