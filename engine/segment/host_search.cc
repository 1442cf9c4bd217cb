// SPDX-License-Identifier: Apache-2.0
//
// Passes over indexes, segments and pending pages.

#include "engine/segment/host_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

#include "engine/base/bits.h"
#include "engine/segment/code_scan.h"
#include "engine/segment/host_keys.h"
#include "engine/segment/row_window.h"
#include "engine/segment/segment_search.h"
#include "engine/vector/distance.h"
#include "engine/vector/top_k.h"

namespace pigment {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
constexpr size_t kGrowth = 4;

// Rows of the first pass, where nobody knows how many are wanted: what most who want some want, and
// a few for those that the host cannot show. A pass over everything may as well keep more.
constexpr size_t kIndexRowsFirst = 16;
constexpr size_t kExactRowsFirst = 64;
// Indexes are asked for no more neighbours.
constexpr uint64_t kIndexNeighborsMax = 4096;

uint64_t CountAllowed(RowMask mask, uint32_t rows) {
  if (mask.empty()) return rows;
  uint64_t count = CountSetBits(mask.first(rows / 64));
  if (rows % 64 != 0)
    count += static_cast<uint64_t>(std::popcount(mask[rows / 64] & ~(~uint64_t{0} << (rows % 64))));
  return count;
}

// Where at most one of so many rows is allowed, looking up each takes less time than going through
// the blocks of all.
constexpr uint64_t kFewOfRows = 8;

// Rows of a cache that are bounded together.
constexpr size_t kCachedRows = 64;

// Whether the distances of all vectors, or of all that are not zero, from this query of finite
// numbers are numbers.
bool AreNumbers(Metric metric, std::span<const float> query, bool no_zero_vectors) {
  const bool is_zero = std::all_of(query.begin(), query.end(), [](float x) { return x == 0; });
  return metric != Metric::kCosineNan || (no_zero_vectors && !is_zero);
}

}  // namespace

float HostHit::distance() const {
  if (key >= kNan) return kNothing;
  return std::bit_cast<float>(key & 0x80000000 ? key & 0x7FFFFFFF : ~key);
}

HostSearch::HostSearch(HostSearchOptions options) : options_(std::move(options)), worst_(kNothing) {
  if (options_.query) query_.emplace_back(options_.metric, *options_.query);
  size_t bad = 0;
  is_query_finite_ =
      options_.query && AllFinite(options_.query->data(), options_.query->size(), &bad);
  is_before_numbers_ = options_.query && options_.nan == HostSearchOptions::Nan::kFirst &&
                       !(is_query_finite_ && AreNumbers(options_.metric, *options_.query, false));
  is_number_in_segments_ =
      is_query_finite_ && AreNumbers(options_.metric, *options_.query, options_.no_zero_vectors);
  if (is_before_numbers_) {
    wanted_ = {.number_key_max = 0, .nan = true, .without_vector = false};
  } else {
    BeginNumbers();
  }
}

void HostSearch::BeginNumbers() {
  is_before_numbers_ = false;
  wanted_ = {
      .number_key_max = HasMaxDistance() ? DistanceKey(options_.max_distance) : HostHit::kNan - 1,
      .nan = options_.nan == HostSearchOptions::Nan::kLast,
      .without_vector = !HasMaxDistance()};
  cursor_ = pending_cursor_ = {};
  capacity_ = 0;
  is_exhausted_ = false;
}

Status HostSearch::AddSegment(const Segment* segment, std::span<const uint8_t> deleted) {
  const SegmentInfo& info = segment->info();
  if (options_.query && info.vectors != 0 && info.dimension != options_.dimension) {
    return InvalidArgument(Detail::kDimension,
                           fmt::format("dimension mismatch: segment {} has {}, got {}",
                                       info.segment, info.dimension, options_.dimension));
  }
  PIGMENT_ASSIGN_OR_RETURN(SearchedRows live, SearchedRowsOf(*segment, deleted, options_.filter));
  SegmentSource source;
  source.segment = segment;
  source.live = std::move(live.mask);
  source.live_rows = live.count;
  source.live_vectors = CountAllowed(source.live, info.vectors);
  unindexed_rows_ += live.unindexed;
  segments_.push_back(std::move(source));
  shared_.Add(segment);
  return Status::Ok();
}

uint64_t HostSearch::segment_rows() const {
  uint64_t rows = 0;
  for (const SegmentSource& source : segments_) rows += source.live_rows;
  return rows;
}

