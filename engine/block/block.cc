// SPDX-License-Identifier: Apache-2.0
//
// Trailers: written once when a block is sealed, checked whenever it comes from outside.

#include "engine/block/block.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/base/checksum.h"
#include "engine/base/planted_bugs.h"

namespace pigment {
namespace {

constexpr size_t kTrailerOffset = kBlockBytes - kBlockTrailerBytes;
constexpr size_t kChecksumOffset = kBlockBytes - sizeof(uint32_t);
static_assert(offsetof(BlockTrailer, checksum) == kBlockTrailerBytes - sizeof(uint32_t));
static_assert(offsetof(BlockTrailer, segment) == 4 && offsetof(BlockTrailer, logical) == 8);

uint32_t ChecksumOf(ConstBlockBytes block) {
  return Crc32c(block.subspan(kBlockHeaderBytes, kChecksumOffset - kBlockHeaderBytes));
}

Status Damaged(Detail detail, uint32_t physical, const std::string& where, std::string message) {
  return DataLoss(detail, where, static_cast<int64_t>(physical) * static_cast<int64_t>(kBlockBytes),
                  fmt::format("block {} of \"{}\": {}", physical, where, message));
}

Status CheckFormat(const BlockTrailer& trailer, uint32_t physical, const std::string& where) {
  if (IsKnownFormat(trailer)) return Status::Ok();
  return Status(Code::kVersionMismatch,
                fmt::format("block {} of \"{}\" has format version {}, this library reads up to {}",
                            physical, where, trailer.format, kBlockFormatMax))
      .WithFile(where, static_cast<int64_t>(physical) * static_cast<int64_t>(kBlockBytes));
}

}  // namespace

std::string_view BlockKindName(BlockKind kind) {
  switch (kind) {
    case BlockKind::kRoot:
      return "root";
    case BlockKind::kExtents:
      return "extents";
    case BlockKind::kVectors:
      return "vectors";
    case BlockKind::kRowVectors:
      return "row vectors";
    case BlockKind::kRowPointers:
      return "row pointers";
    case BlockKind::kOrdinals:
      return "ordinals";
    case BlockKind::kIdIndex:
      return "id index";
    case BlockKind::kIds:
      return "ids";
    case BlockKind::kIdOffsets:
      return "id offsets";
    case BlockKind::kRecords:
      return "records";
    case BlockKind::kRecordOffsets:
      return "record offsets";
    case BlockKind::kCodes:
      return "codes";
    case BlockKind::kIdHashes:
      return "id hashes";
    case BlockKind::kDocuments:
      return "documents";
    case BlockKind::kDocumentChunks:
      return "document chunks";
    case BlockKind::kPacked:
      return "packed";
    case BlockKind::kIndex:
      return "index";
    case BlockKind::kEntries:
      return "entries";
    case BlockKind::kGraphNodes:
      return "graph nodes";
    case BlockKind::kClusterSizes:
      return "cluster sizes";
    case BlockKind::kCentroids:
      return "centroids";
    case BlockKind::kClusterNodes:
      return "cluster nodes";
    case BlockKind::kRowGroups:
      return "row groups";
    case BlockKind::kFields:
      return "fields";
    case BlockKind::kTermBlocks:
      return "term blocks";
    case BlockKind::kTerms:
      return "terms";
    case BlockKind::kPostings:
      return "postings";
    case BlockKind::kCells:
      return "cells";
    case BlockKind::kCellGroups:
      return "cell groups";
    case BlockKind::kCellFields:
      return "cell fields";
    case BlockKind::kCellTermBlocks:
      return "cell term blocks";
    case BlockKind::kCellTerms:
      return "cell terms";
    case BlockKind::kCellPostings:
      return "cell postings";
    case BlockKind::kCellRows:
      return "cell rows";
    case BlockKind::kDocumentBegins:
      return "document begins";
    case BlockKind::kDocumentEnds:
      return "document ends";
    case BlockKind::kGramGroups:
      return "gram groups";
    case BlockKind::kGramFields:
      return "gram fields";
    case BlockKind::kGramTermBlocks:
      return "gram term blocks";
    case BlockKind::kGramTerms:
      return "gram terms";
    case BlockKind::kGramPostings:
      return "gram postings";
    case BlockKind::kRowCodes:
      return "row codes";
    case BlockKind::kVectorHashes:
      return "vector hashes";
    case BlockKind::kIndexRules:
      return "index rules";
    case BlockKind::kTextHead:
      return "text head";
    case BlockKind::kTextGroups:
      return "text groups";
    case BlockKind::kTextLengths:
      return "text lengths";
    case BlockKind::kTextTermBlocks:
      return "text term blocks";
    case BlockKind::kTextTerms:
      return "text terms";
    case BlockKind::kTextPostings:
      return "text postings";
    case BlockKind::kPending:
      return "pending";
    case BlockKind::kOverflow:
      return "overflow";
    case BlockKind::kDeletions:
      return "deletions";
    case BlockKind::kMeta:
      return "meta";
  }
  return "unknown";
}

void SealBlock(BlockBytes block, BlockKind kind, uint32_t segment, uint32_t logical,
               uint8_t format) {
  BlockTrailer trailer{kind, format, 0, segment, logical, 0};
  std::memcpy(block.data() + kTrailerOffset, &trailer, sizeof trailer);
  trailer.checksum = ChecksumOf(block);
  std::memcpy(block.data() + kChecksumOffset, &trailer.checksum, sizeof trailer.checksum);
}

Status CheckBlockBytes(ConstBlockBytes block, uint32_t physical, const std::string& where) {
  const BlockTrailer trailer = ReadBlockTrailer(block);
  if (PIGMENT_PLANTED(kBlockChecksumNotChecked)) return Status::Ok();
  if (const uint32_t checksum = ChecksumOf(block); checksum != trailer.checksum) {
    return Damaged(Detail::kChecksum, physical, where,
                   fmt::format("checksum {:08x}, stored {:08x}", checksum, trailer.checksum));
  }
  return CheckFormat(trailer, physical, where);
}

Status WrongBlockPlace(const BlockTrailer& trailer, const BlockExpectation& expected,
                       uint32_t physical, const std::string& where) {
  PIGMENT_RETURN_IF_ERROR(CheckFormat(trailer, physical, where));
  if (PIGMENT_PLANTED(kBlockPlaceNotChecked)) return Status::Ok();
  if (trailer.kind != expected.kind) {
    return Damaged(Detail::kWrongKind, physical, where,
                   fmt::format("kind {} ({}), expected {} ({})", static_cast<int>(trailer.kind),
                               BlockKindName(trailer.kind), static_cast<int>(expected.kind),
                               BlockKindName(expected.kind)));
  }
  if (trailer.segment != expected.segment) {
    return Damaged(
        Detail::kForeign, physical, where,
        fmt::format("belongs to segment {}, expected {}", trailer.segment, expected.segment));
  }
  if (trailer.logical != expected.logical) {
    return Damaged(
        Detail::kForeign, physical, where,
        fmt::format("is logical block {}, expected {}", trailer.logical, expected.logical));
  }
  return Status::Ok();
}

Status CheckBlockOfFile(ConstBlockBytes block, uint32_t segment, uint32_t physical,
                        const std::string& where) {
  PIGMENT_RETURN_IF_ERROR(CheckBlockBytes(block, physical, where));
  const BlockTrailer trailer = ReadBlockTrailer(block);
  const uint32_t number = trailer.format == kBlockOfSegment ? physical : trailer.logical;
  return CheckBlockPlace(block, {trailer.kind, segment, number}, physical, where);
}

Status CheckBlock(ConstBlockBytes block, const BlockExpectation& expected, uint32_t physical,
                  const std::string& where) {
  PIGMENT_RETURN_IF_ERROR(CheckBlockBytes(block, physical, where));
  return CheckBlockPlace(block, expected, physical, where);
}

}  // namespace pigment
