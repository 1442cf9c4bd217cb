// SPDX-License-Identifier: Apache-2.0
//
// Ids, ordinals, counts and searches of one version: see the header.

#include "engine/collection/check_version.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "engine/segment/flat_scan.h"
#include "engine/vector/top_k.h"

namespace pigment {
namespace {

constexpr uint32_t kRowsAllQueried = 256;  // of a larger segment a sample of kRowsSampled
constexpr uint32_t kRowsSampled = 64;
constexpr uint32_t kRowsPerCheck = 256;
constexpr uint32_t kTail = 0xFFFFFFFF;

struct PlacedId {
  uint64_t hash = 0;
  uint32_t segment = kTail;  // index in the version
  uint32_t row = 0;
};

class VersionCheck {
 public:
  VersionCheck(const CheckedCollection& collection, const Version& version, CheckNotes& notes)
      : collection_(collection), version_(version), notes_(notes) {}

  Status Run() {
    uint64_t stored = 0;
    for (const SegmentView& view : version_.segments) stored += view.segment->info().rows;
    collection_.control.BeginPhase("records", "rows", stored);
    for (uint32_t index = 0; index < version_.segments.size(); ++index) {
      PIGMENT_RETURN_IF_ERROR(GatherSegment(index));
    }
    for (uint32_t row = 0; row < version_.tail.rows; ++row) {
      if (!version_.tail.IsLive(row)) continue;
      const Record& record = version_.tail.row(row);
      ids_.push_back({HashOfId(record.id), kTail, row});
      ordinals_.push_back(record.ordinal);
      if (record.embedding.size() != version_.dimension) {
        Error(Detail::kDimension, fmt::format("id \"{}\" has dimension {}, the collection {}",
                                              record.id, record.embedding.size(),
                                              version_.dimension));
      }
    }
    notes_.totals().rows += version_.tail.rows;
    notes_.totals().live_rows += ids_.size();
    if (ids_.size() != version_.live_rows) {
      Error(Detail::kMiscounted,
            fmt::format("{} live rows, the version counts {}", ids_.size(), version_.live_rows));
    }
    PIGMENT_RETURN_IF_ERROR(CheckIdsOnce());
    std::sort(ordinals_.begin(), ordinals_.end());
    const auto twice = std::adjacent_find(ordinals_.begin(), ordinals_.end());
    if (twice != ordinals_.end()) {
      Error(Detail::kMiscounted, fmt::format("two live rows have ordinal {}", *twice));
    }
    for (uint32_t index = 0; index < version_.segments.size(); ++index) {
      PIGMENT_RETURN_IF_ERROR(SearchSegment(index));
    }
    return Status::Ok();
  }

 private:
  void Error(Detail detail, std::string message) {
    notes_.AddError(detail, collection_.name, "", -1, std::move(message));
  }

  Result<std::string> IdAt(const PlacedId& place) const {
    if (place.segment == kTail) return version_.tail.row(place.row).id;
    return version_.segments[place.segment].segment->ReadId(place.row);
  }

  // A damaged block is the business of the file's check; here the rest of the segment is passed
  // over.
  Status GatherSegment(uint32_t index) {
    const SegmentView& view = version_.segments[index];
    const uint32_t rows = view.segment->info().rows;
    notes_.totals().rows += rows;
    for (uint32_t row = 0; row < rows; ++row) {
      if (row % kRowsPerCheck == 0) {
        PIGMENT_RETURN_IF_ERROR(collection_.control.Check());
        collection_.control.Advance(std::min(kRowsPerCheck, rows - row));
      }
      if (!view.IsLive(row)) continue;
      const auto id = view.segment->ReadId(row);
      const auto ordinal = view.segment->ReadOrdinal(row);
      if (!id.ok() || !ordinal.ok()) {
        notes_.AddStatus(id.ok() ? ordinal.status() : id.status(), collection_.name);
        return Status::Ok();
      }
      ids_.push_back({HashOfId(*id), index, row});
      ordinals_.push_back(*ordinal);
      const auto found = view.segment->FindRow(*id);
      if (!found.ok()) {
        notes_.AddStatus(found.status(), collection_.name);
        return Status::Ok();
      }
      if (*found != row) {
        Error(Detail::kMiscounted,
              fmt::format("id \"{}\" of segment {} is not found at row {}", *id,
                          view.segment->info().segment, row));
      }
    }
    return Status::Ok();
  }