void HostSearch::AddPending(BlockSource* source, uint32_t stamp, uint32_t first) {
  pending_.emplace_back(
      PendingChain{.source = source, .stamp = stamp, .first = first, .shared = &shared_});
}

bool HostSearch::CanUseCodes(const PendingCache& cache) const {
  return cache.dimension() == options_.dimension && PendingCache::HasCodes(options_.dimension) &&
         HasByteCodeBound(options_.metric) && is_query_finite_;
}

void HostSearch::AddPending(BlockSource* source, std::shared_ptr<PendingCache> cache) {
  if (options_.query && !CanUseCodes(*cache)) {
    pending_.emplace_back(cache->Chain(source, &shared_));
    return;
  }
  cached_.emplace_back(std::move(cache), source, &shared_);
}

const ByteCodeQuery& HostSearch::Codes() {
  if (!codes_) codes_.emplace(options_.metric, *options_.query);
  return *codes_;
}

Result<size_t> HostSearch::Next(std::span<HostHit> hits) {
  if (hits.empty()) return InvalidArgument("capacity is 0");
  while (given_ == batch_.size()) {
    if (is_exhausted_ && !is_before_numbers_) return size_t{0};
    if (is_exhausted_) BeginNumbers();
    PIGMENT_RETURN_IF_ERROR(RunPass());
  }
  const size_t count = std::min(hits.size(), batch_.size() - given_);
  std::copy_n(batch_.begin() + static_cast<ptrdiff_t>(given_), count, hits.begin());
  given_ += count;
  return count;
}

void HostSearch::Offer(HostHit hit, const Cursor& cursor) {
  if (!IsWanted(hit.key) || cursor.WasGiven(hit)) return;
  if (batch_.size() < capacity_) {
    batch_.push_back(hit);
    std::push_heap(batch_.begin(), batch_.end());
  } else {
    if (!(hit < batch_.front())) return;
    std::pop_heap(batch_.begin(), batch_.end());
    batch_.back() = hit;
    std::push_heap(batch_.begin(), batch_.end());
  }
  if (batch_.size() == capacity_) worst_ = batch_.front().distance();
}

bool HostSearch::HasIndexes() const {
  if (query_.empty() || (options_.recall >= 1 && options_.width == 0)) return false;
  return std::any_of(segments_.begin(), segments_.end(), [&](const SegmentSource& source) {
    return source.segment->has_index() && source.segment->info().metric == options_.metric;
  });
}

bool HostSearch::MayAskIndexes(uint64_t neighbors) const {
  uint64_t rows = 0;
  for (const SegmentSource& source : segments_) rows += source.live_vectors;
  return neighbors <= std::min(kIndexNeighborsMax, rows / 2);
}

size_t HostSearch::WithinMemory(uint64_t rows) const {
  const uint64_t most = std::max<uint64_t>(options_.batch_bytes_max / sizeof(HostHit), 1);
  return static_cast<size_t>(std::min(rows, most));
}

size_t HostSearch::RowsFirst() const {
  if (options_.batch_rows_first != 0) return options_.batch_rows_first;
  const size_t rows =
      options_.rows_wanted != 0 ? WithinMemory(options_.rows_wanted) + spare_ : kIndexRowsFirst;
  return is_exact_ ? std::max(kExactRowsFirst, rows) : rows;
}

// What the pass before gave is behind the cursors now.
void HostSearch::BeginPass() {
  if (capacity_ == 0) {
    is_exact_ = is_before_numbers_ || !HasIndexes();
    if (options_.batch_rows_first == 0 && options_.rows_wanted != 0)
      spare_ = std::min(options_.rows_spare, size_t{kIndexNeighborsMax});
    capacity_ = WithinMemory(RowsFirst());
    spare_ = std::min(spare_, capacity_ - 1);
  }
  batch_.clear();
  given_ = 0;
  // No number is below infinity's opposite; what is none is above nothing.
  worst_ = is_before_numbers_ ? -std::numeric_limits<float>::infinity() : options_.max_distance;
  constexpr size_t kReservedMax = 4096;  // the host's numbers may be far above the rows there are
  batch_.reserve(std::min(capacity_, kReservedMax));
}

