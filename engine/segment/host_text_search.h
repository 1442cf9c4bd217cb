// SPDX-License-Identifier: Apache-2.0
//
// HostTextSearch: a resumable search of a host's texts (host_text.h) by the clauses of a query:
// rows that have one by their scores, the highest first, then those that score 0, then those whose
// column is NULL; equal ones by row pointer. As in HostSearch (host_search.h) each pass reads
// everything and keeps the next rows beyond the last one given in a bounded heap, and passes grow.
//
// The rows that have a word are found by its lists, a row group at a time: what they have is added
// up for each row of the group. The first passes look at these rows alone, the others at all.
//
// Rows that are in no index for want of memory cannot be ranked: kFailedPrecondition, as for texts
// that an analyzer of another identity read. One thread; segments and sources are borrowed.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/block/block_source.h"
#include "engine/segment/host_filter.h"
#include "engine/segment/host_pending.h"
#include "engine/segment/host_text.h"
#include "engine/segment/inverted_reader.h"
#include "engine/segment/pending_cache.h"
#include "engine/segment/pending_reader.h"
#include "engine/segment/segment.h"

namespace pigment {

struct HostTextSearchOptions {
  uint32_t column = 0;
  std::shared_ptr<const HostTextQuery> query;  // by its counts as they are at the first Next
  size_t batch_rows_first = 0;                 // of the first pass; 0: as many as suit
  uint64_t batch_bytes_max = uint64_t{4} << 20;
  std::optional<HostFilter> filter = std::nullopt;  // absent: every row
};

struct HostTextHit {
  int64_t rank = 0;  // the score's sum with its sign changed, or kNoText
  uint64_t row_pointer = 0;

  static constexpr int64_t kNoText = INT64_MAX;

  friend bool operator<(const HostTextHit& a, const HostTextHit& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.row_pointer < b.row_pointer;
  }
  bool operator==(const HostTextHit&) const = default;
};

// Lengths of the texts of a segment's rows, kept from one search to the next by whoever keeps the
// segment: by row, of the groups that searches have met. Of one column and of no larger segments
// than these. One thread.
class HostTextLengths {
 public:
  static constexpr uint32_t kRowsMax = uint32_t{1} << 20;

  // Those of a group's rows; empty: they are not here.
  std::span<const uint32_t> Of(uint32_t column, const InvertedReader::Group& group) const;
  void Keep(uint32_t column, const InvertedReader::Group& group, uint32_t segment_rows,
            std::span<const uint32_t> lengths);

 private:
  uint32_t column_ = 0;
  std::vector<uint32_t> lengths_;  // 0: none is known, or there are no words
  std::vector<bool> is_known_;     // by 64 rows, with which groups begin
};

class HostTextSearch {
 public:
  explicit HostTextSearch(HostTextSearchOptions options) : options_(std::move(options)) {}
  HostTextSearch(const HostTextSearch&) = delete;
  HostTextSearch& operator=(const HostTextSearch&) = delete;

  // As HostSearch has them. `lengths`, which may be null, are of this segment and borrowed as it
  // is.
  Status AddSegment(const Segment* segment, std::span<const uint8_t> deleted,
                    HostTextLengths* lengths = nullptr);
  void AddPending(BlockSource* source, uint32_t stamp, uint32_t first);
  void AddPending(BlockSource* source, std::shared_ptr<PendingCache> cache);

  // What the live rows of all sources, those that the filter lets through, have of the query.
  Result<HostTextCounts> Count();

  // The next hits, at least one unless all were given. After an error nothing is lost: the call may
  // be repeated.
  Result<size_t> Next(std::span<HostTextHit> hits);

  const HostTextQuery* query() const { return options_.query.get(); }
  uint64_t passes() const { return passes_; }
  uint64_t rows_scored() const { return rows_scored_; }  // that have a word
  uint64_t segment_rows() const;
  uint64_t pending_rows() const { return pending_rows_; }
  uint64_t unindexed_rows() const { return unindexed_rows_; }  // of which the filter knows nothing

 private:
  struct SegmentSource {
    const Segment* segment;
    SearchedRows live;
    HostTextLengths* lengths;
  };
  // Rows that have a clause so many times; a row is in one run of a clause.
  struct Run {
    size_t clause;
    uint32_t count;
    size_t begin;  // in rows_
    size_t end;
  };
  using PendingVisitor =
      std::function<Status(uint64_t row_pointer, std::span<const std::byte> keys)>;

  // Calls `visit` for the pending rows that the filter lets through.
  Status VisitPending(const PendingVisitor& visit);
  Status VisitPages(PendingReader& pages, const PendingVisitor& visit);

  Status CountSegment(const SegmentSource& source, HostTextCounts& counts);
  Status CountPending(HostTextCounts& counts);
  Status CheckMark(uint32_t analyzer_mark) const;

  Status RunPass();
  Status ScanSegment(const SegmentSource& source);
  Status ScanPending();
  // Adds up what rows of the group have into sums_, for live rows; found_ are those that have any.
  Status SumGroup(const SegmentSource& source, InvertedReader& reader,
                  const InvertedReader::Group& group);
  Status ReadRuns(InvertedReader& reader, const InvertedReader::Group& group);
  // Of the last runs, from `first` on, which are of the words that begin alike: those of all these
  // words together.
  void UniteRuns(size_t first, uint32_t rows);
  // Leaves no sum to rows that lack a required clause.
  void KeepWhatIsRequired(uint32_t rows);
  // Those of the group's rows, valid until the next call.
  Result<std::span<const uint32_t>> LengthsOf(const SegmentSource& source, InvertedReader& reader,
                                              const InvertedReader::Group& group);
  Status OfferGroup(const SegmentSource& source, const InvertedReader::Group& group,
                    const RowSet& has_text);
  // Whether a row with such a rank may be among the next.
  bool MayEnter(int64_t rank) const {
    return !(last_ && rank < last_->rank) && !(batch_.size() == capacity_ && rank > batch_[0].rank);
  }
  void Offer(const HostTextHit& hit);

  const HostTextSearchOptions options_;
  std::optional<HostTextScorer> scorer_;  // from the first Next on
  std::vector<SegmentSource> segments_;
  SharedVectors shared_;  // of these, for what a cache keeps of pending rows
  std::vector<PendingReader> pending_;
  std::vector<CachedChain> cached_;

  // The batch being given out, ascending; in a pass a heap with the last on top.
  std::vector<HostTextHit> batch_;
  size_t given_ = 0;
  size_t capacity_ = 0;
  bool is_exhausted_ = false;
  bool only_with_words_ = true;      // rows that score 0 and NULLs are not looked at yet
  std::optional<HostTextHit> last_;  // that was given

  // Of a row group.
  std::vector<uint32_t> rows_;
  std::vector<Run> runs_;
  std::vector<uint32_t> lengths_;
  std::vector<ScoreSum> sums_;
  std::vector<uint32_t> found_;
  std::vector<uint32_t> times_;  // by row: how often it has a prefix, or how many required clauses
  std::vector<uint64_t> room_;

  uint64_t passes_ = 0;
  uint64_t rows_scored_ = 0;
  uint64_t pending_rows_ = 0;
  uint64_t unindexed_rows_ = 0;
};

}  // namespace pigment
