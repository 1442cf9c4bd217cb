// SPDX-License-Identifier: Apache-2.0
//
// HostRankSearch: a resumable search of a host's rows by a rank that the elements of one of their
// columns give (host_keys.h): the lowest first, then those whose column is NULL; equal ones by row
// pointer. As in HostSearch (host_search.h) each pass reads everything and keeps the next rows
// beyond the last one given in a bounded heap, and passes grow. What a rank is says who derives
// from it: HostTextSearch (host_text_search.h), HostSparseSearch (host_sparse_search.h).
//
// One thread; segments and sources are borrowed.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/block/block_source.h"
#include "engine/inverted/row_set.h"
#include "engine/segment/host_filter.h"
#include "engine/segment/host_pending.h"
#include "engine/segment/inverted_reader.h"
#include "engine/segment/pending_cache.h"
#include "engine/segment/pending_reader.h"
#include "engine/segment/row_window.h"
#include "engine/segment/segment.h"
#include "engine/vector/row_mask.h"

namespace pigment {

struct HostRankOptions {
  uint32_t column = 0;
  size_t batch_rows_first = 0;  // of the first pass; 0: as many as suit
  uint64_t batch_bytes_max = uint64_t{4} << 20;
  std::optional<HostFilter> filter = std::nullopt;  // absent: every row
};

struct HostRankHit {
  int64_t rank = 0;  // or kNull
  uint64_t row_pointer = 0;

  static constexpr int64_t kNull = INT64_MAX;

  friend bool operator<(const HostRankHit& a, const HostRankHit& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.row_pointer < b.row_pointer;
  }
  bool operator==(const HostRankHit&) const = default;
};

// A number of each row of a segment, read from lists and kept from one search to the next by
// whoever keeps the segment: of the groups that searches have met, of one column, and of no larger
// segments than these. One thread.
class HostRowNumbers {
 public:
  static constexpr uint32_t kRowsMax = uint32_t{1} << 20;

  // Those of a group's rows; empty: they are not here.
  std::span<const uint32_t> Of(uint32_t column, const InvertedReader::Group& group) const;
  void Keep(uint32_t column, const InvertedReader::Group& group, uint32_t segment_rows,
            std::span<const uint32_t> numbers);

 private:
  uint32_t column_ = 0;
  std::vector<uint32_t> numbers_;
  std::vector<bool> is_known_;  // by 64 rows, with which groups begin
};

class HostRankSearch {
 public:
  HostRankSearch(const HostRankSearch&) = delete;
  HostRankSearch& operator=(const HostRankSearch&) = delete;
  virtual ~HostRankSearch() = default;

  // As HostSearch has them. `numbers`, which may be null, are of this segment and borrowed as it
  // is.
  Status AddSegment(const Segment* segment, std::span<const uint8_t> deleted,
                    HostRowNumbers* numbers = nullptr);
  void AddPending(BlockSource* source, uint32_t stamp, uint32_t first);
  void AddPending(BlockSource* source, std::shared_ptr<PendingCache> cache);

  // The next hits, at least one unless all were given. After an error nothing is lost: the call may
  // be repeated.
  Result<size_t> Next(std::span<HostRankHit> hits);

  bool has_filter() const { return options_.filter.has_value(); }
  uint64_t passes() const { return passes_; }
  uint64_t rows_scored() const { return rows_scored_; }  // that have something of the query
  uint64_t segment_rows() const;
  uint64_t pending_rows() const { return pending_rows_; }
  uint64_t unindexed_rows() const { return unindexed_rows_; }  // of which the filter knows nothing

 protected:
  struct SegmentSource {
    const Segment* segment;
    SearchedRows live;
    HostRowNumbers* numbers;
  };
  using PendingVisitor =
      std::function<Status(uint64_t row_pointer, std::span<const std::byte> keys)>;
  using GroupVisitor = std::function<Status(InvertedReader& reader, const InvertedReader::Group&)>;
  // A number by what stands behind the prefix in an element; none: that is damaged.
  using NumberReader = std::function<std::optional<uint32_t>(std::string_view rest)>;

