// SPDX-License-Identifier: Apache-2.0
//
// Rows in their order, so that each part is read once from its begin to its end.

#include "engine/segment/host_copy.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/inverted/row_set.h"
#include "engine/segment/host_key_reader.h"
#include "engine/segment/inverted_reader.h"
#include "engine/segment/row_window.h"

namespace pigment {
namespace {

bool IsWanted(HostRows rows, bool has_vector) {
  return rows == HostRows::kAll || has_vector == (rows == HostRows::kWithVector);
}

bool IsDeleted(std::span<const uint8_t> deleted, uint32_t row) {
  return row / 8 < deleted.size() && (deleted[row / 8] >> (row % 8) & 1) != 0;
}

Status CheckDimension(const SegmentInfo& info, uint32_t dimension) {
  if (info.vectors == 0 || info.dimension == dimension) return Status::Ok();
  return InvalidArgument(Detail::kDimension,
                         fmt::format("dimension mismatch: segment {} has {}, expected {}",
                                     info.segment, info.dimension, dimension));
}

// What a row of a segment has, one row after the other.
class RowSource {
 public:
  RowSource(const Segment& segment, const HostCopy& copy)
      : pointers_(&segment), vectors_(&segment), keys_(&segment, copy.key_bytes_max) {}

  Result<uint64_t> ReadPointer(uint32_t row) { return pointers_.Read(row); }
  Result<std::span<const std::byte>> ReadKeys(uint32_t row) { return keys_.Read(row); }
  // Of the row's vector, or kNoVector.
  Result<uint32_t> VectorNumber(uint32_t row) { return vectors_.Number(row); }
  // Empty of kNoVector; valid until the next call.
  Result<std::span<const float>> ReadVector(uint32_t number) { return vectors_.ReadIfAny(number); }

 private:
  PointerWindow pointers_;
  RowVectors vectors_;
  HostKeyReader keys_;
};

// Of a segment with an index; nullopt: it has none. The reader and its pins go at the end.
Result<std::optional<RowSet>> UnindexedRows(const Segment& segment) {
  const std::unique_ptr<InvertedReader> index = segment.NewInvertedReader();
  if (index == nullptr) return std::optional<RowSet>();
  PIGMENT_ASSIGN_OR_RETURN(RowSet rows, index->UnindexedRows());
  return std::optional<RowSet>(std::move(rows));
}

}  // namespace

Status CopySegment(const Segment& segment, std::span<const uint8_t> deleted, const HostCopy& copy) {
  const uint32_t rows = segment.info().rows;
  const uint32_t vectors = segment.info().vectors;
  PIGMENT_RETURN_IF_ERROR(CheckDimension(segment.info(), copy.dimension));
  if ((vectors == 0 && !IsWanted(copy.rows, false)) ||
      (vectors == rows && !IsWanted(copy.rows, true)))
    return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(const std::optional<RowSet> unindexed, UnindexedRows(segment));
  RowSource source(segment, copy);
  Reservation reservation(copy.budget);
  // A graph is made without its links, where there is no memory for them.
  const bool may_start_from = segment.info().kind == SegmentKind::kGraph &&
                              reservation.Grow(uint64_t{vectors} * sizeof(uint32_t)).ok();
  std::vector<uint32_t> to(may_start_from ? vectors : 0, kVectorIsGone);
  for (uint32_t row = 0; row < rows; ++row) {
    if (IsDeleted(deleted, row)) continue;
    PIGMENT_ASSIGN_OR_RETURN(const uint32_t number, source.VectorNumber(row));
    if (!IsWanted(copy.rows, number != kNoVector)) continue;
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t pointer, source.ReadPointer(row));
    PIGMENT_ASSIGN_OR_RETURN(const std::span<const float> vector, source.ReadVector(number));
    if (may_start_from && number != kNoVector) to[number] = copy.writer->vectors();
    if (copy.row_keys && unindexed && unindexed->Test(row)) {
      PIGMENT_RETURN_IF_ERROR(copy.writer->AddUnindexedRow(vector, pointer));
      continue;
    }
    std::span<const std::byte> keys;
    if (unindexed) {
      PIGMENT_ASSIGN_OR_RETURN(keys, source.ReadKeys(row));
    }
    PIGMENT_RETURN_IF_ERROR(copy.writer->AddRow(vector, pointer, keys));
  }
  return may_start_from ? copy.writer->StartFrom(segment, to) : Status::Ok();
}

Status CopyPending(PendingReader& pending, const HostCopy& copy) {
  std::vector<float> vector;
  return pending.VisitRows(true, [&](const PendingRow& row, uint32_t physical) -> Status {
    const uint32_t dimension = row.head.dimension();
    if (dimension != 0 && dimension != copy.dimension) {
      return pending.Damaged(physical, fmt::format("an entry has dimension {}, expected {}",
                                                   dimension, copy.dimension));
    }
    if (!IsWanted(copy.rows, dimension != 0)) return Status::Ok();
    PIGMENT_RETURN_IF_ERROR(pending.ReadAnyVector(row, physical, &vector));
    return copy.writer->AddRow(vector, row.head.row_pointer, row.keys());
  });
}

}  // namespace pigment
