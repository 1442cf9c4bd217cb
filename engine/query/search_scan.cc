// SPDX-License-Identifier: Apache-2.0
//
// Search by distance: see the header. Order by ordinal is in search_order.cc.

#include "engine/query/search_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "engine/base/thread_pool.h"
#include "engine/collection/tail_graft_rows.h"
#include "engine/query/tail_scan.h"
#include "engine/segment/code_scan.h"
#include "engine/segment/graft.h"
#include "engine/segment/segment_search.h"
#include "engine/vector/shared_loop.h"
#include "engine/vector/top_k.h"

namespace pigment {

namespace {

// Fewer queries are answered sooner than a thread for them is started.
constexpr size_t kQueriesPerThread = 4;
// Pieces that each thread gets on average, so that none waits long for the last.
constexpr size_t kPiecesPerThread = 8;

struct Candidate {
  Scored key;  // ties by ordinal
  RowPlace place;
};

// The distance beyond which nothing is wanted, as a float: those that are not beyond it are the
// same. NaN: there is none.
float LimitOf(const std::optional<double>& max_distance) {
  if (!max_distance) return std::numeric_limits<float>::quiet_NaN();
  const auto limit = static_cast<float>(*max_distance);
  if (static_cast<double>(limit) <= *max_distance) return limit;
  return std::nextafter(limit, -std::numeric_limits<float>::infinity());
}

// What of segments and tail was found so far, so that what is searched next need not go beyond it.
class NearestSoFar {
 public:
  NearestSoFar(size_t queries, uint64_t k, float limit)
      : nearest_(queries, TopK(static_cast<size_t>(k), limit)), limits_(queries, limit) {}

  void Add(size_t query, const Scored& key) {
    if (!nearest_[query].MayEnter(key.distance)) return;
    nearest_[query].Offer(key.distance, key.tie);
    limits_[query] = nearest_[query].worst();
  }
  // Of each query: the distance of the k-th nearest, the limit of all (NaN: none) while there are
  // fewer.
  const std::vector<float>& limits() const { return limits_; }

 private:
  std::vector<TopK> nearest_;
  std::vector<float> limits_;
};

// Null: there is none.
const Graft* TailGraftOf(const Version& version) {
  return version.tail.hung == nullptr ? nullptr : version.tail.hung->graft.get();
}

// The search for some queries of a request, which follow each other. One thread.
class QueriesSearch {
 public:
  QueriesSearch(const Version& version, const QueryRequest& request, const Plan& plan,
                SegmentReaders& readers, ReadCounters& counters)
      : version_(version),
        request_(request),
        plan_(plan),
        limit_(LimitOf(request.max_distance)),
        readers_(readers),
        counters_(counters) {}

  // Those from `first` on, as many as `hits` has places.
  Status Run(size_t first, std::span<std::vector<Hit>> hits);

 private:
  Status ScanSegment(uint32_t index, NearestSoFar& nearest);
  // Whether what hangs on an index may be found by its searches.
  bool TakesGrafts() const {
    return request_.width == 0 && static_cast<float>(request_.recall) <= Graft::kRecallMax;
  }
  // Of segments, and nearly of the tail, those that may be in the answer.
  uint64_t RowsHangingOn(const Segment& segment) const;
  // Whether this (null: none) is on the index that was searched.
  bool MaySearch(const Graft* graft) const;
  Result<GraftSearchResult> SearchGraft(const Graft& graft, GraftRows& rows, size_t query,
                                        RowMask allowed, const NearestSoFar& nearest);
  // Those for what hangs on that index.
  Status MakeGraftQueries();
  Status SearchSegmentByGraft(uint32_t index, NearestSoFar& nearest);
  // Of the first rows of the tail.
  Status SearchTailByGraft(NearestSoFar& nearest);
  // Adds what a segment gave for a query.
  Status Add(uint32_t index, size_t query, std::span<const RowHit> hits, NearestSoFar& nearest);
  Status SearchTail(NearestSoFar& nearest);
  std::vector<Hit> TakeNearest(std::vector<Candidate>& found) const;