  // One row of so many is sorted in the time in which all are looked at.
  static constexpr size_t kSortedOfRows = 16;

  explicit HostRankSearch(HostRankOptions options) : options_(std::move(options)) {}

  // What a pass does: offers rows, and adds to rows_scored_.
  virtual Status ScanSegment(const SegmentSource& source) = 0;
  virtual Status ScanPendingRow(uint64_t row_pointer, std::span<const std::byte> keys) = 0;
  // Called when all that passes look at were given: false: these are all rows there are; true: the
  // passes that follow look at more, which come behind the others.
  virtual bool Widen() { return false; }
  // The rows of a group that is not indexed cannot be read by lists.
  virtual Status ScanUnindexed(const SegmentSource& source, const InvertedReader::Group& group) = 0;

  uint32_t column() const { return options_.column; }
  const std::vector<SegmentSource>& segments() const { return segments_; }
  // Calls `visit` for the lists of the column's elements that begin so, as the reader has it.
  Status VisitLists(InvertedReader& reader, const InvertedReader::Group& group,
                    std::string_view prefix, const InvertedReader::ListVisitor& visit) const;
  // The rows of the segment whose column is not NULL.
  Result<RowSet> RowsWithValue(const SegmentSource& source, InvertedReader& reader) const;
  // Calls `visit` for the pending rows that the filter lets through.
  Status VisitPending(const PendingVisitor& visit);
  // Calls `visit` for each group that has live rows, or ScanUnindexed.
  Status VisitGroups(const SegmentSource& source, const GroupVisitor& visit);
  // Numbers that lists whose elements begin with `prefix` give their rows, of those of a group; 0
  // where none does. Valid until the next call.
  Result<std::span<const uint32_t>> NumbersOf(const SegmentSource& source, InvertedReader& reader,
                                              const InvertedReader::Group& group,
                                              std::string_view prefix, const NumberReader& read);
  // Words of the rows of a group; empty: all are live.
  static RowMask LiveOf(const SegmentSource& source, const InvertedReader::Group& group);
  static Status Damaged(const SegmentSource& source, std::string_view what);

  // What no row with a greater rank is among the next of; none: as many as there is room for.
  std::optional<int64_t> GreatestRank() const {
    return batch_.size() == capacity_ ? std::optional(batch_[0].rank) : std::nullopt;
  }
  // Whether a row with such a rank is too far to be among the next.
  bool IsTooFar(int64_t rank) const { return batch_.size() == capacity_ && rank > batch_[0].rank; }
  // Whether it may be among them; if not, it is too far or was given.
  bool MayEnter(int64_t rank) const { return !(last_ && rank < last_->rank) && !IsTooFar(rank); }
  void Offer(const HostRankHit& hit);
  // A row of the segment that the window is of.
  Status OfferRow(PointerWindow& pointers, uint32_t row, int64_t rank);

  std::vector<uint64_t> room_;  // for the rows of a group, where lists are read
  uint64_t rows_scored_ = 0;

 private:
  Status VisitPages(PendingReader& pages, const PendingVisitor& visit);
  Status RunPass();

  const HostRankOptions options_;
  std::vector<SegmentSource> segments_;
  SharedVectors shared_;  // of these, for what a cache keeps of pending rows
  std::vector<PendingReader> pending_;
  std::vector<CachedChain> cached_;
  std::vector<uint32_t> numbers_;  // of a row group
  std::vector<uint32_t> rows_;     // of a list

  // The batch being given out, ascending; in a pass a heap with the last on top.
  std::vector<HostRankHit> batch_;
  size_t given_ = 0;
  size_t capacity_ = 0;
  bool is_exhausted_ = false;
  std::optional<HostRankHit> last_;  // that was given

  uint64_t passes_ = 0;
  uint64_t pending_rows_ = 0;
  uint64_t unindexed_rows_ = 0;
};

}  // namespace pigment