Status HostSearch::RunPass() {
  MarkGiven();
  BeginPass();
  if (!is_exact_ && !MayAskIndexes(index_rows_given_ + capacity_)) is_exact_ = true;
  Status status = is_exact_ ? RunExactPass() : RunIndexPass();
  if (!status.ok()) {
    batch_.clear();  // the cursors stay: the next call begins this pass again
    found_.clear();
    return status;
  }
  ++passes_;
  std::sort_heap(batch_.begin(), batch_.end());
  const bool is_full = batch_.size() + (is_exact_ ? 0 : spare_) >= capacity_;
  // Equal hits would be one row twice; across batches the cursor drops the second, so it is dropped
  // here too.
  batch_.erase(std::unique(batch_.begin(), batch_.end()), batch_.end());
  if (is_exact_) {
    is_exhausted_ = !is_full;
    if (!batch_.empty()) cursor_.MoveTo(batch_.back());
  } else {
    index_rows_given_ += batch_.size();
    is_exact_ = !is_full;
  }
  for (const HostHit& hit : batch_) rows_late_ += pending_cursor_.WasGiven(hit) ? 1 : 0;
  if (!batch_.empty() && !pending_cursor_.WasGiven(batch_.back()))
    pending_cursor_.MoveTo(batch_.back());
  capacity_ = WithinMemory(uint64_t{capacity_} * kGrowth);
  spare_ = 0;
  return Status::Ok();
}

Status HostSearch::RunExactPass() {
  if (is_before_numbers_ && is_number_in_segments_) return OfferAllPending();
  for (const SegmentSource& source : segments_) PIGMENT_RETURN_IF_ERROR(ScanSegment(source));
  return OfferAllPending();
}

Status HostSearch::OfferAllPending() {
  pending_rows_ = 0;
  for (PendingReader& pending : pending_) PIGMENT_RETURN_IF_ERROR(OfferPages(pending));
  for (CachedPending& pending : cached_) PIGMENT_RETURN_IF_ERROR(OfferCached(pending));
  return Status::Ok();
}

std::optional<HostSearch::SegmentRow> HostSearch::FindFound(uint64_t row_pointer) const {
  for (const IndexHit& found : found_) {
    if (found.row_pointer == row_pointer && found.source < segments_.size())
      return SegmentRow{.segment = found.source, .row = found.row};
  }
  return std::nullopt;
}

bool HostSearch::WasGiven(const IndexHit& found) const {
  if (found.source < segments_.size()) return segments_[found.source].WasGiven(found.row);
  return cached_[found.source - segments_.size()].WasGiven(found.row);
}

Status HostSearch::ReadRowPointer(IndexHit& found) const {
  if (found.source < segments_.size()) {
    return segments_[found.source].segment->ReadRowPointers(found.row,
                                                            std::span(&found.row_pointer, 1));
  }
  found.row_pointer = cached_[found.source - segments_.size()].cache->row(found.row).row_pointer;
  return Status::Ok();
}

Status HostSearch::RunIndexPass() {
  found_.clear();
  pending_rows_ = 0;
  PIGMENT_RETURN_IF_ERROR(AskIndexes(index_rows_given_ + capacity_));
  std::erase_if(found_, [&](const IndexHit& found) { return WasGiven(found); });
  for (const IndexHit& found : found_) {
    if (found.source < segments_.size())
      segments_[found.source].segment->ExpectRowPointer(found.row);
  }
  for (IndexHit& found : found_) {
    PIGMENT_RETURN_IF_ERROR(ReadRowPointer(found));
    Offer(found.hit(), Cursor());
  }
  for (PendingReader& pending : pending_) PIGMENT_RETURN_IF_ERROR(OfferPages(pending));
  for (CachedPending& pending : cached_) {
    if (pending.rest) PIGMENT_RETURN_IF_ERROR(OfferPages(*pending.rest));
  }
  return Status::Ok();
}

Status HostSearch::TakeGrafts() {
  for (CachedPending& pending : cached_) {
    pending.nodes.clear();
    PIGMENT_RETURN_IF_ERROR(pending.Begin());
    if (pending.cache->KnowsGraft()) continue;
    std::vector<const Segment*> segments;
    for (const SegmentSource& source : segments_) segments.push_back(source.segment);
    PIGMENT_RETURN_IF_ERROR(pending.cache->TakeGraft(pending.source, segments));
  }
  return Status::Ok();
}

