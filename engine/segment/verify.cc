// SPDX-License-Identifier: Apache-2.0
//
// Verify, part by part.

#include "engine/segment/verify.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "engine/segment/part_reader.h"
#include "engine/segment/record_bytes.h"
#include "engine/vector/byte_code.h"

namespace pigment {
namespace {

Status VerifyBlocks(BlockSource* source, const Root& root) {
  for (const PartEntry& part : root.parts) {
    for (uint32_t i = 0; i < part.blocks; ++i) {
      const uint32_t logical = part.first + i;
      PIGMENT_RETURN_IF_ERROR(
          PinChecked(source, root.PhysicalOf(logical),
                     {static_cast<BlockKind>(part.kind), root.info.segment, logical})
              .status());
    }
  }
  return Status::Ok();
}

Status VerifyVectors(const Segment& segment, BlockSource* source, const Root& root) {
  const PartCursor part(source, &root, BlockKind::kVectors);
  PIGMENT_RETURN_IF_ERROR(
      segment.VisitVectors([&](uint32_t first, const float* vectors, size_t stride, size_t count) {
        size_t bad = 0;
        if (AllFinite(vectors, stride * count, &bad)) return Status::Ok();
        return part.Damaged(Detail::kMiscounted,
                            fmt::format("vector {} is not finite", first + bad / stride));
      }));
  std::vector<float> padding(root.info.dimension);
  for (uint32_t slot = root.info.vectors; slot < root.info.vector_slots; ++slot) {
    PIGMENT_RETURN_IF_ERROR(segment.ReadVector(slot, padding));
    for (const float value : padding) {
      if (value != 0)
        return part.Damaged(Detail::kMiscounted, fmt::format("padding slot {} is not zero", slot));
    }
  }
  return Status::Ok();
}

// Codes are a function of the vectors.
Status VerifyCodes(const Segment& segment, BlockSource* source, const Root& root) {
  if (!segment.has_codes()) return Status::Ok();
  const PartCursor part(source, &root, BlockKind::kCodes);
  const size_t bytes = ByteCodeBytes(root.info.dimension);
  std::vector<float> vector(root.info.dimension);
  std::vector<std::byte> expected(bytes);
  return segment.VisitCodes([&](uint32_t first, const std::byte* codes, size_t count) -> Status {
    for (size_t i = 0; i < count; ++i) {
      PIGMENT_RETURN_IF_ERROR(segment.ReadVector(first + static_cast<uint32_t>(i), vector));
      EncodeByteCode(vector, expected.data());
      if (std::memcmp(expected.data(), codes + i * bytes, bytes) == 0) continue;
      return part.Damaged(Detail::kMiscounted,
                          fmt::format("code {} is not that of its vector", first + i));
    }
    return Status::Ok();
  });
}

// In a flat segment vectors lie in the order of the rows that own them, and none is without a row.
Status VerifyRowVectors(const Segment& segment, BlockSource* source, const Root& root) {
  PartCursor part(source, &root, BlockKind::kRowVectors);
  if (!part.exists()) return Status::Ok();
  uint32_t next = 0;
  for (uint32_t row = 0; row < root.info.rows; ++row) {
    PIGMENT_ASSIGN_OR_RETURN(const uint32_t vector, segment.ReadRowVector(row));
    if (vector == kNoVector || (next > 0 && vector == next - 1)) continue;
    if (vector != next) {
      return part.Damaged(Detail::kMiscounted,
                          fmt::format("row {} names vector {}, expected {}", row, vector, next));
    }
    ++next;
  }
  if (next == root.info.vectors) return Status::Ok();
  return part.Damaged(Detail::kMiscounted,
                      fmt::format("{} vectors of {} have a row", next, root.info.vectors));
}

Status VerifyRowPointers(BlockSource* source, const Root& root) {
  PartCursor part(source, &root, BlockKind::kRowPointers);
  for (uint32_t row = 0; part.exists() && row < root.info.rows; ++row) {
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t pointer, part.ReadElement<uint64_t>(row));
    if (pointer == kNoRowPointer) {
      return part.Damaged(Detail::kMiscounted, fmt::format("row {} has no row pointer", row));
    }
  }
  return Status::Ok();
}

Status VerifyRecords(const Segment& segment, BlockSource* source, const Root& root) {
  PartCursor ordinals(source, &root, BlockKind::kOrdinals);
  if (!ordinals.exists()) return Status::Ok();
  PartCursor index(source, &root, BlockKind::kIdIndex);
  IdReader ids(source, &root);
  std::vector<bool> seen(root.info.rows);
  std::string previous;
  for (uint32_t i = 0; i < root.info.rows; ++i) {
    PIGMENT_ASSIGN_OR_RETURN(const uint32_t row, index.ReadElement<uint32_t>(i));
    if (row >= root.info.rows || seen[row]) {
      return index.Damaged(Detail::kMiscounted, fmt::format("entry {} names row {}", i, row));
    }
    seen[row] = true;
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view id, ids.Read(row));
    if (i > 0 && id <= previous)
      return index.Damaged(Detail::kMiscounted, fmt::format("entry {} is out of order", i));
    previous = id;
  }
  uint64_t last = 0;
  for (uint32_t row = 0; row < root.info.rows; ++row) {
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t ordinal, ordinals.ReadElement<uint64_t>(row));
    if (row > 0 && ordinal <= last) {
      return ordinals.Damaged(Detail::kMiscounted, fmt::format("row {} is out of order", row));
    }
    last = ordinal;
    PIGMENT_RETURN_IF_ERROR(segment.ReadRecord(row, {false, true, true, true}).status());
  }
  return Status::Ok();
}

}  // namespace

Status VerifySegment(const Segment& segment, BlockSource* source, const Root& root) {
  PIGMENT_RETURN_IF_ERROR(VerifyBlocks(source, root));
  PIGMENT_RETURN_IF_ERROR(VerifyVectors(segment, source, root));
  PIGMENT_RETURN_IF_ERROR(VerifyCodes(segment, source, root));
  PIGMENT_RETURN_IF_ERROR(VerifyRowVectors(segment, source, root));
  PIGMENT_RETURN_IF_ERROR(VerifyRowPointers(source, root));
  return VerifyRecords(segment, source, root);
}

}  // namespace pigment
