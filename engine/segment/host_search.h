// SPDX-License-Identifier: Apache-2.0
//
// HostSearch: a resumable search over segments and pending pages of a host, in the total order
// (class, distance, row pointer), where class puts numbers before NaN before rows without a vector.
// Each exact pass reads everything and keeps the next rows beyond the last one given, in a bounded
// heap; passes grow, so memory is bounded. One thread at a time; segments and sources are borrowed
// for its life.
//
// Where a segment has an index and less than every row is wanted for sure, the first passes ask the
// indexes for ever more neighbours instead. What they gave is remembered in a bit for each row, so
// that each row comes once; one that a pass overlooked comes, before those that are farther, from
// the first that finds it. When that many are wanted that a walk is no shorter than a scan, exact
// passes go on with the rest, so that all rows come in the end.
//
// With a greatest distance only rows within it are hits. Passes over indexes give what they find of
// them, and an exact pass, which compares with that distance from its begin, what they overlooked;
// so what is within it comes all, whatever the recall. Where rows come first whose distance is not
// a number, exact passes look for these alone before all else.
//
// A filter becomes a set of each segment's rows when the segment is added; only these are ranked.
// Pending rows are looked at one by one, in every pass: in their pages, or in a cache of them
// (pending_cache.h), where a page is read only for the vectors that may be near enough. Exact
// passes give the same hits either way. Passes over indexes ask a cache as they ask a segment
// (pending_search.h), and what it gave is remembered as theirs is.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/block/block_source.h"
#include "engine/segment/host_filter.h"
#include "engine/segment/host_pending.h"
#include "engine/segment/pending_cache.h"
#include "engine/segment/pending_reader.h"
#include "engine/segment/pending_search.h"
#include "engine/segment/row_scan.h"
#include "engine/segment/segment.h"
#include "engine/vector/byte_code.h"
#include "engine/vector/row_mask.h"
#include "engine/vector/seeded_random.h"
#include "engine/vector/top_k.h"

namespace pigment {

struct HostSearchOptions {
  Metric metric = Metric::kL2;
  uint32_t dimension = 0;
  std::optional<std::vector<float>> query;  // absent: no ranking
  size_t batch_rows_first = 0;              // of the first pass; 0: as many as suit
  size_t rows_wanted = 0;                   // probably, in all; 0: nobody knows
  size_t rows_spare = 0;                    // more that a pass for these gives of what it meets
  uint64_t batch_bytes_max = uint64_t{4} << 20;
  // As SegmentSearch has them: of the nearest rows the part that is wanted; 1: all. Visits of an
  // index in place of that; 0: as the recall takes.
  double recall = 1;
  size_t width = 0;
  // No row that is farther, and none without a vector; NaN: every row.
  float max_distance = std::numeric_limits<float>::quiet_NaN();
  // Where rows come whose distance is not a number.
  enum class Nan { kLast, kFirst, kLeftOut } nan = Nan::kLast;
  bool no_zero_vectors = false;                     // in segments
  std::optional<HostFilter> filter = std::nullopt;  // absent: every row
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
  // After an error nothing was added.
  Status AddSegment(const Segment* segment, std::span<const uint8_t> deleted);
  // The chain of pending pages from `first` (kNoBlock: none) whose pages carry `stamp`. A row whose
  // vector is in none of the segments is left out: it is younger than these.
  void AddPending(BlockSource* source, uint32_t stamp, uint32_t first);
  // The chain of a cache, which is brought up to date in the first pass. What it cannot help with
  // (a metric without bounds, vectors of another dimension or beyond f32) is read in the pages.
  void AddPending(BlockSource* source, std::shared_ptr<PendingCache> cache);

  // The next hits, at least one unless all were given, ascending but for rows that come late. After
  // an error nothing is lost: the call may be repeated.
  Result<size_t> Next(std::span<HostHit> hits);

  // Where the last hits that indexes gave have this row pointer: the row, and the number of its
  // segment as they were added. None: they do not, or in pending pages.
  struct SegmentRow {
    uint32_t segment;
    uint32_t row;
  };
  std::optional<SegmentRow> FindFound(uint64_t row_pointer) const;

  // Calls `visit` for each live row of all sources that the filter lets through, in no order, with
  // the sum of the fingerprints of its keys (host_keys.h). Rows whose keys are in no index are left
  // out. Reads no vector.
  using FingerprintVisitor = std::function<Status(uint64_t row_pointer, uint64_t fingerprint)>;
  Status VisitKeys(const FingerprintVisitor& visit) { return VisitKeys(std::nullopt, visit); }
  // Of one column alone; rows that have no key there are visited too.
  Status VisitKeys(std::optional<uint32_t> column, const FingerprintVisitor& visit);
  // Of each live row's vector (host_keys.h).
  Status VisitVectors(const FingerprintVisitor& visit);

