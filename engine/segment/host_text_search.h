// SPDX-License-Identifier: Apache-2.0
//
// HostTextSearch: a resumable search of a host's texts (host_text.h) by the clauses of a query:
// rows that have one by their scores, the highest first, then those that score 0, then those whose
// column is NULL; equal ones by row pointer (host_rank_search.h).
//
// The rows that have a word are found by its lists, a row group at a time: what they have is added
// up for each row of the group. The first passes look at these rows alone, the others at all.
//
// Rows that are in no index for want of memory cannot be ranked: kFailedPrecondition, as for texts
// that an analyzer of another identity read. One thread; segments and sources are borrowed.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/segment/host_rank_search.h"
#include "engine/segment/host_text.h"

namespace pigment {

class HostTextSearch : public HostRankSearch {
 public:
  // By the query's counts as they are at the first Next. A rank is the score's sum with its sign
  // changed.
  HostTextSearch(HostRankOptions options, std::shared_ptr<const HostTextQuery> query)
      : HostRankSearch(std::move(options)), query_(std::move(query)) {}

  // What the live rows of all sources, those that the filter lets through, have of the query.
  Result<HostTextCounts> Count();

  const HostTextQuery* query() const { return query_.get(); }

 private:
  // What a pending row's text has of the query's clauses.
  struct PendingText {
    bool is_there = false;
    uint32_t analyzer_mark = 0;
    uint32_t length = 0;
    std::vector<uint32_t> counts;  // by clause; 0: it is not there
  };
  // Rows that have a clause so many times; a row is in one run of a clause.
  struct Run {
    size_t clause;
    uint32_t count;
    size_t begin;  // in rows_
    size_t end;
  };

  Status ScanSegment(const SegmentSource& source) override;
  Status ScanPendingRow(uint64_t row_pointer, std::span<const std::byte> keys) override;
  bool Widen() override;
  Status ScanUnindexed(const SegmentSource& source, const InvertedReader::Group& group) override;

  Status CountSegment(const SegmentSource& source, HostTextCounts& counts);
  Status CountPending(HostTextCounts& counts);
  // Into pending_.
  Status ReadPendingText(std::span<const std::byte> keys);
  Status CheckMark(uint32_t analyzer_mark) const;
  HostTextScorer& scorer();

  // Adds up what rows of the group have into sums_, for live rows; found_ are those that have any.
  Status SumGroup(const SegmentSource& source, InvertedReader& reader,
                  const InvertedReader::Group& group);
  Status ReadRuns(InvertedReader& reader, const InvertedReader::Group& group);
  // Of the last runs, from `first` on, which are of the words that begin alike: those of all these
  // words together.
  void UniteRuns(size_t first, uint32_t rows);
  // Leaves no sum to rows that lack a required clause.
  void KeepWhatIsRequired(uint32_t rows);
  Status OfferGroup(const SegmentSource& source, const InvertedReader::Group& group,
                    const RowSet* has_text);

  const std::shared_ptr<const HostTextQuery> query_;
  std::optional<HostTextScorer> scorer_;  // from the first pass on
  bool only_with_words_ = true;           // rows that score 0 and NULLs are not looked at yet
  PendingText pending_;

  // Of a row group.
  std::vector<uint32_t> rows_;
  std::vector<Run> runs_;
  std::vector<ScoreSum> sums_;
  std::vector<uint32_t> found_;
  std::vector<uint32_t> times_;  // by row: how often it has a prefix, or how many required clauses
};

}  // namespace pigment
