// SPDX-License-Identifier: Apache-2.0
//
// Reading a root. Nothing in it is believed: the checksum tells accidents, the checks here also
// what a hand wrote.

#include "engine/segment/root.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "engine/segment/cell_part.h"
#include "engine/segment/inverted_part.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/record_bytes.h"
#include "engine/segment/text_part.h"
#include "engine/vector/byte_code.h"
#include "engine/vector/graph_space.h"

namespace pigment {
namespace {

// One bad root, told with its place.
class RootError {
 public:
  RootError(const BlockSource* source, uint32_t physical) : source_(source), physical_(physical) {}

  Status operator()(Detail detail, std::string message) const {
    return DataLoss(
        detail, source_->name(),
        static_cast<int64_t>(physical_) * static_cast<int64_t>(kBlockBytes),
        fmt::format("segment root in block {} of \"{}\": {}", physical_, source_->name(), message));
  }

 private:
  const BlockSource* source_;
  uint32_t physical_;
};

Status CheckHeader(const RootHeader& header, const BlockTrailer& trailer,
                   std::optional<uint32_t> expected_segment, const RootError& error) {
  if (std::memcmp(header.magic, kRootMagic, sizeof kRootMagic) != 0)
    return error(Detail::kWrongKind, "wrong magic");
  if (header.format == 0 || header.format > kSegmentFormat) {
    return Status(Code::kVersionMismatch,
                  fmt::format("segment has format version {}, this library reads up to {}",
                              header.format, kSegmentFormat));
  }
  if (header.segment != trailer.segment ||
      (expected_segment && header.segment != *expected_segment)) {
    return error(Detail::kForeign, fmt::format("belongs to segment {}, expected {}", header.segment,
                                               expected_segment.value_or(trailer.segment)));
  }
  if (header.blocks == 0 || trailer.logical != header.blocks - 1) {
    return error(Detail::kForeign, fmt::format("is logical block {} of {}, expected the last",
                                               trailer.logical, header.blocks));
  }
  if (header.header_bytes != sizeof(RootHeader)) {
    return error(Detail::kMisaligned, fmt::format("header of {} bytes", header.header_bytes));
  }
  const auto kind = static_cast<SegmentKind>(header.kind);
  if (kind < SegmentKind::kFlat || kind > SegmentKind::kClusters) {
    return Status(Code::kVersionMismatch,
                  fmt::format("segment {} is of kind {}, this library reads kinds 1 (flat), 2 "
                              "(graph) and 3 (clusters)",
                              header.segment, header.kind));
  }
  if (header.dimension > 65535)
    return error(Detail::kMiscounted, fmt::format("dimension {}", header.dimension));
  if (header.metric != 0 && MetricName(static_cast<Metric>(header.metric)).empty()) {
    return error(Detail::kMiscounted, fmt::format("metric {}", header.metric));
  }
  if (header.vector_element > static_cast<uint32_t>(VectorElement::kBit)) {
    return error(Detail::kMiscounted, fmt::format("vector element {}", header.vector_element));
  }
  const uint64_t slots =
      (uint64_t{header.vectors} + kClusterAlignment - 1) / kClusterAlignment * kClusterAlignment;
  if (header.vectors > header.rows || header.vector_slots != slots ||
      header.clusters < (header.vectors != 0 ? 1 : 0) ||
      header.clusters > (kind == SegmentKind::kClusters ? header.vectors : 1) ||
      (header.vectors == 0 && header.clusters != 0) ||
      (header.vectors != 0 && header.dimension == 0)) {
    return error(
        Detail::kMiscounted,
        fmt::format("{} rows, {} vectors in {} slots and {} clusters, dimension {}", header.rows,
                    header.vectors, header.vector_slots, header.clusters, header.dimension));
  }
  return Status::Ok();
}

// What the counts of the header say about a part: element size and bytes; a stream's bytes are
// free.
struct PartRule {
  uint32_t element_bytes;
  uint64_t bytes;
  bool is_stream = false;      // of any number of elements too
  bool may_be_stream = false;  // elements without gaps, of so many bytes all the same
  bool is_free = false;        // of any size; who reads the part checks it
};

const PartEntry* FindPart(const std::vector<PartEntry>& parts, BlockKind kind) {
  const auto part = std::ranges::find(parts, static_cast<uint32_t>(kind), &PartEntry::kind);
  return part != parts.end() ? &*part : nullptr;
}

// Of where ids or records lie: see record_bytes.h.
PartRule PlaceRule(uint64_t rows, const PartEntry* part) {
  if (part != nullptr && part->element_bytes == sizeof(uint64_t))
    return {sizeof(uint64_t), (rows + 1) * sizeof(uint64_t)};
  return {sizeof(RowPlaces), RowPlacesOf(rows) * sizeof(RowPlaces)};
}

Status AddRecordRules(const RootHeader& header, const std::vector<PartEntry>& parts,
                      const RootError& error, std::map<BlockKind, PartRule>& rules) {
  const uint64_t rows = header.rows;
  if (header.vectors != header.rows && header.dimension != 0) {
    // Rows of a store have vectors as soon as their collection has a dimension.
    return error(Detail::kMiscounted,
                 fmt::format("{} records with {} vectors", header.rows, header.vectors));
  }
  const PartEntry* const ordinals = FindPart(parts, BlockKind::kOrdinals);
  const bool are_in_a_row = ordinals != nullptr && ordinals->bytes == 8;
  rules[BlockKind::kOrdinals] = {8, are_in_a_row ? 8 : rows * 8};
  if (header.format == 1) {
    rules[BlockKind::kIdIndex] = {4, rows * 4};
  } else {
    rules[BlockKind::kIdHashes] = {8, rows * 8};
  }
  rules[BlockKind::kIds] = {0, 0, true};
  rules[BlockKind::kIdOffsets] = PlaceRule(rows, FindPart(parts, BlockKind::kIdOffsets));
  rules[BlockKind::kRecords] = {0, 0, true};
  rules[BlockKind::kRecordOffsets] = PlaceRule(rows, FindPart(parts, BlockKind::kRecordOffsets));
  if (header.document_bytes == 0) return Status::Ok();
  rules[BlockKind::kDocuments] = {0, 0, true};
  const uint32_t chunk = header.document_chunk_bytes;
  if (chunk == 0) {
    rules[BlockKind::kDocuments] = {0, header.document_bytes};
    return Status::Ok();
  }
  if (chunk < kDocumentChunkBytesMin || chunk > kDocumentChunkBytesMax ||
      header.document_bytes > uint64_t{kNoBlock} * chunk) {
    return error(Detail::kMiscounted, fmt::format("{} bytes of documents in chunks of {}",
                                                  header.document_bytes, chunk));
  }
  rules[BlockKind::kDocumentChunks] = {8, ((header.document_bytes + chunk - 1) / chunk + 1) * 8};
  return Status::Ok();
}

// How many there are of each the others say, to who reads them.
void AddInvertedRules(const InvertedKinds& kinds, std::map<BlockKind, PartRule>& rules) {
  rules[kinds.groups] = {sizeof(RowGroupEntry), 0, true};
  rules[kinds.fields] = {sizeof(FieldEntry), 0, true};
  rules[kinds.blocks] = {sizeof(TermBlockEntry), 0, true};
  rules[kinds.terms] = {0, 0, true};
  rules[kinds.postings] = {0, 0, true};
}

// Of an index that is not read any more (cell_part.h).
void AddOldCellRules(uint64_t rows, std::map<BlockKind, PartRule>& rules) {
  constexpr uint32_t kOldCellBytes = 16;
  rules[BlockKind::kCells] = {kOldCellBytes, 0, true};
  rules[BlockKind::kCellRows] = {sizeof(uint32_t), rows * sizeof(uint32_t)};
  AddInvertedRules({.groups = BlockKind::kCellGroups,
                    .fields = BlockKind::kCellFields,
                    .blocks = BlockKind::kCellTermBlocks,
                    .terms = BlockKind::kCellTerms,
                    .postings = BlockKind::kCellPostings},
                   rules);
}

void AddTextRules(uint64_t rows, std::map<BlockKind, PartRule>& rules) {
  rules[BlockKind::kTextHead] = {0, 0, true};
  rules[BlockKind::kTextGroups] = {sizeof(TextGroupEntry), 0, true};
  rules[BlockKind::kTextLengths] = {4, rows * 4};
  rules[BlockKind::kTextTermBlocks] = {sizeof(TextTermBlock), 0, true};
  rules[BlockKind::kTextTerms] = {0, 0, true};
  rules[BlockKind::kTextPostings] = {0, 0, true};
}

Result<std::map<BlockKind, PartRule>> RulesOf(const RootHeader& header,
                                              const std::vector<PartEntry>& parts,
                                              const RootError& error) {
  const uint64_t rows = header.rows;
  std::map<BlockKind, PartRule> rules;
  const auto has = [&parts](BlockKind kind) { return FindPart(parts, kind) != nullptr; };
  if (header.vectors != 0) {
    const auto bytes = static_cast<uint32_t>(
        VectorBytes(static_cast<VectorElement>(header.vector_element), header.dimension));
    rules[BlockKind::kVectors] = {.element_bytes = bytes,
                                  .bytes = uint64_t{bytes} * header.vector_slots,
                                  .may_be_stream = true};
  }
  if (const auto kind = static_cast<SegmentKind>(header.kind); kind != SegmentKind::kFlat) {
    // How long they are the head says (ReadIndexHead).
    if (header.vectors == 0 || header.metric == 0) {
      return error(Detail::kMiscounted,
                   fmt::format("an index of {} vectors, metric {}", header.vectors, header.metric));
    }
    std::vector<BlockKind> kinds = {BlockKind::kIndex, BlockKind::kEntries};
    if (has(BlockKind::kRowCodes)) kinds.push_back(BlockKind::kRowCodes);
    if (kind == SegmentKind::kGraph) {
      kinds.push_back(BlockKind::kGraphNodes);
    } else {
      for (const BlockKind of_clusters :
           {BlockKind::kClusterSizes, BlockKind::kCentroids, BlockKind::kClusterNodes})
        kinds.push_back(of_clusters);
    }
    for (const BlockKind part : kinds)
      rules[part] = {.element_bytes = 0, .bytes = 0, .is_free = true};
  }
  if (has(BlockKind::kCodes)) {
    if (header.vectors == 0 || header.dimension > kByteCodeDimensionMax) {
      return error(Detail::kMiscounted, fmt::format("codes of {} vectors of dimension {}",
                                                    header.vectors, header.dimension));
    }
    const size_t bytes = ByteCodeBytes(header.dimension);
    rules[BlockKind::kCodes] = {static_cast<uint32_t>(bytes),
                                uint64_t{bytes} * header.vector_slots};
  }
  if (header.vectors != header.rows) rules[BlockKind::kRowVectors] = {4, rows * 4};
  if (rows == 0) return rules;
  if (has(BlockKind::kRowPointers)) {
    rules[BlockKind::kRowPointers] = {8, rows * 8};
    if (has(BlockKind::kRowGroups)) AddInvertedRules(kMetadataKinds, rules);
    if (has(BlockKind::kVectorHashes))
      rules[BlockKind::kVectorHashes] = {8, uint64_t{header.vectors} * 8};
    return rules;
  }
  PIGMENT_RETURN_IF_ERROR(AddRecordRules(header, parts, error, rules));
  if (has(BlockKind::kRowGroups)) AddInvertedRules(kMetadataKinds, rules);
  if (has(BlockKind::kGramGroups)) AddInvertedRules(kGramKinds, rules);
  // Where all documents are empty nothing is to be said of their places.
  if (has(BlockKind::kGramGroups) &&
      (header.document_bytes != 0 || has(BlockKind::kDocumentEnds))) {
    rules[BlockKind::kDocumentBegins] = {sizeof(uint64_t),
                                         DocumentBeginsOf(rows) * sizeof(uint64_t)};
    rules[BlockKind::kDocumentEnds] = {sizeof(uint32_t), rows * sizeof(uint32_t)};
  }
  if (has(BlockKind::kCells)) AddOldCellRules(rows, rules);
  if (has(BlockKind::kRowGroups) && has(BlockKind::kIndexRules))
    rules[BlockKind::kIndexRules] = {0, 0, true};
  if (has(BlockKind::kTextHead)) AddTextRules(rows, rules);
  return rules;
}

// Where parts lie: those with blocks of their own one after the other, then those in packed blocks
// and in the root, which share them without overlapping.
class PartPlaces {
 public:
  PartPlaces(const RootHeader& header, const RootError& error) : header_(header), error_(error) {
    root_end_ = sizeof(RootHeader) + header.parts * sizeof(PartEntry) +
                header.root_extents * sizeof(Extent);
  }