  // Of about so many rows of the segments, spread evenly over the live ones that the filter lets
  // through, those that are within max_distance. REQUIRES: a query, and a max_distance.
  struct Sample {
    uint64_t rows = 0;
    uint64_t within = 0;
  };
  Result<Sample> SampleWithin(uint64_t rows) const;

  uint64_t passes() const { return passes_; }
  // Rows compared with the query, by vector or by code.
  uint64_t rows_scored() const { return rows_scored_; }
  // Searches of a segment that a walk, or a probe, answered, and nodes or clusters that these
  // visited.
  uint64_t walks() const { return walks_; }
  uint64_t probes() const { return probes_; }
  uint64_t visits() const { return visits_; }
  // Searches of a cache by what hangs where an index was searched.
  uint64_t grafts() const { return grafts_; }
  // Rows that were given behind one that is farther.
  uint64_t rows_late() const { return rows_late_; }
  // Live rows that the filter lets through: of segments, and of pending pages as the last pass met
  // them. One over indexes asks the filter only for those rows of a cache that may be near enough.
  uint64_t segment_rows() const;
  uint64_t pending_rows() const { return pending_rows_; }
  // Of segments' rows those of which the filter knows nothing; they are among the above.
  uint64_t unindexed_rows() const { return unindexed_rows_; }

 private:
  struct SegmentSource {
    const Segment* segment = nullptr;
    std::vector<uint64_t> live;  // empty: every row
    uint64_t live_rows = 0;
    uint64_t live_vectors = 0;    // of a segment with an index: of these rows those that have one
    std::vector<uint64_t> given;  // by passes over indexes; empty: none

    bool WasGiven(uint32_t row) const { return !given.empty() && IsAllowed(given, row); }
  };
  // Up to where rows were given; none of them beyond it, but by passes over indexes.
  struct Cursor {
    std::optional<HostHit> last;
    float distance = std::numeric_limits<float>::quiet_NaN();  // NaN when it rejects nothing

    // Every hit with this key was given.
    bool IsBehind(uint32_t key) const { return last && key < last->key; }
    bool WasGiven(const HostHit& hit) const { return last && !(*last < hit); }
    void MoveTo(const HostHit& hit) {
      last = hit;
      distance = hit.distance();
    }
  };
  // What an index, or a cache, found.
  struct IndexHit {
    float distance;
    uint32_t source;  // its place in segments_, or behind these in cached_
    uint32_t row;
    uint64_t row_pointer = 0;

    HostHit hit() const { return {DistanceKey(distance), row_pointer}; }
    bool operator<(const IndexHit& other) const { return distance < other.distance; }
  };
  // Pending rows that others read as well.
  struct CachedPending : CachedChain {
    using CachedChain::CachedChain;

    std::optional<PendingSearch> nearest = {};
    // Of the last pass: the segment that rows hang on, and where on it they may be near; none where
    // its index was not searched.
    const Segment* graph = nullptr;
    std::vector<uint32_t> nodes = {};
    std::vector<uint64_t> given = {};  // by passes over indexes; empty: none

