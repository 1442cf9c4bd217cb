// SPDX-License-Identifier: Apache-2.0
//
// Chunks, then byte codes, then vectors: see the header.

#include "engine/segment/pending_search.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "engine/base/prefetch.h"

namespace pigment {
namespace {

// Of so many rows the nearest are compared before others are gathered.
constexpr size_t kGatheredMax = 512;
// Rows that are bounded together, and of these the first, which are asked for ahead.
constexpr size_t kRowsAtOnce = 64;
constexpr size_t kRowsExpected = 8;

}  // namespace

bool PendingSearch::PrepareChunks(size_t first) {
  const PendingCache& cache = *source_.cache;
  if (cache.chunked_rows() < first + kRowsWorthChunks || !cache.HasChunks(source_.metric))
    return false;
  if (!chunk_query_) {
    const GraphSpace& space = *cache.chunks().front().codes.space();
    GraphQuery point(space, source_.query);
    if (!point.is_finite()) return false;
    SignCodeQuery signs(point.point(), ChunkCodeBits(space));
    DistanceFunction distance(Metric::kL2, point.point());
    chunk_query_.emplace(ChunkQuery{std::move(point), std::move(signs), std::move(distance)});
  }
  return true;
}

float PendingSearch::BoundOf(size_t row) const {
  float bound = 0;
  source_.codes->LowerBounds(source_.cache->codes(row), 1, &bound);
  return bound;
}

Status PendingSearch::CheckDimension(size_t row) const {
  const PendingCache::Row& read = source_.cache->row(row);
  if (read.dimension == source_.query.size()) return Status::Ok();
  return source_.chain->OtherDimension(read.physical, read.dimension,
                                       static_cast<uint32_t>(source_.query.size()));
}

Status PendingSearch::CompareRow(size_t row, const Wanted& wanted) {
  if (wanted.matches) {
    PIGMENT_ASSIGN_OR_RETURN(const bool matches, wanted.matches(row));
    if (!matches) return Status::Ok();
    ++rows_matched_;
  }
  const PendingCache::Row& place = source_.cache->row(row);
  return source_.chain->VisitEntries(
      place.physical, std::span(&place.entry, 1),
      [&](const PendingRow& read, uint32_t physical) -> Status {
        if (read.head.dimension() != source_.query.size())
          return source_.chain->OtherDimension(physical, read.head.dimension(),
                                               static_cast<uint32_t>(source_.query.size()));
        PIGMENT_ASSIGN_OR_RETURN(const bool found, source_.chain->ReadVector(read, &vector_));
        if (!found) return Status::Ok();
        const float distance = (*source_.distance)(vector_.data());
        if (distance != distance || !nearest_.MayEnter(distance)) return Status::Ok();
        nearest_.Offer(distance, row);
        if (space_ != nullptr) limit_square_ = space_->SquareOf(nearest_.worst());
        return Status::Ok();
      });
}

Status PendingSearch::CompareGathered(const Wanted& wanted) {
  std::sort(gathered_.begin(), gathered_.end());
  const size_t code_bytes = ByteCodeBytes(source_.cache->dimension());
  for (size_t next = 0; next < gathered_.size();) {
    bounded_.clear();
    // These lie all over the cache, and nothing is known of them in time but where.
    const size_t soon = std::min(next + kRowsExpected, gathered_.size());
    for (size_t i = next; i < soon; ++i)
      ExpectBytes(source_.cache->codes(static_cast<uint32_t>(gathered_[i])), code_bytes);
    for (; next < gathered_.size() && bounded_.size() < kRowsAtOnce; ++next) {
      if (DistanceOfKey(static_cast<uint32_t>(gathered_[next] >> 32)) > limit_square_) {
        next = gathered_.size();
        break;
      }
      const auto row = static_cast<uint32_t>(gathered_[next]);
      const float bound = BoundOf(row);
      if (nearest_.MayEnter(bound)) bounded_.push_back(PromiseOf(bound, row));
    }
    PIGMENT_RETURN_IF_ERROR(CompareBounded(wanted));
  }
  gathered_.clear();
  return Status::Ok();
}

Status PendingSearch::CompareBounded(const Wanted& wanted) {
  std::sort(bounded_.begin(), bounded_.end());
  for (const uint64_t promise : bounded_) {
    // What says nothing (NaN) comes last, and may enter.
    if (nearest_.MayEnter(DistanceOfKey(static_cast<uint32_t>(promise >> 32))))
      PIGMENT_RETURN_IF_ERROR(CompareRow(static_cast<uint32_t>(promise), wanted));
  }
  return Status::Ok();
}

Status PendingSearch::CompareHanging(const Wanted& wanted) {
  const PendingCache::Hanging& hanging = source_.cache->hanging();
  const Graft::Met met = hanging.graft->Meet(*wanted.graft, wanted.nodes, {}, source_.errors);
  space_ = &wanted.graft->point();
  limit_square_ = space_->SquareOf(nearest_.worst());
  for (size_t i = 0; i < met.rows.size(); ++i) {
    if (!(met.bounds[i] > limit_square_))
      gathered_.push_back(PromiseOf(met.bounds[i], hanging.rows[met.rows[i]]));
  }
  rows_scored_ += met.rows.size();
  PIGMENT_RETURN_IF_ERROR(CompareGathered(wanted));
  for (const uint32_t row : hanging.others) PIGMENT_RETURN_IF_ERROR(CompareRows(row, 1, wanted));
  return Status::Ok();
}

Status PendingSearch::CompareChunks(size_t first, const Wanted& wanted) {
  space_ = &chunk_query_->point;
  limit_square_ = space_->SquareOf(nearest_.worst());
  PIGMENT_RETURN_IF_ERROR(GatherChunks(first, wanted));
  for (const uint32_t row : source_.cache->unchunked()) {
    if (row >= first) PIGMENT_RETURN_IF_ERROR(CompareRows(row, 1, wanted));
  }
  return Status::Ok();
}

Status PendingSearch::GatherChunks(size_t first, const Wanted& wanted) {
  float bounds[kLinksPerNodeMax];
  const float* centroid = nullptr;
  float square = 0;
  for (const PendingCache::Chunk& chunk : source_.cache->chunks()) {
    if (chunk.rows.back() < first) continue;
    if (chunk.codes.centroid().data() != centroid) {
      centroid = chunk.codes.centroid().data();
      square = chunk_query_->distance(centroid);
    }
    for (uint32_t number = 0; number < chunk.codes.nodes(); ++number) {
      const GraphNode node = chunk.codes.node(number);
      if (number + 1 < chunk.codes.nodes()) node.ExpectNext();
      for (uint32_t near =
               node.LinksWithin(chunk_query_->signs, square, source_.errors, limit_square_, bounds);
           near != 0; near &= near - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(near));
        const uint32_t row = chunk.rows[node.link(i)];
        if (row >= first) gathered_.push_back(PromiseOf(bounds[i], row));
      }
    }
    rows_scored_ += chunk.rows.size();
    if (gathered_.size() >= kGatheredMax) PIGMENT_RETURN_IF_ERROR(CompareGathered(wanted));
  }
  return CompareGathered(wanted);
}

