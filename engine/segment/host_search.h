// SPDX-License-Identifier: Apache-2.0
//
// HostSearch: a resumable exact search over segments and pending pages of a host, in the total
// order (class, distance, row pointer), where class puts numbers before NaN before rows without a
// vector. Each pass reads everything and keeps the next rows beyond the last one given, in a
// bounded heap; passes grow, so memory is bounded and no set of given rows is needed. One thread at
// a time; segments and sources are borrowed for its life.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/block/block_source.h"
#include "engine/segment/host_pages.h"
#include "engine/segment/row_scan.h"
#include "engine/segment/segment.h"

namespace pigment {

struct HostSearchOptions {
  Metric metric = Metric::kL2;
  uint32_t dimension = 0;
  std::optional<std::vector<float>> query;  // absent: no ranking
  size_t batch_rows_first = 64;             // > 0
  uint64_t batch_bytes_max = uint64_t{4} << 20;
};

struct HostHit {
  // Orders as the search does: DistanceKey of a number, then NaN, then no vector.
  uint32_t key = 0;
  uint64_t row_pointer = 0;

  static constexpr uint32_t kNan = 0xFFFFFFFE;
  static constexpr uint32_t kNoVectorKey = 0xFFFFFFFF;

  float distance() const;  // NaN for the last two classes
  friend bool operator<(const HostHit& a, const HostHit& b) {
    return a.key != b.key ? a.key < b.key : a.row_pointer < b.row_pointer;
  }
  bool operator==(const HostHit&) const = default;
};
static_assert(sizeof(HostHit) == 16);

class HostSearch {
 public:
  explicit HostSearch(HostSearchOptions options);
  HostSearch(const HostSearch&) = delete;
  HostSearch& operator=(const HostSearch&) = delete;

  // `deleted`: bit i % 8 of byte i / 8 is set where row i is deleted; rows beyond are live. Copied.
  Status AddSegment(const Segment* segment, std::span<const uint8_t> deleted);
  // The chain of pending pages from `first` (kNoBlock: none) whose pages carry `stamp`.
  void AddPending(BlockSource* source, uint32_t stamp, uint32_t first);

  // The next hits, at least one unless all were given. After an error nothing is lost: the call may
  // be repeated.
  Result<size_t> Next(std::span<HostHit> hits);

  uint64_t passes() const { return passes_; }
  uint64_t rows_scored() const { return rows_scored_; }

 private:
  struct SegmentSource {
    const Segment* segment;
    std::vector<uint64_t> live;  // empty: every row
  };
  struct PendingSource {
    BlockSource* source;
    uint32_t stamp;
    uint32_t first;
    bool is_bounded = false;  // the first complete pass has fixed how far the chain is read
    uint64_t pages = 0;
    uint32_t last_entries = 0;
  };

  Status RunPass();
  Status ScanSegment(const SegmentSource& source);
  Status ScanPending(PendingSource& source);
  Status ScanPendingPage(const PendingSource& source, ConstBlockBytes page, uint32_t physical,
                         uint32_t entries);
  Status ReadOverflow(const PendingSource& source, const PendingOverflowEntry& entry,
                      uint32_t physical);
  Status OfferPendingVector(const PendingSource& source, const std::byte* entry, uint32_t physical);

  bool MayEnter(float distance) const {
    return !(distance > worst_) && !(distance < cursor_distance_);
  }
  // Every hit with this key was given.
  bool IsBeforeCursor(uint32_t key) const { return cursor_ && key < cursor_->key; }
  void Offer(HostHit hit);

  const HostSearchOptions options_;
  std::vector<DistanceFunction> query_;  // one, or none without ranking
  std::vector<SegmentSource> segments_;
  std::vector<PendingSource> pending_;

  // The batch being given out, ascending; in a pass a heap with the largest first.
  std::vector<HostHit> batch_;
  size_t given_ = 0;
  size_t capacity_ = 0;  // of the next pass
  bool is_exhausted_ = false;
  std::optional<HostHit> cursor_;  // the last hit of the last batch
  float cursor_distance_;          // NaN when it rejects nothing
  float worst_;                    // likewise
  std::vector<std::byte> overflow_;
  std::vector<float> vector_;

  uint64_t passes_ = 0;
  uint64_t rows_scored_ = 0;
};

}  // namespace pigment
