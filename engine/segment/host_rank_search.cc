// SPDX-License-Identifier: Apache-2.0
//
// Passes over segments and pending pages.

#include "engine/segment/host_rank_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/inverted/posting_list.h"
#include "engine/segment/host_keys.h"

namespace pigment {
namespace {

constexpr size_t kRowsFirst = 128;
constexpr size_t kCapacityGrowth = 4;

}  // namespace

std::span<const uint32_t> HostRowNumbers::Of(uint32_t column,
                                             const InvertedReader::Group& group) const {
  if (column != column_ || numbers_.empty() || !is_known_[group.first / 64]) return {};
  return std::span(numbers_).subspan(group.first, group.rows);
}

void HostRowNumbers::Keep(uint32_t column, const InvertedReader::Group& group,
                          uint32_t segment_rows, std::span<const uint32_t> numbers) {
  if (segment_rows > kRowsMax) return;
  if (column != column_ || numbers_.empty()) {
    column_ = column;
    numbers_.assign(segment_rows, 0);
    is_known_.assign((size_t{segment_rows} + 63) / 64, false);
  }
  std::copy(numbers.begin(), numbers.end(), numbers_.begin() + group.first);
  is_known_[group.first / 64] = true;
}

// ---- Sources

Status HostRankSearch::AddSegment(const Segment* segment, std::span<const uint8_t> deleted,
                                  HostRowNumbers* numbers) {
  PIGMENT_ASSIGN_OR_RETURN(SearchedRows live, SearchedRowsOf(*segment, deleted, options_.filter));
  unindexed_rows_ += live.unindexed;
  segments_.push_back({segment, std::move(live), numbers});
  shared_.Add(segment);
  return Status::Ok();
}

void HostRankSearch::AddPending(BlockSource* source, uint32_t stamp, uint32_t first) {
  pending_.emplace_back(PendingChain{.source = source, .stamp = stamp, .first = first});
}

void HostRankSearch::AddPending(BlockSource* source, std::shared_ptr<PendingCache> cache) {
  cached_.emplace_back(std::move(cache), source, &shared_);
}

uint64_t HostRankSearch::segment_rows() const {
  uint64_t rows = 0;
  for (const SegmentSource& source : segments_) rows += source.live.count;
  return rows;
}

// ---- What passes read

Status HostRankSearch::VisitLists(InvertedReader& reader, const InvertedReader::Group& group,
                                  std::string_view prefix,
                                  const InvertedReader::ListVisitor& visit) const {
  constexpr HostKey::Kind kElement = HostKey::Kind::kElement;
  return reader.VisitLists(group, HostFieldKey(options_.column, kElement), HostFieldType(kElement),
                           prefix, visit);
}

RowMask HostRankSearch::LiveOf(const SegmentSource& source, const InvertedReader::Group& group) {
  const RowMask mask(source.live.mask);
  return mask.empty() ? mask : mask.subspan(group.first / 64, (group.rows + 63) / 64);
}

Status HostRankSearch::Damaged(const SegmentSource& source, std::string_view what) {
  return DataLoss(Detail::kMiscounted, "", -1,
                  fmt::format("segment {}: {}", source.segment->info().segment, what));
}

Result<RowSet> HostRankSearch::RowsWithValue(const SegmentSource& source,
                                             InvertedReader& reader) const {
  constexpr HostKey::Kind kValue = HostKey::Kind::kValue;
  RowSet rows = RowSet::Nothing(source.segment->info().rows);
  PIGMENT_RETURN_IF_ERROR(
      reader.AddField(HostFieldKey(options_.column, kValue), HostFieldType(kValue), rows));
  return rows;
}

Status HostRankSearch::VisitPages(PendingReader& pages, const PendingVisitor& visit) {
  return VisitMatching(pages, options_.filter, true, [&](const PendingRow& row, uint32_t) {
    return visit(row.head.row_pointer, row.keys());
  });
}

Status HostRankSearch::VisitPending(const PendingVisitor& visit) {
  for (PendingReader& pages : pending_) PIGMENT_RETURN_IF_ERROR(VisitPages(pages, visit));
  for (CachedChain& pending : cached_) {
    PIGMENT_RETURN_IF_ERROR(pending.Begin());
    const PendingCache& cache = *pending.cache;
    for (size_t i = 0; i < *pending.rows; ++i) {
      PIGMENT_ASSIGN_OR_RETURN(const bool matches, pending.Matches(i, options_.filter));
      if (!matches) continue;
      const PendingCache::Row& row = cache.row(i);
      PIGMENT_RETURN_IF_ERROR(visit(row.row_pointer, cache.keys(row)));
    }
    if (pending.rest) PIGMENT_RETURN_IF_ERROR(VisitPages(*pending.rest, visit));
  }
  return Status::Ok();
}

Status HostRankSearch::VisitGroups(const SegmentSource& source, const GroupVisitor& visit) {
  if (source.live.count == 0) return Status::Ok();
  const auto reader = source.segment->NewInvertedReader();
  if (reader == nullptr) {
    return DataLoss(Detail::kMissing, "", -1,
                    fmt::format("segment {} has no index of keys, and rows are ranked by it",
                                source.segment->info().segment));
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<InvertedReader::Group> groups, reader->Groups());
  for (const InvertedReader::Group& group : groups) {
    if (!AnyAllowed(source.live.mask, group.first, group.rows)) continue;
    PIGMENT_RETURN_IF_ERROR(group.is_indexed ? visit(*reader, group)
                                             : ScanUnindexed(source, group));
  }
  return Status::Ok();
}

Result<std::span<const uint32_t>> HostRankSearch::NumbersOf(const SegmentSource& source,
                                                            InvertedReader& reader,
                                                            const InvertedReader::Group& group,
                                                            std::string_view prefix,
                                                            const NumberReader& read) {
  if (source.numbers != nullptr) {
    const std::span<const uint32_t> kept = source.numbers->Of(options_.column, group);
    if (!kept.empty()) return kept;
  }
  room_.resize((size_t{group.rows} + 63) / 64);
  numbers_.assign(group.rows, 0);
  PIGMENT_RETURN_IF_ERROR(VisitLists(
      reader, group, prefix, [&](std::string_view rest, std::span<const std::byte> list) -> Status {
        const std::optional<uint32_t> number = read(rest);
        rows_.clear();
        if (!number || !ReadPostings(list, room_, group.rows, rows_))
          return Damaged(source, "a list of rows with one number is damaged");
        for (const uint32_t row : rows_) numbers_[row] = *number;
        return Status::Ok();
      }));
  if (source.numbers != nullptr)
    source.numbers->Keep(options_.column, group, source.segment->info().rows, numbers_);
  return std::span<const uint32_t>(numbers_);
}

// ---- Passes

Result<size_t> HostRankSearch::Next(std::span<HostRankHit> hits) {
  if (hits.empty()) return InvalidArgument("capacity is 0");
  while (given_ == batch_.size()) {
    if (is_exhausted_ && !Widen()) return size_t{0};
    is_exhausted_ = false;
    PIGMENT_RETURN_IF_ERROR(RunPass());
  }
  const size_t count = std::min(hits.size(), batch_.size() - given_);
  std::copy_n(batch_.begin() + static_cast<ptrdiff_t>(given_), count, hits.begin());
  given_ += count;
  return count;
}

void HostRankSearch::Offer(const HostRankHit& hit) {
  if (last_ && !(*last_ < hit)) return;
  if (batch_.size() < capacity_) {
    batch_.push_back(hit);
  } else {
    if (!(hit < batch_.front())) return;
    std::pop_heap(batch_.begin(), batch_.end());
    batch_.back() = hit;
  }
  std::push_heap(batch_.begin(), batch_.end());
}

Status HostRankSearch::OfferRow(PointerWindow& pointers, uint32_t row, int64_t rank) {
  if (!MayEnter(rank)) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t pointer, pointers.Read(row));
  Offer({rank, pointer});
  return Status::Ok();
}

