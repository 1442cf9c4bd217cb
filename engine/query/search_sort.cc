// SPDX-License-Identifier: Apache-2.0
//
// Sorting rows by keys: see the header.

#include "engine/query/search_sort.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include "engine/query/read_memory.h"

namespace pigment {
namespace {

struct SortedRow {
  RowPosition position;
  RowPlace place;

  uint64_t bytes() const { return sizeof(SortedRow) + position.key.size(); }

  friend bool operator<(const SortedRow& a, const SortedRow& b) {
    return std::tie(a.position.key, a.position.ordinal) <
           std::tie(b.position.key, b.position.ordinal);
  }
};

bool IsBehind(const RowPosition& position, const RowPosition& other) {
  return std::tie(position.key, position.ordinal) > std::tie(other.key, other.ordinal);
}

// Offset and limit together; no limit, or more than can be counted: everything.
uint64_t RowsNeeded(const GetRequest& request) {
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  if (!request.limit || *request.limit > kAll - request.offset) return kAll;
  return *request.limit + request.offset;
}

class Selection {
 public:
  Selection(const Version& version, const GetRequest& request, const Plan* plan,
            SegmentReaders& readers, ReadCounters& counters)
      : request_(request),
        needed_(RowsNeeded(request)),
        filter_(version, request.read, plan, &counters, &readers),
        memory_(version),
        positions_(version, request.order_by, readers, counters) {}

  Status Offer(const RowPlace& place) {
    PIGMENT_RETURN_IF_ERROR(request_.read.control.Check());
    PIGMENT_ASSIGN_OR_RETURN(const bool matches, filter_.Matches(place));
    if (!matches || needed_ == 0) return Status::Ok();
    PIGMENT_ASSIGN_OR_RETURN(RowPosition position, positions_.Of(place));
    if (request_.after && !IsBehind(position, *request_.after)) return Status::Ok();
    SortedRow row{std::move(position), place};
    if (kept_.size() == needed_) {
      if (!(row < kept_.front())) return Status::Ok();
      std::pop_heap(kept_.begin(), kept_.end());
      memory_.GiveBack(kept_.back().bytes());
      kept_.pop_back();
    }
    PIGMENT_RETURN_IF_ERROR(memory_.Take(row.bytes()));
    kept_.push_back(std::move(row));
    std::push_heap(kept_.begin(), kept_.end());
    return Status::Ok();
  }

  std::vector<RowPlace> Take() {
    std::sort_heap(kept_.begin(), kept_.end());
    std::vector<RowPlace> places;
    const auto first = static_cast<size_t>(std::min<uint64_t>(request_.offset, kept_.size()));
    places.reserve(kept_.size() - first);
    for (size_t i = first; i < kept_.size(); ++i) places.push_back(kept_[i].place);
    return places;
  }

 private:
  const GetRequest& request_;
  const uint64_t needed_;
  RowFilter filter_;
  ReadMemory memory_;
  RowPositions positions_;
  std::vector<SortedRow> kept_;  // a heap, the last row first
};

}  // namespace

RowPositions::RowPositions(const Version& version, const OrderBy& order, SegmentReaders& readers,
                           ReadCounters& counters)
    : version_(version),
      order_(order),
      fields_{.metadata = order.needs().metadata, .uri = order.needs().uri},
      readers_(readers),
      counters_(counters) {}

Result<uint64_t> RowPositions::OrdinalOf(const RowPlace& place) {
  if (place.source == RowPlace::kTail) return version_.tail.row(place.row).ordinal;
  return readers_.Of(place.source).ReadOrdinal(place.row);
}

Result<RowPosition> RowPositions::Of(const RowPlace& place) {
  RowPosition position;
  PIGMENT_ASSIGN_OR_RETURN(position.ordinal, OrdinalOf(place));
  if (order_.empty()) return position;
  if (place.source != RowPlace::kTail) {
    PIGMENT_ASSIGN_OR_RETURN(position.key, KeyInSegment(place));
    return position;
  }
  const Record& record = version_.tail.row(place.row);
  counters_.tail_bytes += BytesRead(record, fields_, order_.needs().id);
  position.key = order_.KeyOf({.id = record.id,
                               .metadata = record.metadata ? &*record.metadata : nullptr,
                               .uri = record.uri});
  return position;
}

Result<std::string> RowPositions::KeyInSegment(const RowPlace& place) {
  RowReader& reader = readers_.Of(place.source);
  if (fields_.metadata || fields_.uri)
    PIGMENT_RETURN_IF_ERROR(reader.ReadFields(place.row, fields_, &record_));
  std::string_view id;
  if (order_.needs().id) {
    PIGMENT_ASSIGN_OR_RETURN(id, reader.ReadId(place.row));
  }
  counters_.segment_bytes += BytesRead(record_, fields_, false) + id.size();
  return order_.KeyOf(
      {.id = id, .metadata = record_.metadata ? &*record_.metadata : nullptr, .uri = record_.uri});
}

Result<std::vector<RowPlace>> RowsByKey(const Version& version, const GetRequest& request,
                                        const Plan& plan, SegmentReaders& readers,
                                        ReadCounters& counters) {
  Selection selection(version, request, &plan, readers, counters);
  for (uint32_t segment = 0; segment < plan.segments.size(); ++segment) {
    const RowSet& rows = plan.segments[segment];
    for (uint32_t row = rows.Next(0); row < rows.rows(); row = rows.Next(row + 1))
      PIGMENT_RETURN_IF_ERROR(selection.Offer({segment, row}));
  }
  for (uint32_t row = plan.tail.Next(0); row < plan.tail.rows(); row = plan.tail.Next(row + 1))
    PIGMENT_RETURN_IF_ERROR(selection.Offer({RowPlace::kTail, row}));
  return selection.Take();
}

Result<std::vector<RowPlace>> RowsByKey(const Version& version, const GetRequest& request,
                                        std::span<const RowPlace> rows, SegmentReaders& readers,
                                        ReadCounters& counters) {
  Selection selection(version, request, nullptr, readers, counters);
  for (const RowPlace& place : rows) PIGMENT_RETURN_IF_ERROR(selection.Offer(place));
  return selection.Take();
}

}  // namespace pigment
