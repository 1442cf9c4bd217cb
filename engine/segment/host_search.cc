// SPDX-License-Identifier: Apache-2.0
//
// Passes over segments and pending pages.

#include "engine/segment/host_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "engine/segment/host_pages.h"
#include "engine/segment/part_reader.h"
#include "engine/vector/top_k.h"

namespace pigment {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
constexpr size_t kGrowth = 4;
constexpr uint32_t kPointersPerRead = ElementsPerBlock(sizeof(uint64_t));

Status DamagedPage(const BlockSource* source, uint32_t physical, const std::string& what) {
  return DataLoss(Detail::kMiscounted, source->name(),
                  static_cast<int64_t>(physical) * static_cast<int64_t>(kBlockBytes),
                  fmt::format("page {} of \"{}\": {}", physical, source->name(), what));
}

// Row pointers by ascending row, a block at a time.
class PointerWindow {
 public:
  explicit PointerWindow(const Segment* segment) : segment_(segment) {}

  Result<uint64_t> Read(uint32_t row) {
    if (window_.empty() || row < first_ || row - first_ >= window_.size()) {
      first_ = row / kPointersPerRead * kPointersPerRead;
      window_.resize(std::min(kPointersPerRead, segment_->info().rows - first_));
      const Status status = segment_->ReadRowPointers(first_, window_);
      if (!status.ok()) {
        window_.clear();
        return status;
      }
    }
    return window_[row - first_];
  }

 private:
  const Segment* segment_;
  uint32_t first_ = 0;
  std::vector<uint64_t> window_;
};

}  // namespace

float HostHit::distance() const {
  if (key >= kNan) return kNothing;
  return std::bit_cast<float>(key & 0x80000000 ? key & 0x7FFFFFFF : ~key);
}

HostSearch::HostSearch(HostSearchOptions options)
    : options_(std::move(options)), cursor_distance_(kNothing), worst_(kNothing) {
  if (options_.query) query_.emplace_back(options_.metric, *options_.query);
  const uint64_t most = std::max<uint64_t>(options_.batch_bytes_max / sizeof(HostHit), 1);
  capacity_ = static_cast<size_t>(std::min<uint64_t>(options_.batch_rows_first, most));
}

Status HostSearch::AddSegment(const Segment* segment, std::span<const uint8_t> deleted) {
  const SegmentInfo& info = segment->info();
  if (options_.query && info.vectors != 0 && info.dimension != options_.dimension) {
    return InvalidArgument(Detail::kDimension,
                           fmt::format("dimension mismatch: segment {} has {}, got {}",
                                       info.segment, info.dimension, options_.dimension));
  }
  SegmentSource source{segment, {}};
  if (!deleted.empty()) {
    source.live.assign((size_t{info.rows} + 63) / 64, 0);
    const size_t bytes = std::min(deleted.size(), source.live.size() * sizeof(uint64_t));
    if (bytes != 0) std::memcpy(source.live.data(), deleted.data(), bytes);
    for (uint64_t& word : source.live) word = ~word;
    // Bits behind the last row must not make a block look wanted.
    if (info.rows % 64 != 0) source.live.back() &= ~uint64_t{0} >> (64 - info.rows % 64);
  }
  segments_.push_back(std::move(source));
  return Status::Ok();
}

void HostSearch::AddPending(BlockSource* source, uint32_t stamp, uint32_t first) {
  pending_.push_back({source, stamp, first});
}

Result<size_t> HostSearch::Next(std::span<HostHit> hits) {
  if (hits.empty()) return InvalidArgument("capacity is 0");
  while (given_ == batch_.size()) {
    if (is_exhausted_) return size_t{0};
    PIGMENT_RETURN_IF_ERROR(RunPass());
  }
  const size_t count = std::min(hits.size(), batch_.size() - given_);
  std::copy_n(batch_.begin() + static_cast<ptrdiff_t>(given_), count, hits.begin());
  given_ += count;
  return count;
}