  Status CheckIdsOnce() {
    std::sort(ids_.begin(), ids_.end(),
              [](const PlacedId& a, const PlacedId& b) { return a.hash < b.hash; });
    for (size_t i = 1; i < ids_.size(); ++i) {
      for (size_t j = i; j-- > 0 && ids_[j].hash == ids_[i].hash;) {
        const auto a = IdAt(ids_[i]);
        const auto b = IdAt(ids_[j]);
        if (a.ok() && b.ok() && *a == *b) {
          Error(Detail::kMiscounted, fmt::format("id \"{}\" lives in two places", *a));
        }
      }
    }
    return Status::Ok();
  }

  // A row's own vector must find it exactly where the distances of all rows say, whatever codes or
  // graph the search goes by.
  Status SearchSegment(uint32_t index) {
    const SegmentView& view = version_.segments[index];
    const SegmentInfo& info = view.segment->info();
    if (info.rows == 0 || info.vectors == 0) return Status::Ok();
    std::vector<uint64_t> live((uint64_t{info.rows} + 63) / 64);
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < info.rows; ++row) {
      if (!view.IsLive(row)) continue;
      live[row / 64] |= uint64_t{1} << (row % 64);
      rows.push_back(row);
    }
    std::vector<uint32_t> vectors(info.rows);
    if (Status read = view.segment->ReadRowVectors(0, vectors); !read.ok()) {
      notes_.AddStatus(read, collection_.name);
      return Status::Ok();
    }
    const size_t wanted = collection_.full || rows.size() <= kRowsAllQueried ? rows.size()
                                                                             : kRowsSampled;
    collection_.control.BeginPhase("search", "rows", wanted);
    for (size_t i = 0; i < wanted; ++i) {
      PIGMENT_RETURN_IF_ERROR(collection_.control.Check());
      collection_.control.Advance(1);
      const uint32_t row = rows[i * rows.size() / wanted];
      if (vectors[row] == kNoVector) continue;
      const Status searched = SearchRow(view, row, rows, vectors, live);
      if (searched.code() == Code::kCancelled || searched.code() == Code::kDeadlineExceeded) {
        return searched;
      }
      notes_.AddStatus(searched, collection_.name);
      if (!searched.ok()) return Status::Ok();
      ++notes_.totals().rows_queried;
    }
    return Status::Ok();
  }

  Status SearchRow(const SegmentView& view, uint32_t row, const std::vector<uint32_t>& rows,
                   const std::vector<uint32_t>& vectors, const std::vector<uint64_t>& live) {
    const SegmentInfo& info = view.segment->info();
    std::vector<float> query(info.dimension);
    PIGMENT_RETURN_IF_ERROR(view.segment->ReadVector(vectors[row], query));
    std::vector<float> distances(info.vectors);
    PIGMENT_RETURN_IF_ERROR(view.segment->VisitVectors(
        [&](uint32_t first, const float* run, size_t stride, size_t count) {
          for (size_t i = 0; i < count; ++i) {
            distances[first + i] =
                Distance(collection_.metric, query.data(), run + i * stride, info.dimension);
          }
          return collection_.control.Check();
        }));
    const float own = distances[vectors[row]];
    size_t before = 0;
    for (const uint32_t other : rows) {
      if (vectors[other] == kNoVector || other == row) continue;
      const auto key = DistanceKey(distances[vectors[other]]);
      before += key < DistanceKey(own) || (key == DistanceKey(own) && other < row);
    }
    PIGMENT_ASSIGN_OR_RETURN(const FlatScanResult result,
                             ScanFlat(*view.segment, info.dimension,
                                      {.metric = collection_.metric,
                                       .queries = query.data(),
                                       .query_count = 1,
                                       .k = before + 1,
                                       .allowed_rows = live,
                                       .control = &collection_.control}));
    const std::vector<RowHit>& hits = result.hits.front();
    if (hits.size() == before + 1 && hits.back().row == row &&
        std::memcmp(&hits.back().distance, &own, sizeof own) == 0) {
      return Status::Ok();
    }
    PIGMENT_ASSIGN_OR_RETURN(const std::string id, view.segment->ReadId(row));
    return DataLoss(Detail::kMiscounted, "", -1,
                    fmt::format("id \"{}\" of segment {} is not found by its own vector", id,
                                info.segment));
  }

  const CheckedCollection& collection_;
  const Version& version_;
  CheckNotes& notes_;
  std::vector<PlacedId> ids_;  // of live rows
  std::vector<uint64_t> ordinals_;
};

}  // namespace

Status CheckVersion(const CheckedCollection& collection, const Version& version,
                    CheckNotes& notes) {
  return VersionCheck(collection, version, notes).Run();
}

}  // namespace pigment
