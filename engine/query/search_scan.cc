// SPDX-License-Identifier: Apache-2.0
//
// Search by distance: see the header. Order by ordinal is in search_order.cc.

#include "engine/query/search_scan.h"

#include <algorithm>
#include <utility>

#include "engine/segment/segment_search.h"
#include "engine/vector/distance.h"
#include "engine/vector/top_k.h"

namespace pigment {

namespace {

// Distances between two looks at the clock: a millisecond even at 65,535 dimensions.
constexpr uint32_t kRowsPerCheck = 64;

struct Candidate {
  Scored key;  // ties by ordinal
  RowPlace place;
};

using CandidateLists = std::vector<std::vector<Candidate>>;  // by query

Status ScanSegment(const Version& version, const QueryRequest& request, const RowSet& rows,
                   uint32_t index, CandidateLists& candidates, ReadCounters& counters) {
  const Segment& segment = *version.segments[index].segment;
  const SegmentSearch search{.scan = {.metric = request.metric,
                                      .queries = request.embeddings.data(),
                                      .query_count = request.queries,
                                      .k = static_cast<size_t>(std::min(request.k, rows.count())),
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
  const std::unique_ptr<RowReader> reader = segment.NewReader();
  PacedCheck check(request.read.control);
  for (size_t query = 0; query < request.queries; ++query) {
    for (const RowHit& hit : found.hits[query]) reader->Expect(hit.row);
    for (const RowHit& hit : found.hits[query]) {
      PIGMENT_RETURN_IF_ERROR(check.Step());
      PIGMENT_ASSIGN_OR_RETURN(const uint64_t ordinal, reader->ReadOrdinal(hit.row));
      candidates[query].push_back({{hit.distance, ordinal}, {index, hit.row}});
    }
  }
  return Status::Ok();
}

Status ScanTail(const Version& version, const QueryRequest& request, const RowSet& rows,
                CandidateLists& candidates, ReadCounters& counters) {
  const TailView& tail = version.tail;
  const size_t k = static_cast<size_t>(std::min(request.k, rows.count()));
  for (size_t query = 0; query < request.queries; ++query) {
    const DistanceFunction distance(
        request.metric, request.embeddings.subspan(query * request.dimension, request.dimension));
    std::vector<std::pair<Scored, uint32_t>> heap;  // the k nearest so far, the farthest first
    const auto nearer = [](const auto& a, const auto& b) { return a.first < b.first; };
    uint32_t until_check = 0;
    for (uint32_t row = rows.Next(0); row < rows.rows(); row = rows.Next(row + 1)) {
      if (until_check-- == 0) {
        PIGMENT_RETURN_IF_ERROR(request.read.control.Check());
        until_check = kRowsPerCheck;
      }
      const Record& record = tail.row(row);
      const Scored scored{distance(record.embedding.data()), record.ordinal};
      if (heap.size() == k) {
        if (!(scored < heap.front().first)) continue;
        std::pop_heap(heap.begin(), heap.end(), nearer);
        heap.pop_back();
      }
      heap.emplace_back(scored, row);
      std::push_heap(heap.begin(), heap.end(), nearer);
    }
    for (const auto& [scored, row] : heap)
      candidates[query].push_back({scored, {RowPlace::kTail, row}});
    counters.tail_rows_scored += rows.count();
    counters.tail_bytes += rows.count() * request.dimension * sizeof(float);
  }
  return Status::Ok();
}

}  // namespace

Result<std::vector<std::vector<Hit>>> NearestRows(const Version& version,
                                                  const QueryRequest& request, const Plan& plan,
                                                  ReadCounters& counters) {
  CandidateLists candidates(request.queries);
  if (request.k > 0 && request.queries > 0) {
    for (uint32_t index = 0; index < plan.segments.size(); ++index) {
      if (plan.segments[index].count() == 0) continue;
      PIGMENT_RETURN_IF_ERROR(
          ScanSegment(version, request, plan.segments[index], index, candidates, counters));
    }
    if (plan.tail.count() > 0) {
      PIGMENT_RETURN_IF_ERROR(ScanTail(version, request, plan.tail, candidates, counters));
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