bool HostSearch::MayHangOn(const Segment& segment, const CachedPending& pending) const {
  const PendingCache::Hanging& hanging = pending.cache->hanging();
  // Another search may have read on.
  return hanging.graft != nullptr && hanging.graft->graph_segment() == segment.info().segment &&
         hanging.end() <= *pending.rows && options_.width == 0 &&
         static_cast<float>(options_.recall) <= Graft::kRecallMax;
}

Result<const GraftQuery*> HostSearch::QueryOf(const Segment& graph) {
  if (graft_query_graph_ != &graph) {
    PIGMENT_ASSIGN_OR_RETURN(GraftQuery query, GraftQuery::Make(graph, *options_.query));
    graft_query_.emplace(std::move(query));
    graft_query_graph_ = &graph;
  }
  return &*graft_query_;
}

Status HostSearch::AskIndexes(size_t neighbors) {
  float limit = kNothing;
  PIGMENT_RETURN_IF_ERROR(TakeGrafts());
  for (uint32_t i = 0; i < segments_.size(); ++i) {
    const SegmentSource& source = segments_[i];
    if (source.live_vectors == 0) continue;
    uint64_t hanging = 0;
    for (const CachedPending& pending : cached_) {
      if (MayHangOn(*source.segment, pending)) hanging += pending.cache->hanging().rows.size();
    }
    const GraphQuery* point = nullptr;
    if (hanging != 0) {
      PIGMENT_ASSIGN_OR_RETURN(const GraftQuery* const query, QueryOf(*source.segment));
      point = &query->point();
    }
    PIGMENT_ASSIGN_OR_RETURN(SegmentSearchResult result,
                             SearchSegment(*source.segment, options_.dimension,
                                           {.scan = {.metric = options_.metric,
                                                     .queries = options_.query->data(),
                                                     .query_count = 1,
                                                     .k = neighbors - spare_,
                                                     .limits = std::span(&limit, 1),
                                                     .allowed_rows = source.live},
                                            .allowed_count = source.live_vectors,
                                            .recall = options_.recall,
                                            .spare = spare_,
                                            .width = options_.width,
                                            .hanging = hanging,
                                            .point = point}));
    rows_scored_ += result.found.rows_scored;
    walks_ += result.walks;
    probes_ += result.probes;
    visits_ += result.nodes_visited + result.clusters_probed;
    for (const RowHit& hit : result.found.hits[0]) {
      // What is no number comes when all numbers were given.
      if (hit.distance == hit.distance) found_.push_back({hit.distance, i, hit.row});
    }
    for (CachedPending& pending : cached_) {
      if (result.nodes.empty() || !MayHangOn(*source.segment, pending)) continue;
      pending.graph = source.segment;
      pending.nodes = result.nodes[0];
    }
    limit = KeepNearest(neighbors, limit);
  }
  for (uint32_t i = 0; i < cached_.size(); ++i) {
    PIGMENT_RETURN_IF_ERROR(AskCache(i, neighbors, limit));
    limit = KeepNearest(neighbors, limit);
  }
  return Status::Ok();
}

float HostSearch::KeepNearest(size_t neighbors, float limit) {
  if (found_.size() < neighbors) return limit;
  const auto last = found_.begin() + static_cast<ptrdiff_t>(neighbors) - 1;
  std::nth_element(found_.begin(), last, found_.end());
  found_.resize(neighbors);
  return found_.back().distance;
}

Status HostSearch::AskCache(uint32_t number, size_t neighbors, float limit) {
  // Codes that one search makes: it pays for those that come after.
  constexpr size_t kChunksPerSearch = 4;
  CachedPending& pending = cached_[number];
  PendingCache& cache = *pending.cache;
  if (!pending.nearest) {
    if (*pending.rows == 0) return Status::Ok();
    const size_t looked_at = pending.nodes.empty() ? 0 : cache.hanging().end();
    if (HasChunkCodes(options_.metric) && *pending.rows >= looked_at + kRowsWorthChunks)
      cache.MakeChunks(options_.metric, kChunksPerSearch);
    PendingSearch::Source source{.metric = options_.metric,
                                 .query = *options_.query,
                                 .distance = &query_.front(),
                                 .codes = &Codes(),
                                 .cache = &cache,
                                 .chain = &pending.chain};
    // A width says nothing of how far to go.
    if (options_.width == 0) source.errors = ErrorsForRecall(options_.recall);
    pending.nearest.emplace(source);
  }
  PendingSearch::Wanted wanted{.rows = *pending.rows, .k = neighbors, .limit = limit};
  if (limit != limit) wanted.limit = options_.max_distance;
  if (options_.filter) {
    wanted.matches = [&](size_t row) { return pending.Matches(row, options_.filter); };
  }
  if (!pending.nodes.empty()) {
    PIGMENT_ASSIGN_OR_RETURN(wanted.graft, QueryOf(*pending.graph));
    wanted.nodes = pending.nodes;
    ++grafts_;
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<PendingHit> hits, pending.nearest->Nearest(wanted));
  rows_scored_ += pending.nearest->rows_scored();
  pending_rows_ += options_.filter ? pending.nearest->rows_matched() : *pending.rows;
  const auto source = static_cast<uint32_t>(segments_.size()) + number;
  for (const PendingHit& hit : hits) found_.push_back({hit.distance, source, hit.row});
  return Status::Ok();
}

