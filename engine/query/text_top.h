// SPDX-License-Identifier: Apache-2.0
//
// The k rows that score most: first by their scores, then by their ordinals. Rows are looked at
// group by group, and no further than the k best known by then leave a chance. One call, one
// thread; everything is borrowed.
//
// Blocks that cannot matter are passed by (Ding, Suel, "Faster Top-k Document Retrieval Using
// Block-Max Indexes", 2011). Of several words that are not required those that together cannot lift
// a row are only looked up (MaxScore: Turtle, Flood, "Query Evaluation: Strategies and
// Optimizations", 1995), and which these are is decided anew in each window of rows.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/fulltext/bm25.h"
#include "engine/fulltext/posting_cursor.h"
#include "engine/query/search_plan.h"
#include "engine/query/text_sources.h"

namespace pigment {

struct TextHit {
  float score = 0;
  uint64_t ordinal = 0;
  RowPlace place;

  bool IsBetterThan(const TextHit& other) const {
    return score != other.score ? score > other.score : ordinal < other.ordinal;
  }
};

// The best so far.
class BestTexts {
 public:
  explicit BestTexts(uint64_t k) : k_(k) {}

  bool is_full() const { return heap_.size() >= k_; }
  const TextHit& worst() const { return heap_.front(); }  // REQUIRES: is_full()
  // False only when what has this sum cannot be among the best, whatever its ordinal.
  bool MayEnter(ScoreSum sum) const { return sum >= floor_; }
  ScoreSum floor() const { return floor_; }  // what may enter has so much
  uint64_t k() const { return k_; }
  // At least k rows that are offered in the end have this sum or more.
  void ExpectAtLeast(ScoreSum sum);
  void Offer(const TextHit& hit);
  std::vector<TextHit> TakeSorted();

 private:
  const uint64_t k_;
  std::vector<TextHit> heap_;  // the worst on top
  ScoreSum floor_ = 0;         // sums below score less than the k-th best
};

// What a row group is searched for.
struct TextTerm {
  PostingCursor* cursor;
  const Bm25Weight* weight;
  bool is_required;
};

class TextScorer {
 public:
  TextScorer(const Bm25Shares& shares, RowFilter& filter, SegmentReaders& readers,
             const Version& version, const CallControl& control, BestTexts& best,
             ReadCounters& counters)
      : shares_(shares),
        filter_(filter),
        readers_(readers),
        version_(version),
        control_(control),
        paced_(control),
        best_(best),
        counters_(counters) {}

  // Offers the rows that have all required terms, or any where none is required. REQUIRES: at least
  // one term; k > 0.
  Status Search(TextRows& rows, std::span<const TextTerm> terms);

 private:
  struct List {
    PostingCursor* cursor;
    const Bm25Weight* weight;
    std::vector<ScoreSum> bounds;  // of blocks
    ScoreSum bound = 0;            // of all
    uint32_t block = 0;            // none before it is looked at any more
    ScoreSum window_bound = 0;
    uint32_t place = 0;  // in block `place_block`: none before it is added to a window any more
    uint32_t place_block = 0;
  };

  List MakeList(const TextTerm& term);
  Status SearchOne(List& list);
  Status SearchAny(std::vector<List>& lists);
  // What the k best rows of one list have of it alone is the least that the k best have.
  Status ExpectBestOf(List& list);
  // Calls `visit(row, sum)` for the rows of the blocks that promise most, while they may enter.
  template <typename Visit>
  Status VisitBestBlocks(List& list, const Visit& visit);
  // Finds the bound of each list in the window, and returns their sum.
  static ScoreSum BoundWindow(std::span<List* const> lists, uint32_t end);
  Status SearchWindow(std::vector<List*>& lists, uint32_t begin, uint32_t end);
  Status SearchAll(std::vector<List>& required, std::vector<List>& optional);
  Status SearchAllowed(std::vector<List>& required, std::vector<List>& optional);
  // Adds what the window's rows have of the list to sums_, and marks them where kMarks.
  template <bool kMarks>
  Status AddToWindow(List& list, uint32_t begin, uint32_t end);
  size_t CountMarks(uint32_t begin, uint32_t end) const;
  // To add all of the list is less than to look it up for so many rows.
  bool IsLessToAdd(const List& list, size_t rows, uint32_t begin, uint32_t end) const {
    return rows * kPostingsPerLookUp > PostingsBetween(list, begin, end);
  }
  // Makes candidates_ of the marked rows that may enter with `rest` more than they have.
  void TakeCandidates(uint32_t begin, uint32_t end, ScoreSum rest);
  // Leaves the candidates that may enter with `rest` more than they have.
  void KeepCandidates(uint32_t begin, ScoreSum rest);
  // Adds what the candidates have of the list, and leaves those that may enter with `rest` more.
  Status LookUp(List& list, uint32_t begin, ScoreSum rest);
  // As many as a window of this width has on average.
  uint32_t PostingsBetween(const List& list, uint32_t begin, uint32_t end) const;

  // False: no row from `first` on can be among the best with so much or less.
  bool MayEnter(ScoreSum bound, uint32_t first) const;
  ScoreSum SumOf(const List& list, uint32_t row, uint32_t frequency) {
    return list.weight->Of(shares_.Of(frequency, rows_->lengths->Of(row)));
  }
  Status Offer(uint32_t row, ScoreSum sum);

  static constexpr uint32_t kWindowRows = 6144;
  // To begin a window takes as long as to look at so many rows, for each list.
  static constexpr uint32_t kWindowRowsPerList = 192;
  // To look for one row in a list takes as long as to add what so many have of it.
  static constexpr size_t kPostingsPerLookUp = 12;
  // To mark a row takes as long as to look at the sums of so many.
  static constexpr uint64_t kRowsPerMark = 12;
  // A window's candidates are taken no later than when so many lists are left, nor when so many of
  // those that may leave some out are added.
  static constexpr size_t kListsWithCandidates = 2;
  static constexpr size_t kListsWithoutCandidates = 3;

  const Bm25Shares& shares_;
  RowFilter& filter_;
  SegmentReaders& readers_;
  const Version& version_;
  const CallControl& control_;
  PacedCheck paced_;
  BestTexts& best_;
  ReadCounters& counters_;
  TextRows* rows_ = nullptr;     // that are searched
  std::vector<ScoreSum> sums_;   // of the window's rows
  std::vector<uint64_t> marks_;  // a bit for each that has something, or enough
  // Of the postings of a block that are added.
  static_assert(kPostingsPerBlock % kBm25Lanes == 0);
  std::array<uint32_t, kPostingsPerBlock> frequencies_{};
  std::array<uint32_t, kPostingsPerBlock> lengths_{};
  std::array<double, kPostingsPerBlock> worths_{};
  std::vector<uint32_t> rows_of_window_;  // room for candidates_
  std::span<uint32_t> candidates_;        // rows that may be among the best
};

}  // namespace pigment