Status HostRankSearch::RunPass() {
  const uint64_t most = std::max<uint64_t>(options_.batch_bytes_max / sizeof(HostRankHit), 1);
  const uint64_t first = options_.batch_rows_first != 0 ? options_.batch_rows_first : kRowsFirst;
  if (capacity_ == 0) capacity_ = static_cast<size_t>(std::min(first, most));
  batch_.clear();
  given_ = 0;
  rows_scored_ = pending_rows_ = 0;
  Status status = Status::Ok();
  for (const SegmentSource& source : segments_) {
    status = ScanSegment(source);
    if (!status.ok()) break;
  }
  if (status.ok()) {
    status = VisitPending([this](uint64_t row_pointer, std::span<const std::byte> keys) {
      ++pending_rows_;
      return ScanPendingRow(row_pointer, keys);
    });
  }
  if (!status.ok()) {
    batch_.clear();  // what was given stays: the next call begins this pass again
    return status;
  }
  ++passes_;
  std::sort_heap(batch_.begin(), batch_.end());
  is_exhausted_ = batch_.size() < capacity_;
  // A row that was copied while it moved would be there twice.
  batch_.erase(std::unique(batch_.begin(), batch_.end()), batch_.end());
  if (!batch_.empty()) last_ = batch_.back();
  capacity_ = static_cast<size_t>(std::min<uint64_t>(uint64_t{capacity_} * kCapacityGrowth, most));
  return Status::Ok();
}

}  // namespace pigment