  const Version& version_;
  const QueryRequest& request_;
  const Plan& plan_;
  const float limit_;
  SegmentReaders& readers_;
  ReadCounters& counters_;
  std::span<const float> vectors_;
  std::vector<std::vector<Candidate>> candidates_;  // by query
  bool has_asked_index_ = false;
  // Of the index that segments hang on, once searches of it have found k for each query.
  uint32_t walked_ = 0;
  std::vector<std::vector<uint32_t>> nodes_;  // by query; none: there are no such searches
  std::vector<GraftQuery> graft_queries_;     // by query, once something that hangs is searched
};

uint64_t QueriesSearch::RowsHangingOn(const Segment& segment) const {
  const auto is_on_it = [&](const Graft* graft) {
    return graft != nullptr && graft->graph_segment() == segment.info().segment;
  };
  uint64_t rows = is_on_it(TailGraftOf(version_)) ? plan_.tail.count() : 0;
  for (size_t i = 0; i < version_.segments.size(); ++i) {
    if (is_on_it(version_.segments[i].graft.get())) rows += plan_.segments[i].count();
  }
  return rows;
}

Status QueriesSearch::ScanSegment(uint32_t index, NearestSoFar& nearest) {
  const RowSet& rows = plan_.segments[index];
  const Segment& segment = *version_.segments[index].segment;
  const SegmentSearch search{.scan = {.metric = request_.metric,
                                      .queries = vectors_.data(),
                                      .query_count = candidates_.size(),
                                      .k = static_cast<size_t>(std::min(request_.k, rows.count())),
                                      .limits = nearest.limits(),
                                      .allowed_rows = rows.words(),
                                      .control = &request_.read.control},
                             .allowed_count = rows.count(),
                             .recall = request_.recall,
                             .width = static_cast<size_t>(request_.width),
                             .hanging = TakesGrafts() ? RowsHangingOn(segment) : 0};
  PIGMENT_ASSIGN_OR_RETURN(SegmentSearchResult searched,
                           SearchSegment(segment, request_.dimension, search));
  const FlatScanResult& found = searched.found;
  counters_.segment_rows_scored += found.rows_scored;
  counters_.segment_bytes += found.bytes_scored;
  has_asked_index_ = has_asked_index_ || searched.walks + searched.probes != 0;
  counters_.graph_walks += searched.walks;
  counters_.graph_nodes_visited += searched.nodes_visited;
  counters_.cluster_probes += searched.probes;
  counters_.clusters_probed += searched.clusters_probed;
  counters_.links_estimated += searched.links_estimated;
  bool has_walked = !searched.nodes.empty();
  for (size_t query = 0; query < candidates_.size(); ++query) {
    PIGMENT_RETURN_IF_ERROR(Add(index, query, found.hits[query], nearest));
    has_walked =
        has_walked && !searched.nodes[query].empty() && found.hits[query].size() == request_.k;
  }
  if (has_walked) {
    walked_ = index;
    graft_queries_.clear();
    nodes_ = std::move(searched.nodes);
  }
  return Status::Ok();
}

bool QueriesSearch::MaySearch(const Graft* graft) const {
  return graft != nullptr && !nodes_.empty() &&
         graft->graph_segment() == version_.segments[walked_].segment->info().segment;
}

Result<GraftSearchResult> QueriesSearch::SearchGraft(const Graft& graft, GraftRows& rows,
                                                     size_t query, RowMask allowed,
                                                     const NearestSoFar& nearest) {
  PIGMENT_RETURN_IF_ERROR(MakeGraftQueries());
  ++counters_.graft_searches;
  return graft.Search(graft_queries_[query], rows,
                      {.k = static_cast<size_t>(request_.k),
                       .recall = request_.recall,
                       .limit = nearest.limits()[query],
                       .nodes = nodes_[query],
                       .allowed_rows = allowed,
                       .control = &request_.read.control});
}

Status QueriesSearch::MakeGraftQueries() {
  while (graft_queries_.size() < candidates_.size()) {
    const size_t first = graft_queries_.size() * request_.dimension;
    PIGMENT_ASSIGN_OR_RETURN(GraftQuery query,
                             GraftQuery::Make(*version_.segments[walked_].segment,
                                              vectors_.subspan(first, request_.dimension)));
    graft_queries_.push_back(std::move(query));
  }
  return Status::Ok();
}

Status QueriesSearch::SearchSegmentByGraft(uint32_t index, NearestSoFar& nearest) {
  const SegmentView& view = version_.segments[index];
  SegmentGraftRows rows(*view.segment);
  for (size_t query = 0; query < candidates_.size(); ++query) {
    PIGMENT_ASSIGN_OR_RETURN(
        const GraftSearchResult found,
        SearchGraft(*view.graft, rows, query, plan_.segments[index].words(), nearest));
    counters_.segment_rows_scored += found.rows_scored;
    counters_.segment_bytes +=
        found.code_bytes + found.rows_compared * view.segment->info().vector_bytes();
    PIGMENT_RETURN_IF_ERROR(Add(index, query, found.hits, nearest));
  }
  return Status::Ok();
}

Status QueriesSearch::Add(uint32_t index, size_t query, std::span<const RowHit> hits,
                          NearestSoFar& nearest) {
  RowReader& reader = readers_.Of(index);
  PacedCheck check(request_.read.control);
  for (const RowHit& hit : hits) reader.Expect(hit.row);
  for (const RowHit& hit : hits) {
    PIGMENT_RETURN_IF_ERROR(check.Step());
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t ordinal, reader.ReadOrdinal(hit.row));
    candidates_[query].push_back({{hit.distance, ordinal}, {index, hit.row}});
    nearest.Add(query, candidates_[query].back().key);
  }
  return Status::Ok();
}

Status QueriesSearch::SearchTailByGraft(NearestSoFar& nearest) {
  const TailGraft& hung = *version_.tail.hung;
  TailGraftRows rows(hung.vectors, request_.dimension);
  for (size_t query = 0; query < candidates_.size(); ++query) {
    PIGMENT_ASSIGN_OR_RETURN(const GraftSearchResult found,
                             SearchGraft(*hung.graft, rows, query, plan_.tail.words(), nearest));
    counters_.tail_rows_scored += found.rows_scored;
    counters_.tail_bytes +=
        found.code_bytes + found.rows_compared * request_.dimension * sizeof(float);
    for (const RowHit& hit : found.hits) {
      const Scored key{hit.distance, version_.tail.row(hit.row).ordinal};
      candidates_[query].push_back({key, {RowPlace::kTail, hit.row}});
      nearest.Add(query, key);
    }
  }
  return Status::Ok();
}

Status QueriesSearch::SearchTail(NearestSoFar& nearest) {
  TailScan scan{.metric = request_.metric,
                .query = {},
                .k = static_cast<size_t>(std::min(request_.k, plan_.tail.count())),
                .is_exact = request_.recall == 1 && request_.width == 0,
                .is_beside_index = has_asked_index_,
                .control = &request_.read.control};
  if (MaySearch(TailGraftOf(version_))) {
    PIGMENT_RETURN_IF_ERROR(SearchTailByGraft(nearest));
    scan.first_row = version_.tail.hung->graft->rows();
  }
  // A width says nothing of what codes may miss.
  if (request_.width == 0) scan.errors = ErrorsForRecall(request_.recall);
  for (size_t query = 0; query < candidates_.size(); ++query) {
    scan.query = vectors_.subspan(query * request_.dimension, request_.dimension);
    scan.limit = nearest.limits()[query];
    PIGMENT_ASSIGN_OR_RETURN(const TailScanResult found, ScanTail(version_.tail, plan_.tail, scan));
    for (const TailHit& hit : found.hits)
      candidates_[query].push_back({hit.key, {RowPlace::kTail, hit.row}});
    counters_.tail_rows_scored += found.rows_compared + found.rows_by_codes;
    counters_.tail_bytes += found.rows_compared * request_.dimension * sizeof(float) +
                            found.rows_by_codes * request_.dimension / 8;
  }
  return Status::Ok();
}

std::vector<Hit> QueriesSearch::TakeNearest(std::vector<Candidate>& found) const {
  if (request_.max_distance) {
    // Also those whose distance is no number.
    std::erase_if(found, [&](const Candidate& one) { return !(one.key.distance <= limit_); });
  }
  const size_t kept = static_cast<size_t>(std::min<uint64_t>(request_.k, found.size()));
  std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(kept), found.end(),
                    [](const Candidate& a, const Candidate& b) { return a.key < b.key; });
  std::vector<Hit> hits;
  hits.reserve(kept);
  for (size_t rank = 0; rank < kept; ++rank)
    hits.push_back({found[rank].key.distance, found[rank].place});
  return hits;
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

Status QueriesSearch::Run(size_t first, std::span<std::vector<Hit>> hits) {
  candidates_.assign(hits.size(), {});
  has_asked_index_ = false;
  nodes_.clear();
  vectors_ =
      request_.embeddings.subspan(first * request_.dimension, hits.size() * request_.dimension);
  NearestSoFar nearest(hits.size(), request_.k, limit_);
  for (const uint32_t index : OrderOfSegments(plan_)) {
    SegmentSpan span(request_.read.trace, "search_segment", version_, index, counters_);
    const Status status = MaySearch(version_.segments[index].graft.get())
                              ? SearchSegmentByGraft(index, nearest)
                              : ScanSegment(index, nearest);
    span.End(status);
    PIGMENT_RETURN_IF_ERROR(status);
  }
  if (plan_.tail.count() > 0) {
    SegmentSpan span(request_.read.trace, "search_tail", version_, RowPlace::kTail, counters_);
    const Status status = SearchTail(nearest);
    span.End(status);
    PIGMENT_RETURN_IF_ERROR(status);
  }
  for (size_t query = 0; query < hits.size(); ++query) {
    PIGMENT_RETURN_IF_ERROR(request_.read.control.Check());
    hits[query] = TakeNearest(candidates_[query]);
  }
  return Status::Ok();
}

size_t ThreadsFor(const QueryRequest& request) {
  if (request.queries < 2 * kQueriesPerThread) return 1;
  if (request.queries > std::numeric_limits<uint32_t>::max()) return 1;  // beyond a shared loop
  const size_t threads = request.threads != 0 ? request.threads : UsableCores();
  return std::min(threads, request.queries / kQueriesPerThread);
}

}  // namespace