// Few searches come to a second pass.
void HostSearch::MarkGiven() {
  const auto mark = [](std::vector<uint64_t>& given, size_t rows, uint32_t row) {
    if (given.empty()) given.assign((rows + 63) / 64, 0);
    given[row / 64] |= uint64_t{1} << (row % 64);
  };
  for (const IndexHit& found : found_) {
    if (!std::binary_search(batch_.begin(), batch_.end(), found.hit())) continue;
    if (found.source < segments_.size()) {
      SegmentSource& source = segments_[found.source];
      mark(source.given, source.segment->info().rows, found.row);
    } else {
      CachedPending& pending = cached_[found.source - segments_.size()];
      mark(pending.given, *pending.rows, found.row);
    }
  }
  found_.clear();
}

Status HostSearch::ScanFew(const SegmentSource& source) {
  const Segment& segment = *source.segment;
  PointerWindow pointers(&segment);
  RowVectors vectors(&segment);
  const uint32_t rows = segment.info().rows;
  for (uint32_t row = NextSetBit(source.live, 0, rows); row < rows;
       row = NextSetBit(source.live, row + 1, rows)) {
    uint32_t vector = kNoVector;
    if (!query_.empty()) {
      PIGMENT_ASSIGN_OR_RETURN(vector, vectors.Number(row));
    }
    uint32_t key = HostHit::kNoVectorKey;
    if (vector != kNoVector) {
      if (cursor_.IsBehind(HostHit::kNan) || source.WasGiven(row)) continue;
      PIGMENT_ASSIGN_OR_RETURN(const float* const numbers, vectors.Read(vector));
      const float distance = query_.front()(numbers);
      ++rows_scored_;
      if (!MayEnter(distance, cursor_)) continue;
      key = DistanceKey(distance);
    }
    if (!MayBeHit(key, cursor_)) continue;
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t pointer, pointers.Read(row));
    Offer({key, pointer}, cursor_);
  }
  return Status::Ok();
}

Status HostSearch::ScanSegment(const SegmentSource& source) {
  if (source.live_rows == 0) return Status::Ok();
  if (source.live_rows <= source.segment->info().rows / kFewOfRows ||
      (query_.empty() && !source.live.empty())) {
    return ScanFew(source);
  }
  PointerWindow pointers(source.segment);
  const auto offer = [&](uint32_t row, uint32_t key) -> Status {
    if (!MayBeHit(key, cursor_) || !IsAllowed(source.live, row) || source.WasGiven(row))
      return Status::Ok();
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t pointer, pointers.Read(row));
    Offer({key, pointer}, cursor_);
    return Status::Ok();
  };
  if (query_.empty()) {
    for (uint32_t row = 0; row < source.segment->info().rows; ++row) {
      PIGMENT_RETURN_IF_ERROR(offer(row, HostHit::kNoVectorKey));
    }
    return Status::Ok();
  }
  RowScan scan;
  if (!cursor_.IsBehind(HostHit::kNan))
    scan.queries = query_;  // otherwise only rows without a vector are left
  scan.allowed_rows = source.live;
  scan.visit = [&](const ScoredRows& scored) -> Status {
    rows_scored_ += scored.count;
    for (size_t i = 0; i < scored.count; ++i) {
      const float distance = scored.distances[i];
      if (MayEnter(distance, cursor_))
        PIGMENT_RETURN_IF_ERROR(offer(scored.row(i), DistanceKey(distance)));
    }
    return Status::Ok();
  };
  scan.visit_without_vector = [&](std::span<const uint32_t> rows) -> Status {
    if (!MayBeHit(HostHit::kNoVectorKey, cursor_)) return Status::Ok();
    // Numbers alone fill the heap: none of these can enter.
    if (batch_.size() == capacity_ && batch_.front().key < HostHit::kNan) return Status::Ok();
    for (const uint32_t row : rows) PIGMENT_RETURN_IF_ERROR(offer(row, HostHit::kNoVectorKey));
    return Status::Ok();
  };
  return ScanRows(*source.segment, scan);
}