  Status Check(const PartEntry& part) {
    const auto kind = static_cast<BlockKind>(part.kind);
    if (part.is_packed() && header_.format > 1) return CheckPacked(part);
    if (part.first != next_ || part.blocks != BlocksOfPart(part.element_bytes, part.bytes) ||
        shared_block_ != kNoBlock || part.offset != 0) {
      return error_(Detail::kMiscounted,
                    fmt::format("part {} has {} blocks from {} for {} bytes", BlockKindName(kind),
                                part.blocks, part.first, part.bytes));
    }
    next_ += part.blocks;
    return Status::Ok();
  }
  uint64_t own_blocks() const { return next_; }

 private:
  Status CheckPacked(const PartEntry& part) {
    const uint32_t root = header_.blocks - 1;
    if (shared_block_ == kNoBlock || part.first != shared_block_) {
      const bool ascends =
          shared_block_ == kNoBlock ? part.first >= next_ : part.first > shared_block_;
      const bool exists =
          part.first == root || part.first < next_ + uint64_t{header_.packed_blocks};
      if (!ascends || !exists) return Misplaced(part);
      shared_block_ = part.first;
      shared_end_ = part.first == root ? root_end_ : 0;
    }
    if (part.offset % 8 != 0 || part.offset < shared_end_ || part.offset > kBlockPayloadBytes ||
        part.bytes > kBlockPayloadBytes - part.offset || part.reserved != 0) {
      return Misplaced(part);
    }
    shared_end_ = part.offset + part.bytes;
    return Status::Ok();
  }
  Status Misplaced(const PartEntry& part) const {
    return error_(Detail::kMiscounted, fmt::format("part {} has {} bytes at {} of block {}",
                                                   BlockKindName(static_cast<BlockKind>(part.kind)),
                                                   part.bytes, part.offset, part.first));
  }