    bool WasGiven(size_t row) const {
      return !given.empty() && IsAllowed(given, static_cast<uint32_t>(row));
    }
  };
  bool HasMaxDistance() const { return options_.max_distance == options_.max_distance; }
  // Rows that are numbers, and what comes behind them.
  void BeginNumbers();
  // What a pass may keep.
  size_t WithinMemory(uint64_t rows) const;
  size_t RowsFirst() const;
  void BeginPass();
  Status RunPass();
  Status RunExactPass();
  // Whether there are indexes that may be asked.
  bool HasIndexes() const;
  // Whether they may be asked for so many neighbours.
  bool MayAskIndexes(uint64_t neighbors) const;
  Status RunIndexPass();
  // The nearest rows by index, at most `neighbors`, the spare ones and those that were given among
  // them, into found_.
  Status AskIndexes(size_t neighbors);
  // Has caches know what their rows hang on.
  Status TakeGrafts();
  // Whether what hangs on the segment, of the rows of this cache that are looked at, is found by
  // it.
  bool MayHangOn(const Segment& segment, const CachedPending& pending) const;
  // The query for what hangs on it, made when it is first asked for.
  Result<const GraftQuery*> QueryOf(const Segment& graph);
  // Adds what a cache, number `number`, has nearer than what was found.
  Status AskCache(uint32_t number, size_t neighbors, float limit);
  // Leaves the nearest in found_. Returns the distance of the last, or `limit` when there are
  // fewer.
  float KeepNearest(size_t neighbors, float limit);
  bool WasGiven(const IndexHit& found) const;
  Status ReadRowPointer(IndexHit& found) const;
  void MarkGiven();
  Status OfferAllPending();
  // Rows that are looked at, by chance so far apart on average, so that no pattern of the rows is
  // met again and again; and by the same chance each time.
  struct Sampling {
    uint64_t step = 1;
    uint64_t next = 0;  // how many live rows come before the one that is looked at next
    SeededRandom random{0};
    Sample sample = {};
  };
  Status SampleSegment(const SegmentSource& source, Sampling* sampling) const;
  Status ScanSegment(const SegmentSource& source);
  // Where few rows are allowed: each is looked up.
  Status ScanFew(const SegmentSource& source);
  Status OfferPages(PendingReader& pending);
  Status OfferPending(const PendingReader& pending, const PendingRow& row, uint32_t physical);
  Status OfferVector(const PendingReader& pending, const PendingRow& row, const Cursor& cursor);
  // Whether codes bound the distances to this query.
  bool CanUseCodes(const PendingCache& cache) const;
  // The query for them, made when the first pending rows are met.
  const ByteCodeQuery& Codes();
  Status OfferCached(CachedPending& pending);
  Status OfferCachedRows(CachedPending& pending, size_t first, size_t count);
  // By their exact distances; rows ascend.
  Status OfferByVector(CachedPending& pending, std::span<const size_t> rows);
  // Calls one for each segment and the other for each chain of pending pages.
  template <typename VisitSegment, typename VisitPending>
  Status VisitSources(const VisitSegment& visit_segment, const VisitPending& visit_pending);
  // Those of one column, or of all.
  Status VisitSegmentKeys(const SegmentSource& source, std::optional<uint32_t> column,
                          const FingerprintVisitor& visit);
  Status VisitPendingKeys(PendingReader& pending, std::optional<uint32_t> column,
                          const FingerprintVisitor& visit);
  Status VisitSegmentVectors(const SegmentSource& source, const FingerprintVisitor& visit);
  Status VisitPendingVectors(PendingReader& pending, const FingerprintVisitor& visit);

  bool IsWanted(uint32_t key) const {
    if (key == HostHit::kNan) return wanted_.nan;
    if (key == HostHit::kNoVectorKey) return wanted_.without_vector;
    return key <= wanted_.number_key_max;
  }
  // Whether there may be hits with this key that were not given.
  bool MayBeHit(uint32_t key, const Cursor& cursor) const {
    return IsWanted(key) && !cursor.IsBehind(key);
  }
  bool MayEnter(float distance, const Cursor& cursor) const {
    return !(distance > worst_) && !(distance < cursor.distance);
  }
  void Offer(HostHit hit, const Cursor& cursor);

  const HostSearchOptions options_;
  std::vector<DistanceFunction> query_;  // one, or none without ranking
  std::vector<SegmentSource> segments_;
  SharedVectors shared_;  // of these
  std::vector<PendingReader> pending_;
  std::deque<CachedPending> cached_;       // which stay in place
  std::optional<ByteCodeQuery> codes_;     // of Codes
  std::optional<GraftQuery> graft_query_;  // of QueryOf
  const Segment* graft_query_graph_ = nullptr;

  // The batch being given out, ascending; in a pass a heap with the largest first.
  std::vector<HostHit> batch_;
  size_t given_ = 0;
  size_t capacity_ = 0;  // of the next pass
  size_t spare_ = 0;     // of these rows, those that indexes go no farther for
  bool is_exhausted_ = false;
  // Of the rows of segments and caches those up to it that no index gave; of rows in pending pages
  // all up to it, which is the farthest row that was given. They differ when rows come late.
  Cursor cursor_;
  Cursor pending_cursor_;
  float worst_;           // what is above it cannot enter; NaN when it rejects nothing
  bool is_exact_ = true;  // the passes from here on
  // Hits of these passes: numbers up to a key, and what else.
  struct Wanted {
    uint32_t number_key_max;
    bool nan;
    bool without_vector;
  };
  Wanted wanted_{};
  bool is_before_numbers_ = false;      // what is not a number comes first, and is looked for
  bool is_query_finite_ = false;        // false without a query, too
  bool is_number_in_segments_ = false;  // every distance of a row of theirs that has a vector
  uint64_t index_rows_given_ = 0;
  std::vector<IndexHit> found_;  // by the last pass, until those in its batch are marked as given
  std::vector<float> vector_;

  uint64_t passes_ = 0;
  uint64_t rows_scored_ = 0;
  uint64_t walks_ = 0;
  uint64_t probes_ = 0;
  uint64_t visits_ = 0;
  uint64_t grafts_ = 0;
  uint64_t rows_late_ = 0;
  uint64_t pending_rows_ = 0;
  uint64_t unindexed_rows_ = 0;
};

}  // namespace pigment