Status HostSearch::OfferPages(PendingReader& pending) {
  return VisitMatching(pending, options_.filter, !query_.empty(),
                       [&](const PendingRow& row, uint32_t physical) -> Status {
                         ++pending_rows_;
                         return OfferPending(pending, row, physical);
                       });
}

Status HostSearch::OfferPending(const PendingReader& pending, const PendingRow& row,
                                uint32_t physical) {
  if (query_.empty() || row.head.dimension() == 0) {
    if (is_exact_) Offer({HostHit::kNoVectorKey, row.head.row_pointer}, pending_cursor_);
    return Status::Ok();
  }
  if (row.head.dimension() != options_.dimension)
    return pending.OtherDimension(physical, row.head.dimension(), options_.dimension);
  if (pending_cursor_.IsBehind(HostHit::kNan)) return Status::Ok();
  ++rows_scored_;
  return OfferVector(pending, row, pending_cursor_);
}

Status HostSearch::OfferVector(const PendingReader& pending, const PendingRow& row,
                               const Cursor& cursor) {
  PIGMENT_ASSIGN_OR_RETURN(const bool found, pending.ReadVector(row, &vector_));
  if (!found) return Status::Ok();
  const float distance = query_.front()(vector_.data());
  const bool is_wanted = is_exact_ || distance == distance;
  if (is_wanted && MayEnter(distance, cursor))
    Offer({DistanceKey(distance), row.head.row_pointer}, cursor);
  return Status::Ok();
}

Status HostSearch::OfferCached(CachedPending& pending) {
  PIGMENT_RETURN_IF_ERROR(pending.Begin());
  for (size_t first = 0; first < *pending.rows; first += kCachedRows) {
    PIGMENT_RETURN_IF_ERROR(
        OfferCachedRows(pending, first, std::min(kCachedRows, *pending.rows - first)));
  }
  return pending.rest ? OfferPages(*pending.rest) : Status::Ok();
}

Status HostSearch::OfferCachedRows(CachedPending& pending, size_t first, size_t count) {
  const PendingCache& cache = *pending.cache;
  size_t ranked[kCachedRows];
  size_t ranked_count = 0;
  for (size_t i = first; i < first + count; ++i) {
    const PendingCache::Row& row = cache.row(i);
    PIGMENT_ASSIGN_OR_RETURN(const bool matches, pending.Matches(i, options_.filter));
    if (!matches) continue;
    ++pending_rows_;
    if (query_.empty() || row.dimension == 0) {
      Offer({HostHit::kNoVectorKey, row.row_pointer}, cursor_);
      continue;
    }
    if (row.dimension != options_.dimension)
      return pending.chain.OtherDimension(row.physical, row.dimension, options_.dimension);
    ranked[ranked_count++] = i;
  }
  if (ranked_count == 0 || cursor_.IsBehind(HostHit::kNan)) return Status::Ok();
  rows_scored_ += ranked_count;
  float bounds[kCachedRows];
  Codes().LowerBounds(cache.codes(first), count, bounds);
  const auto end = std::remove_if(ranked, ranked + ranked_count, [&](size_t row) {
    return bounds[row - first] > worst_ || pending.WasGiven(row);
  });
  return OfferByVector(pending, std::span(ranked, end));
}

Status HostSearch::OfferByVector(CachedPending& pending, std::span<const size_t> rows) {
  uint32_t entries[kCachedRows];
  while (!rows.empty()) {
    const uint32_t physical = pending.cache->row(rows[0]).physical;
    size_t count = 0;
    for (; count < rows.size() && pending.cache->row(rows[count]).physical == physical; ++count)
      entries[count] = pending.cache->row(rows[count]).entry;
    PIGMENT_RETURN_IF_ERROR(pending.chain.VisitEntries(
        physical, std::span(entries, count), [&](const PendingRow& row, uint32_t) -> Status {
          if (row.head.dimension() != options_.dimension)
            return pending.chain.OtherDimension(physical, row.head.dimension(), options_.dimension);
          return OfferVector(pending.chain, row, cursor_);
        }));
    rows = rows.subspan(count);
  }
  return Status::Ok();
}

