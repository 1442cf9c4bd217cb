// SPDX-License-Identifier: Apache-2.0
//
// Verify, part by part.

#include "engine/segment/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/segment/id_index.h"
#include "engine/segment/index_verify.h"
#include "engine/segment/inverted_verify.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/record_bytes.h"
#include "engine/segment/row_reader.h"
#include "engine/segment/text_verify.h"
#include "engine/segment/vector_hash.h"
#include "engine/vector/byte_code.h"

namespace pigment {
namespace {

Status VerifyBlocks(const Segment& segment, BlockSource* source) {
  Status status;
  segment.VisitBlocks([&](uint32_t physical, const BlockExpectation& expected) {
    if (status.ok()) status = PinChecked(source, physical, expected).status();
  });
  return status;
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
  PartCursor cursor(source, &root, BlockKind::kVectors);
  std::vector<float> padding(root.info.dimension);
  const std::vector<float> zeros(root.info.dimension);
  for (uint32_t slot = root.info.vectors; slot < root.info.vector_slots; ++slot) {
    PIGMENT_RETURN_IF_ERROR(ReadVectorFrom(cursor, root, slot, padding));
    if (padding != zeros)
      return part.Damaged(Detail::kMiscounted, fmt::format("padding slot {} is not zero", slot));
  }
  return Status::Ok();
}

// Codes are a function of the vectors.
Status VerifyCodes(const Segment& segment, BlockSource* source, const Root& root) {
  if (!segment.has_codes()) return Status::Ok();
  const PartCursor part(source, &root, BlockKind::kCodes);
  PartCursor vectors(source, &root, BlockKind::kVectors);
  const size_t bytes = ByteCodeBytes(root.info.dimension);
  std::vector<float> vector(root.info.dimension);
  std::vector<std::byte> expected(bytes);
  return segment.VisitCodes([&](uint32_t first, const std::byte* codes, size_t count) -> Status {
    for (size_t i = 0; i < count; ++i) {
      PIGMENT_RETURN_IF_ERROR(
          ReadVectorFrom(vectors, root, first + static_cast<uint32_t>(i), vector));
      EncodeByteCode(vector, expected.data());
      if (std::memcmp(expected.data(), codes + i * bytes, bytes) == 0) continue;
      return part.Damaged(Detail::kMiscounted,
                          fmt::format("code {} is not that of its vector", first + i));
    }
    return Status::Ok();
  });
}

// Vectors lie in the order of the rows that own them, and none is without a row; where there is an
// index each has the number of its row.
Status VerifyRowVectors(const Segment& segment, BlockSource* source, const Root& root) {
  PartCursor part(source, &root, BlockKind::kRowVectors);
  if (!part.exists()) return Status::Ok();
  uint32_t next = 0;
  for (uint32_t row = 0; row < root.info.rows; ++row) {
    PIGMENT_ASSIGN_OR_RETURN(const uint32_t vector, segment.ReadRowVector(row));
    const bool may_be_shared = root.info.kind == SegmentKind::kFlat && next > 0;
    if (vector == kNoVector || (may_be_shared && vector == next - 1)) continue;
    if (vector != next || (root.info.kind != SegmentKind::kFlat && vector != row)) {
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

// Rows sorted by hashes, each once: calls `visit` with the row and the hash of each entry.
template <typename Visit>  // Status(uint32_t number, uint32_t row, uint32_t hash)
Status VisitHashes(PartCursor& index, uint32_t entries, uint32_t rows, const Visit& visit) {
  std::vector<bool> seen(rows);
  uint64_t previous = 0;
  for (uint32_t i = 0; i < entries; ++i) {
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t entry, index.ReadElement<uint64_t>(i));
    const uint32_t row = RowOf(entry);
    if (row >= rows || seen[row] || (i > 0 && entry <= previous))
      return index.Damaged(Detail::kMiscounted, fmt::format("entry {} names row {}", i, row));
    seen[row] = true;
    previous = entry;
    PIGMENT_RETURN_IF_ERROR(visit(i, row, HashOf(entry)));
  }
  return Status::Ok();
}

Status OtherHash(const PartCursor& index, uint32_t entry, uint32_t row) {
  return index.Damaged(Detail::kMiscounted,
                       fmt::format("entry {} has not the hash of row {}", entry, row));
}

Status VerifyVectorHashes(const Segment& segment, BlockSource* source, const Root& root) {
  PartCursor index(source, &root, BlockKind::kVectorHashes);
  if (!index.exists()) return Status::Ok();
  PartCursor vectors(source, &root, BlockKind::kVectors);
  std::vector<float> vector(root.info.dimension);
  return VisitHashes(index, root.info.vectors, root.info.rows,
                     [&](uint32_t entry, uint32_t row, uint32_t hash) -> Status {
                       PIGMENT_ASSIGN_OR_RETURN(const uint32_t number, segment.ReadRowVector(row));
                       if (number == kNoVector)
                         return index.Damaged(Detail::kMiscounted,
                                              fmt::format("row {} has no vector", row));
                       PIGMENT_RETURN_IF_ERROR(ReadVectorFrom(vectors, root, number, vector));
                       const bool is_its = StoredHash(HashVector(root.info.owner, vector)) == hash;
                       return is_its ? Status::Ok() : OtherHash(index, entry, row);
                     });
}

// Rows sorted by id, each once.
Status VerifyIdOrder(BlockSource* source, const Root& root) {
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
  return Status::Ok();
}

// And no id twice.
Status VerifyIdHashes(BlockSource* source, const Root& root) {
  PartCursor index(source, &root, BlockKind::kIdHashes);
  IdReader ids(source, &root);
  std::vector<std::string> alike;  // ids of the hash before
  uint32_t previous = 0;
  return VisitHashes(index, root.info.rows, root.info.rows,
                     [&](uint32_t entry, uint32_t row, uint32_t hash) -> Status {
                       PIGMENT_ASSIGN_OR_RETURN(const std::string_view id, ids.Read(row));
                       if (HashId(root.info.owner, id).stored != hash)
                         return OtherHash(index, entry, row);
                       if (entry == 0 || hash != previous) alike.clear();
                       if (std::find(alike.begin(), alike.end(), id) != alike.end()) {
                         return index.Damaged(Detail::kMiscounted,
                                              fmt::format("row {} has the id of another", row));
                       }
                       alike.emplace_back(id);
                       previous = hash;
                       return Status::Ok();
                     });
}

Status VerifyRecords(BlockSource* source, const Root& root) {
  OrdinalReader ordinals(source, &root);
  if (!ordinals.part().exists()) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(root.format == 1 ? VerifyIdOrder(source, root)
                                           : VerifyIdHashes(source, root));
  RecordReader records(source, &root);
  PIGMENT_RETURN_IF_ERROR(IdReader(source, &root).VerifyPlaces(root.info.rows));
  PIGMENT_RETURN_IF_ERROR(records.VerifyPlaces(root.info.rows));
  const PartCursor stream(source, &root, BlockKind::kRecords);
  uint64_t last = 0;
  uint64_t document_bytes = 0;
  Record record;
  for (uint32_t row = 0; row < root.info.rows; ++row) {
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t ordinal, ordinals.Read(row));
    if (row > 0 && ordinal <= last) {
      return ordinals.part().Damaged(Detail::kMiscounted,
                                     fmt::format("row {} is out of order", row));
    }
    last = ordinal;
    PIGMENT_ASSIGN_OR_RETURN(const RecordReader::Place place, records.Find(row));
    const bool has_document = (place.header.flags & kHasDocument) != 0;
    if (root.format > 1 && has_document && place.header.document_offset != document_bytes) {
      return stream.Damaged(Detail::kMiscounted,
                            fmt::format("the document of row {} begins at {}, expected {}", row,
                                        place.header.document_offset, document_bytes));
    }
    document_bytes += place.header.document_bytes;
    PIGMENT_RETURN_IF_ERROR(records.ReadInto(row, {false, true, true, true}, record));
  }
  if (root.format == 1 || document_bytes == root.document_bytes) return Status::Ok();
  return stream.Damaged(Detail::kMiscounted,
                        fmt::format("documents have {} bytes, the root says {}", document_bytes,
                                    root.document_bytes));
}

}  // namespace

Status VerifySegment(const Segment& segment, BlockSource* source, const Root& root) {
  PIGMENT_RETURN_IF_ERROR(VerifyBlocks(segment, source));
  PIGMENT_RETURN_IF_ERROR(VerifyVectors(segment, source, root));
  PIGMENT_RETURN_IF_ERROR(VerifyCodes(segment, source, root));
  PIGMENT_RETURN_IF_ERROR(VerifyRowVectors(segment, source, root));
  PIGMENT_RETURN_IF_ERROR(VerifyRowPointers(source, root));
  PIGMENT_RETURN_IF_ERROR(VerifyVectorHashes(segment, source, root));
  PIGMENT_RETURN_IF_ERROR(VerifyIndex(segment, source, root));
  PIGMENT_RETURN_IF_ERROR(VerifyRecords(source, root));
  PIGMENT_RETURN_IF_ERROR(VerifyInverted(source, root));
  PIGMENT_RETURN_IF_ERROR(VerifyCells(source, root));
  return VerifyText(source, root);
}

}  // namespace pigment