Result<std::vector<std::vector<Hit>>> NearestRows(const Version& version,
                                                  const QueryRequest& request, const Plan& plan,
                                                  SegmentReaders& readers, ReadCounters& counters) {
  std::vector<std::vector<Hit>> hits(request.queries);
  if (request.k == 0 || request.queries == 0) return hits;
  const size_t threads = ThreadsFor(request);
  if (threads <= 1) {
    QueriesSearch search(version, request, plan, readers, counters);
    PIGMENT_RETURN_IF_ERROR(search.Run(0, hits));
    return hits;
  }
  std::mutex mutex;  // guards counters
  const size_t piece = std::max<size_t>(request.queries / (threads * kPiecesPerThread), 1);
  PIGMENT_RETURN_IF_ERROR(ShareLoop(
      static_cast<uint32_t>(threads), static_cast<uint32_t>(request.queries),
      static_cast<uint32_t>(piece), {}, [&]() -> LoopBody {
        auto own = std::make_shared<SegmentReaders>(version);
        return [&, own](uint32_t begin, uint32_t end, const BuildPause& pause) -> Status {
          PIGMENT_RETURN_IF_ERROR(pause());
          ReadCounters of_piece;
          QueriesSearch search(version, request, plan, *own, of_piece);
          PIGMENT_RETURN_IF_ERROR(search.Run(begin, std::span(hits).subspan(begin, end - begin)));
          std::lock_guard lock(mutex);
          counters.Add(of_piece);
          return Status::Ok();
        };
      }));
  return hits;
}

}  // namespace pigment