Status PendingSearch::CompareRows(size_t first, size_t count, const Wanted& wanted) {
  float bounds[kRowsAtOnce];
  source_.codes->LowerBounds(source_.cache->codes(first), count, bounds);
  bounded_.clear();
  for (size_t row = first; row < first + count; ++row) {
    if (source_.cache->row(row).dimension == 0) continue;
    PIGMENT_RETURN_IF_ERROR(CheckDimension(row));
    ++rows_scored_;
    const float bound = bounds[row - first];
    if (nearest_.MayEnter(bound)) bounded_.push_back(PromiseOf(bound, static_cast<uint32_t>(row)));
  }
  return CompareBounded(wanted);
}

Result<std::vector<PendingHit>> PendingSearch::Nearest(const Wanted& wanted) {
  nearest_ = TopK(wanted.k, wanted.limit);
  rows_scored_ = rows_matched_ = 0;
  gathered_.clear();
  space_ = nullptr;
  size_t first = 0;
  if (wanted.graft != nullptr) {
    PIGMENT_RETURN_IF_ERROR(CompareHanging(wanted));
    first = source_.cache->hanging().end();
  }
  // Of rows that came since the search began some may be in chunks by now.
  if (source_.cache->chunked_rows() <= wanted.rows && PrepareChunks(first)) {
    PIGMENT_RETURN_IF_ERROR(CompareChunks(first, wanted));
    first = std::max(first, source_.cache->chunked_rows());
  }
  for (; first < wanted.rows; first += kRowsAtOnce)
    PIGMENT_RETURN_IF_ERROR(CompareRows(first, std::min(kRowsAtOnce, wanted.rows - first), wanted));
  std::vector<PendingHit> hits;
  for (const Scored& scored : nearest_.TakeSorted())
    hits.push_back({scored.distance, static_cast<uint32_t>(scored.tie)});
  return hits;
}

}  // namespace pigment