void HostSearch::Offer(HostHit hit) {
  if (cursor_ && !(*cursor_ < hit)) return;
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

Status HostSearch::RunPass() {
  if (!batch_.empty()) cursor_ = batch_.back();
  cursor_distance_ = cursor_ ? cursor_->distance() : kNothing;
  batch_.clear();
  given_ = 0;
  worst_ = kNothing;
  constexpr size_t kReservedMax = 4096;  // the host's numbers may be far above the rows there are
  batch_.reserve(std::min(capacity_, kReservedMax));
  const auto pass = [this]() -> Status {
    for (const SegmentSource& source : segments_) PIGMENT_RETURN_IF_ERROR(ScanSegment(source));
    for (PendingSource& source : pending_) PIGMENT_RETURN_IF_ERROR(ScanPending(source));
    return Status::Ok();
  };
  Status status = pass();
  if (!status.ok()) {
    batch_.clear();  // the cursor stays: the next call begins this pass again
    return status;
  }
  ++passes_;
  std::sort_heap(batch_.begin(), batch_.end());
  is_exhausted_ = batch_.size() < capacity_;
  // Equal hits would be one row twice; across batches the cursor drops the second, so it is dropped
  // here too.
  batch_.erase(std::unique(batch_.begin(), batch_.end()), batch_.end());
  const uint64_t most = std::max<uint64_t>(options_.batch_bytes_max / sizeof(HostHit), 1);
  capacity_ = static_cast<size_t>(std::min<uint64_t>(most, uint64_t{capacity_} * kGrowth));
  return Status::Ok();
}

Status HostSearch::ScanSegment(const SegmentSource& source) {
  PointerWindow pointers(source.segment);
  const auto offer = [&](uint32_t row, uint32_t key) -> Status {
    if (IsBeforeCursor(key) || !IsAllowed(source.live, row)) return Status::Ok();
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t pointer, pointers.Read(row));
    Offer({key, pointer});
    return Status::Ok();
  };
  if (query_.empty()) {
    for (uint32_t row = 0; row < source.segment->info().rows; ++row) {
      PIGMENT_RETURN_IF_ERROR(offer(row, HostHit::kNoVectorKey));
    }
    return Status::Ok();
  }
  RowScan scan;
  if (!IsBeforeCursor(HostHit::kNan))
    scan.queries = query_;  // otherwise only rows without a vector are left
  scan.allowed_rows = source.live;
  scan.visit = [&](const ScoredRows& scored) -> Status {
    rows_scored_ += scored.count;
    for (size_t i = 0; i < scored.count; ++i) {
      const float distance = scored.distances[i];
      if (MayEnter(distance)) PIGMENT_RETURN_IF_ERROR(offer(scored.row(i), DistanceKey(distance)));
    }
    return Status::Ok();
  };
  scan.visit_without_vector = [&](std::span<const uint32_t> rows) -> Status {
    // Numbers alone fill the heap: none of these can enter.
    if (batch_.size() == capacity_ && batch_.front().key < HostHit::kNan) return Status::Ok();
    for (const uint32_t row : rows) PIGMENT_RETURN_IF_ERROR(offer(row, HostHit::kNoVectorKey));
    return Status::Ok();
  };
  return ScanRows(*source.segment, scan);
}

Status HostSearch::ScanPending(PendingSource& source) {
  uint32_t physical = source.first;
  uint64_t pages = 0;
  uint32_t entries = 0;
  uint64_t power = 1;
  uint32_t milestone = kNoBlock;  // Brent's cycle detection: a chain that returns to it never ends
  while (physical != kNoBlock && (!source.is_bounded || pages < source.pages)) {
    PIGMENT_ASSIGN_OR_RETURN(const PinnedBlock page, PinUnchecked(source.source, physical));
    PIGMENT_RETURN_IF_ERROR(
        CheckPendingPage(page.block(), source.stamp, physical, source.source->name()));
    const PendingHeader header = ReadPendingHeader(page.block());
    ++pages;
    entries = header.entries;
    if (source.is_bounded && pages == source.pages) {
      if (entries < source.last_entries)
        return DamagedPage(source.source, physical, "entries have disappeared");
      entries = source.last_entries;
    }
    PIGMENT_RETURN_IF_ERROR(ScanPendingPage(source, page.block(), physical, entries));
    if (header.next == milestone && header.next != kNoBlock) {
      return DamagedPage(source.source, physical,
                         "the chain of pending pages returns to where it was");
    }
    if (pages == power) {
      power *= 2;
      milestone = physical;
    }
    physical = header.next;
  }
  if (source.is_bounded && pages < source.pages) {
    return DamagedPage(source.source, source.first,
                       "the chain of pending pages has become shorter");
  }
  source.is_bounded = true;
  source.pages = pages;
  source.last_entries = entries;
  return Status::Ok();
}

