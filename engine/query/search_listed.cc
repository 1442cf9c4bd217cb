// SPDX-License-Identifier: Apache-2.0
//
// Ids to rows, one after the other: first in the tail, then in the segments from the largest on,
// until the one live row of an id is found.

#include "engine/query/search_listed.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/query/search_sort.h"
#include "engine/segment/id_index.h"

namespace pigment {

namespace {

struct ListedRow {
  uint64_t ordinal;
  RowPlace place;

  friend auto operator<=>(const ListedRow&, const ListedRow&) = default;
};

class IdLookup {
 public:
  IdLookup(const Version& version, SegmentReaders& readers)
      : version_(version), readers_(readers), order_(version.segments.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
    std::sort(order_.begin(), order_.end(), [&version](uint32_t a, uint32_t b) {
      return version.segments[a].segment->info().rows > version.segments[b].segment->info().rows;
    });
  }

  Result<std::optional<ListedRow>> Find(std::string_view id) {
    if (version_.tail.rows != 0) {
      if (const std::optional<uint32_t> row = version_.tail.Find(id)) {
        return std::optional(ListedRow{version_.tail.row(*row).ordinal, {RowPlace::kTail, *row}});
      }
    }
    const OwnerId* owner = nullptr;
    IdHash hash{};
    for (const uint32_t index : order_) {
      const SegmentView& view = version_.segments[index];
      const OwnerId& of_segment = view.segment->info().owner;
      if (owner == nullptr || *owner != of_segment) {
        owner = &of_segment;
        hash = HashId(*owner, id);
      }
      RowReader& reader = readers_.Of(index);
      PIGMENT_ASSIGN_OR_RETURN(const std::optional<uint32_t> row, reader.FindRow(id, hash));
      if (!row || !view.IsLive(*row)) continue;
      PIGMENT_ASSIGN_OR_RETURN(const uint64_t ordinal, reader.ReadOrdinal(*row));
      return std::optional(ListedRow{ordinal, {index, *row}});
    }
    return std::optional<ListedRow>();
  }

 private:
  const Version& version_;
  SegmentReaders& readers_;
  std::vector<uint32_t> order_;  // of segments, the largest first
};

// The first of `rows`, which ascend by ordinal, that is behind the request's cursor.
Result<size_t> FirstBehind(const Version& version, const std::vector<RowPlace>& rows,
                           const GetRequest& request, SegmentReaders& readers,
                           ReadCounters& counters) {
  size_t begin = 0;
  if (!request.after) return begin;
  RowPositions positions(version, request.order_by, readers, counters);
  size_t end = rows.size();
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t ordinal, positions.OrdinalOf(rows[middle]));
    if (ordinal <= request.after->ordinal) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

}  // namespace

Result<std::vector<RowPlace>> RowsOfIds(const Version& version, const ReadOptions& options,
                                        SegmentReaders& readers) {
  IdLookup lookup(version, readers);
  std::vector<ListedRow> found;
  found.reserve(options.ids->size());
  for (const std::string& id : *options.ids) {
    PIGMENT_RETURN_IF_ERROR(options.control.Check());
    PIGMENT_ASSIGN_OR_RETURN(const std::optional<ListedRow> row, lookup.Find(id));
    if (row) found.push_back(*row);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());  // ids that are listed twice
  std::vector<RowPlace> places;
  places.reserve(found.size());
  for (const ListedRow& row : found) places.push_back(row.place);
  return places;
}

Result<std::vector<RowPlace>> FilterInOrder(const Version& version, const GetRequest& request,
                                            std::vector<RowPlace> rows, SegmentReaders& readers,
                                            ReadCounters& counters) {
  const uint64_t most = request.limit.value_or(rows.size());
  RowFilter filter(version, request.read, nullptr, &counters, &readers);
  uint64_t to_skip = request.offset;
  size_t kept = 0;
  PIGMENT_ASSIGN_OR_RETURN(const size_t first,
                           FirstBehind(version, rows, request, readers, counters));
  for (size_t i = first; i < rows.size() && kept < most; ++i) {
    PIGMENT_RETURN_IF_ERROR(request.read.control.Check());
    PIGMENT_ASSIGN_OR_RETURN(const bool matches, filter.Matches(rows[i]));
    if (!matches) continue;
    if (to_skip > 0) {
      --to_skip;
    } else {
      rows[kept++] = rows[i];
    }
  }
  rows.resize(kept);
  return rows;
}

}  // namespace pigment