template <typename VisitSegment, typename VisitPending>
Status HostSearch::VisitSources(const VisitSegment& visit_segment,
                                const VisitPending& visit_pending) {
  for (const SegmentSource& source : segments_) PIGMENT_RETURN_IF_ERROR(visit_segment(source));
  for (PendingReader& pending : pending_) PIGMENT_RETURN_IF_ERROR(visit_pending(pending));
  for (CachedPending& pending : cached_) PIGMENT_RETURN_IF_ERROR(visit_pending(pending.chain));
  return Status::Ok();
}

Status HostSearch::VisitSegmentKeys(const SegmentSource& source, std::optional<uint32_t> column,
                                    const FingerprintVisitor& visit) {
  const Segment& segment = *source.segment;
  const uint32_t rows = segment.info().rows;
  std::vector<uint64_t> fingerprints(rows);
  PIGMENT_RETURN_IF_ERROR(segment.VisitKeys(0, rows, [&](const HostKey& key, uint32_t row) {
    if (!column || key.column == *column) fingerprints[row] += HostKeyFingerprint(key);
  }));
  RowSet unindexed = RowSet::Nothing(rows);
  if (const auto reader = segment.NewInvertedReader(); reader != nullptr) {
    PIGMENT_ASSIGN_OR_RETURN(unindexed, reader->UnindexedRows());
  }
  PointerWindow pointers(&segment);
  for (uint32_t row = 0; row < rows; ++row) {
    if (!IsAllowed(source.live, row) || unindexed.Test(row)) continue;
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t pointer, pointers.Read(row));
    PIGMENT_RETURN_IF_ERROR(visit(pointer, fingerprints[row]));
  }
  return Status::Ok();
}

Status HostSearch::VisitPendingKeys(PendingReader& pending, std::optional<uint32_t> column,
                                    const FingerprintVisitor& visit) {
  return VisitMatching(pending, options_.filter, true,
                       [&](const PendingRow& row, uint32_t physical) -> Status {
                         uint64_t fingerprint = 0;
                         const Status read = VisitHostKeys(row.keys(), [&](const HostKey& key) {
                           if (!column || key.column == *column)
                             fingerprint += HostKeyFingerprint(key);
                         });
                         if (!read.ok()) return pending.Damaged(physical, read.message());
                         return visit(row.head.row_pointer, fingerprint);
                       });
}

Status HostSearch::VisitKeys(std::optional<uint32_t> column, const FingerprintVisitor& visit) {
  return VisitSources(
      [&](const SegmentSource& source) { return VisitSegmentKeys(source, column, visit); },
      [&](PendingReader& pending) { return VisitPendingKeys(pending, column, visit); });
}

Status HostSearch::VisitSegmentVectors(const SegmentSource& source,
                                       const FingerprintVisitor& visit) {
  const Segment& segment = *source.segment;
  PointerWindow pointers(&segment);
  RowVectors vectors(&segment);
  for (uint32_t row = 0; row < segment.info().rows; ++row) {
    if (!IsAllowed(source.live, row)) continue;
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t pointer, pointers.Read(row));
    PIGMENT_ASSIGN_OR_RETURN(const uint32_t number, vectors.Number(row));
    PIGMENT_ASSIGN_OR_RETURN(const std::span<const float> vector, vectors.ReadIfAny(number));
    PIGMENT_RETURN_IF_ERROR(visit(pointer, HostVectorFingerprint(std::as_bytes(vector))));
  }
  return Status::Ok();
}

Status HostSearch::VisitPendingVectors(PendingReader& pending, const FingerprintVisitor& visit) {
  return VisitMatching(
      pending, options_.filter, true, [&](const PendingRow& row, uint32_t) -> Status {
        PIGMENT_ASSIGN_OR_RETURN(const bool found, pending.ReadVector(row, &vector_));
        if (!found) return Status::Ok();
        return visit(row.head.row_pointer,
                     HostVectorFingerprint(std::as_bytes(std::span(vector_))));
      });
}

Status HostSearch::VisitVectors(const FingerprintVisitor& visit) {
  return VisitSources(
      [&](const SegmentSource& source) { return VisitSegmentVectors(source, visit); },
      [&](PendingReader& pending) { return VisitPendingVectors(pending, visit); });
}

}  // namespace pigment