Status HostSearch::ScanPendingPage(const PendingSource& source, ConstBlockBytes page,
                                   uint32_t physical, uint32_t entries) {
  for (uint32_t i = 0; i < entries; ++i) {
    const PendingSlot slot = ReadPendingSlot(page, i);
    if (slot.flags & kPendingDead) continue;
    const std::byte* bytes = BlockPayload(page).data() + slot.offset;
    PendingEntry entry;  // both forms begin with the row pointer
    std::memcpy(&entry, bytes, sizeof entry);
    if (query_.empty() || (!(slot.flags & kPendingOverflow) && entry.dimension == 0)) {
      Offer({HostHit::kNoVectorKey, entry.row_pointer});
    } else if (slot.flags & kPendingOverflow) {
      if (IsBeforeCursor(HostHit::kNan)) continue;
      PendingOverflowEntry overflow;
      std::memcpy(&overflow, bytes, sizeof overflow);
      PIGMENT_RETURN_IF_ERROR(ReadOverflow(source, overflow, physical));
      PIGMENT_RETURN_IF_ERROR(OfferPendingVector(source, overflow_.data(), physical));
    } else {
      PIGMENT_RETURN_IF_ERROR(OfferPendingVector(source, bytes, physical));
    }
  }
  return Status::Ok();
}

Status HostSearch::OfferPendingVector(const PendingSource& source, const std::byte* entry,
                                      uint32_t physical) {
  PendingEntry head;
  std::memcpy(&head, entry, sizeof head);
  if (head.dimension != options_.dimension) {
    return DamagedPage(
        source.source, physical,
        fmt::format("an entry has dimension {}, expected {}", head.dimension, options_.dimension));
  }
  if (IsBeforeCursor(HostHit::kNan)) return Status::Ok();
  vector_.resize(head.dimension);
  std::memcpy(vector_.data(), entry + sizeof head, vector_.size() * sizeof(float));
  const float distance = query_.front()(vector_.data());
  ++rows_scored_;
  if (MayEnter(distance)) Offer({DistanceKey(distance), head.row_pointer});
  return Status::Ok();
}

Status HostSearch::ReadOverflow(const PendingSource& source, const PendingOverflowEntry& entry,
                                uint32_t physical) {
  if (entry.entry_bytes != PendingEntryBytes(options_.dimension)) {
    return DamagedPage(source.source, physical,
                       fmt::format("an entry has {} bytes, expected {}", entry.entry_bytes,
                                   PendingEntryBytes(options_.dimension)));
  }
  overflow_.clear();
  uint32_t next = entry.first;
  while (overflow_.size() < entry.entry_bytes) {
    PIGMENT_ASSIGN_OR_RETURN(
        const PinnedBlock page,
        PinChecked(source.source, next, {BlockKind::kOverflow, source.stamp, next}));
    OverflowHeader header;
    std::memcpy(&header, page.payload(), sizeof header);
    if (header.offset != overflow_.size() || header.bytes == 0 ||
        header.bytes > kOverflowCapacity || header.bytes > entry.entry_bytes - overflow_.size()) {
      return DamagedPage(
          source.source, next,
          fmt::format("{} bytes at {} of an entry of {}, expected at {}", header.bytes,
                      header.offset, entry.entry_bytes, overflow_.size()));
    }
    const std::byte* bytes = page.payload() + sizeof header;
    overflow_.insert(overflow_.end(), bytes, bytes + header.bytes);
    next = header.next;
  }
  uint64_t row_pointer;
  std::memcpy(&row_pointer, overflow_.data(), sizeof row_pointer);
  if (row_pointer != entry.row_pointer) {
    return DamagedPage(
        source.source, entry.first,
        fmt::format("holds row {:#x}, expected {:#x}", row_pointer, entry.row_pointer));
  }
  return Status::Ok();
}

}  // namespace pigment
