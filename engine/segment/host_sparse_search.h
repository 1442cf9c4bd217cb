// SPDX-License-Identifier: Apache-2.0
//
// HostSparseSearch: a resumable search of a host's sparse vectors (host_sparse.h): rows by bounds
// that their distances to the query are not below, ascending, then those whose distance is not a
// number, then those whose column is NULL; equal ones by row pointer (host_rank_search.h). A row
// whose vector has another dimension than the query, or that is in no index for want of memory,
// comes first, with the bound -infinity; so does what is not a number, where that is to come first.
//
// The lists of the query's places are read, a row group at a time, and what they bring each row is
// added up, the places that may bring most first. What those that are left may bring is added to
// every row, and their lists are not read, where that takes less time than it costs the host: it
// looks at more rows then. (The essential lists of MaxScore: Turtle and Flood, "Query evaluation:
// strategies and optimizations", 1995.) One thread; segments and sources are borrowed.

#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/segment/host_rank_search.h"
#include "engine/segment/host_sparse.h"

namespace pigment {

class HostSparseSearch : public HostRankSearch {
 public:
  // Of rows whose distance is not a number.
  static constexpr int64_t kNan = HostRankHit::kNull - 1;

  HostSparseSearch(HostRankOptions options, HostSparseQuery query, bool nan_first = false)
      : HostRankSearch(std::move(options)), query_(std::move(query)), nan_first_(nan_first) {}

  // What a rank is, but for kNan and kNull.
  float BoundOf(int64_t rank) const;

 private:
  Status ScanSegment(const SegmentSource& source) override;
  Status ScanPendingRow(uint64_t row_pointer, std::span<const std::byte> keys) override;
  Status ScanUnindexed(const SegmentSource& source, const InvertedReader::Group& group) override;

  // A list of a place, in list_bytes_.
  struct List {
    double gain;
    size_t begin;
    size_t end;
  };
  // What a place of the query may bring, at the most and not below 0; its lists, in lists_.
  struct Place {
    double most = 0;
    uint64_t rows = 0;  // in the lists
    size_t begin = 0;
    size_t end = 0;
  };

  // No gains for so many rows.
  void Clear(uint32_t rows);
  // Adds up gains of the group's rows, live or not. Those of places whose lists are not read are in
  // rest_.
  Status SumGroup(const SegmentSource& source, InvertedReader& reader,
                  const InvertedReader::Group& group);
  // Copies the lists of the query's places; those that there is no room for it adds up.
  Status CollectLists(const SegmentSource& source, InvertedReader& reader,
                      const InvertedReader::Group& group);
  Status AddList(const SegmentSource& source, const InvertedReader::Group& group,
                 std::span<const std::byte> list, double gain);
  // Calls visit(row, gains) for the live rows of the group that have no fewer gains than `least`,
  // which may grow meanwhile.
  template <typename Visit>
  Status VisitGains(const SegmentSource& source, const InvertedReader::Group& group,
                    const double& least, const Visit& visit) const;
  // Whether no more than so many rows would be looked at besides, in the host, if so much were
  // added to all.
  Result<bool> AreEnough(const SegmentSource& source, const InvertedReader::Group& group,
                         double rest, uint64_t rows_more) const;
  // Gives unknown gains to rows of another dimension than the query's, and to those without a
  // bound.
  Status MarkUnknown(const SegmentSource& source, InvertedReader& reader,
                     const InvertedReader::Group& group);
  Status OfferFew(const SegmentSource& source, const InvertedReader::Group& group,
                  std::span<const uint32_t> masses);
  // has_vector, of the segment: null where no row without gains is among the next.
  Status OfferAll(const SegmentSource& source, const InvertedReader::Group& group,
                  std::span<const uint32_t> masses, const RowSet* has_vector = nullptr);
  // No row with fewer gains is among the next.
  double LeastGains() const;
  double GainsOf(uint32_t row) const { return std::bit_cast<double>(gains_[row]); }

  int64_t RankOf(float key) const;

  const HostSparseQuery query_;
  const bool nan_first_;

  // Of a row group.
  std::vector<int64_t>
      gains_;                  // bits of doubles, which are in their order where these are positive
  double rest_ = 0;            // what every row may have besides
  bool are_few_ = true;        // that have any
  std::vector<uint32_t> few_;  // these, if so
  std::vector<uint32_t> rows_;
  std::vector<Place> places_;
  std::vector<List> lists_;
  std::vector<std::byte> list_bytes_;
};

}  // namespace pigment