  const RootHeader& header_;
  const RootError& error_;
  uint64_t next_ = 0;
  uint32_t shared_block_ = kNoBlock;
  uint64_t shared_end_ = 0;
  uint64_t root_end_ = 0;
};

Status CheckParts(const RootHeader& header, const std::vector<PartEntry>& parts,
                  const RootError& error) {
  PIGMENT_ASSIGN_OR_RETURN(auto rules, RulesOf(header, parts, error));
  PartPlaces places(header, error);
  for (const PartEntry& part : parts) {
    const auto rule = rules.find(static_cast<BlockKind>(part.kind));
    if (part.kind > 63 || rule == rules.end()) {
      return error(
          Detail::kMiscounted,
          fmt::format("part of kind {} is unknown, superfluous or twice there", part.kind));
    }
    const bool is_any =
        rule->second.is_free || (rule->second.may_be_stream && part.element_bytes == 0);
    const uint32_t element_bytes = is_any ? part.element_bytes : rule->second.element_bytes;
    const bool is_sized = !rule->second.is_stream && !rule->second.is_free;
    if (part.element_bytes != element_bytes || (is_sized && part.bytes != rule->second.bytes) ||
        (element_bytes != 0 && part.bytes % element_bytes != 0)) {
      return error(Detail::kMiscounted,
                   fmt::format("part {} has {} bytes in elements of {}, expected {} of {}",
                               BlockKindName(rule->first), part.bytes, part.element_bytes,
                               rule->second.bytes, element_bytes));
    }
    PIGMENT_RETURN_IF_ERROR(places.Check(part));
    rules.erase(rule);
  }
  if (!rules.empty()) {
    return error(Detail::kMissing, fmt::format("no part {}", BlockKindName(rules.begin()->first)));
  }
  const uint64_t overflow =
      (uint64_t{header.extents} - header.root_extents + kExtentsPerBlock - 1) / kExtentsPerBlock;
  if (header.blocks != places.own_blocks() + header.packed_blocks + overflow + 1) {
    return error(Detail::kMiscounted,
                 fmt::format("{} blocks, {} of parts, {} packed and {} of extents", header.blocks,
                             places.own_blocks(), header.packed_blocks, overflow));
  }
  return Status::Ok();
}

// The part table, brought into the form of version 2.
std::vector<PartEntry> ReadPartTable(const std::byte* table, const RootHeader& header) {
  std::vector<PartEntry> parts(header.parts);
  const size_t bytes = header.format == 1 ? kPartEntryBytes1 : sizeof(PartEntry);
  for (size_t i = 0; i < parts.size(); ++i) std::memcpy(&parts[i], table + i * bytes, bytes);
  return parts;
}

// Appends what lies in a root or in a kExtents block; each extent must go on where the last one
// ended.
Status AppendExtents(const std::byte* from, uint32_t count, std::optional<uint32_t> blocks_there,
                     const RootError& error, std::vector<Extent>& extents) {
  for (uint32_t i = 0; i < count; ++i) {
    Extent extent;
    std::memcpy(&extent, from + i * sizeof extent, sizeof extent);
    const uint64_t expected =
        extents.empty() ? 0 : uint64_t{extents.back().logical} + extents.back().count;
    const uint64_t end = uint64_t{extent.physical} + extent.count;
    if (extent.logical != expected || extent.count == 0 || end > blocks_there.value_or(kNoBlock)) {
      return error(Detail::kMiscounted,
                   fmt::format("extent {} maps {} blocks from {} to {}", extents.size(),
                               extent.count, extent.logical, extent.physical));
    }
    extents.push_back(extent);
  }
  return Status::Ok();
}

Status ReadExtents(BlockSource* source, const RootHeader& header, const std::byte* in_root,
                   const RootError& error, Root* root) {
  std::vector<Extent>& extents = root->extents;
  PIGMENT_RETURN_IF_ERROR(
      AppendExtents(in_root, header.root_extents, source->blocks(), error, extents));
  uint32_t physical = header.extents_physical;
  uint32_t logical = header.blocks - 1;
  while (extents.size() < header.extents) {
    // The chain is as long as the counts say: the checks of CheckParts bound it, each block is
    // where it says it is.
    PIGMENT_ASSIGN_OR_RETURN(
        PinnedBlock block,
        PinChecked(source, physical, {BlockKind::kExtents, header.segment, --logical}));
    ExtentsHeader chunk;
    std::memcpy(&chunk, block.payload(), sizeof chunk);
    const uint64_t left = header.extents - extents.size();
    if (chunk.count != std::min<uint64_t>(left, kExtentsPerBlock)) {
      return error(Detail::kMiscounted,
                   fmt::format("{} extents in block {}, {} to come", chunk.count, physical, left));
    }
    PIGMENT_RETURN_IF_ERROR(AppendExtents(block.payload() + sizeof chunk, chunk.count,
                                          source->blocks(), error, extents));
    root->extent_blocks.push_back(physical);
    physical = chunk.next;
  }
  return Status::Ok();
}

}  // namespace

uint64_t BlocksOfPart(uint32_t element_bytes, uint64_t bytes) {
  if (element_bytes == 0) return (bytes + kBlockPayloadBytes - 1) / kBlockPayloadBytes;
  const uint64_t elements = bytes / element_bytes;
  const uint32_t per_block = ElementsPerBlock(element_bytes);
  if (per_block == 0) return elements * BlocksPerElement(element_bytes);
  return (elements + per_block - 1) / per_block;
}

size_t Root::ExtentOf(uint32_t logical) const {
  const auto after = std::upper_bound(
      extents.begin(), extents.end(), logical,
      [](uint32_t number, const Extent& extent) { return number < extent.logical; });
  return static_cast<size_t>(after - extents.begin()) - 1;
}

Root::PartMap Root::MapOf(const PartEntry& part) const {
  constexpr uint32_t kShiftMax = 31;
  if (part.bytes == 0) return {kShiftMax, {}};
  if (part.first == info.blocks - 1) return {kShiftMax, {physical}};  // in the root
  const uint32_t blocks = std::max(part.blocks, uint32_t{1});
  size_t extent = ExtentOf(part.first);
  uint32_t begins = 0;  // all bits of the places where extents begin
  for (size_t i = extent + 1; i < extents.size() && extents[i].logical - part.first < blocks; ++i)
    begins |= extents[i].logical - part.first;
  PartMap map;
  map.shift = begins != 0 ? static_cast<uint32_t>(std::countr_zero(begins)) : kShiftMax;
  for (uint64_t block = 0; block < blocks; block += uint64_t{1} << map.shift) {
    const uint32_t logical = part.first + static_cast<uint32_t>(block);
    while (logical - extents[extent].logical >= extents[extent].count) ++extent;
    map.physical.push_back(extents[extent].physical + (logical - extents[extent].logical));
  }
  return map;
}

void Root::MakeMaps() {
  for (size_t i = 0; i < parts.size(); ++i) {
    places[parts[i].kind] = static_cast<uint8_t>(i + 1);
    maps.push_back(MapOf(parts[i]));
  }
}

Result<Root> ReadRoot(BlockSource* source, uint32_t physical,
                      std::optional<uint32_t> expected_segment) {
  const RootError error(source, physical);
  PIGMENT_ASSIGN_OR_RETURN(PinnedBlock block, PinUnchecked(source, physical));
  const BlockTrailer trailer = ReadBlockTrailer(block.block());
  PIGMENT_RETURN_IF_ERROR(
      CheckBlock(block.block(),
                 {BlockKind::kRoot, expected_segment.value_or(trailer.segment), trailer.logical},
                 physical, source->name()));
  RootHeader header;
  std::memcpy(&header, block.payload(), sizeof header);
  PIGMENT_RETURN_IF_ERROR(CheckHeader(header, trailer, expected_segment, error));

  // One part of each kind at most, so that the table fits in any case.
  constexpr size_t kPartsMax = 64;
  const size_t entry_bytes = header.format == 1 ? kPartEntryBytes1 : sizeof(PartEntry);
  const size_t table_bytes = header.parts * entry_bytes + header.root_extents * sizeof(Extent);
  if (header.parts > kPartsMax || sizeof header + table_bytes > kBlockPayloadBytes ||
      header.root_extents > header.extents) {
    return error(Detail::kMiscounted, fmt::format("{} parts, {} of {} extents", header.parts,
                                                  header.root_extents, header.extents));
  }
  if (header.format == 1) {  // what version 2 keeps there was reserved
    header.packed_blocks = 0;
    header.document_bytes = 0;
    header.document_chunk_bytes = 0;
    header.vector_element = 0;
  }
  Root root;
  root.format = header.format;
  root.physical = physical;
  root.document_bytes = header.document_bytes;
  root.document_chunk_bytes = header.document_chunk_bytes;
  const std::byte* table = block.payload() + sizeof header;
  root.parts = ReadPartTable(table, header);
  PIGMENT_RETURN_IF_ERROR(CheckParts(header, root.parts, error));
  PIGMENT_RETURN_IF_ERROR(
      ReadExtents(source, header, table + header.parts * entry_bytes, error, &root));
  const uint64_t mapped =
      root.extents.empty() ? 0 : uint64_t{root.extents.back().logical} + root.extents.back().count;
  uint64_t in_parts = header.packed_blocks;
  for (const PartEntry& part : root.parts) in_parts += part.blocks;
  if (mapped != in_parts) {
    return error(Detail::kMiscounted, fmt::format("extents map {} blocks of {}", mapped, in_parts));
  }
  SegmentInfo& info = root.info;
  info.segment = header.segment;
  std::memcpy(info.owner.data(), header.owner, sizeof header.owner);
  info.kind = static_cast<SegmentKind>(header.kind);
  info.dimension = header.dimension;
  info.metric = static_cast<Metric>(header.metric);
  info.vector_element = static_cast<VectorElement>(header.vector_element);
  info.rows = header.rows;
  info.vectors = header.vectors;
  info.vector_slots = header.vector_slots;
  info.clusters = header.clusters;
  info.blocks = header.blocks;
  root.MakeMaps();
  return root;
}

}  // namespace pigment
