// SPDX-License-Identifier: Apache-2.0
//
// Parts as bytes, and chains of pages as parts; nothing is sized by what was not checked.

#include "engine/segment/pending_graft.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/segment/graft.h"
#include "engine/segment/pending_reader.h"

namespace pigment {
namespace {

constexpr uint32_t kMagic = 0x47474950;  // "PIGG"
constexpr uint32_t kVersion = 1;
constexpr uint32_t kIsFirst = 1;
constexpr uint32_t kHangsNowhere = 2;
// Page, entry, how many nodes, and at least one.
constexpr size_t kRowBytesMin = 8;

// False: the bytes are no part.
bool Decode(std::span<const std::byte> bytes, PendingGraftPart& part) {
  ByteReader reader(bytes);
  if (reader.Get<uint32_t>() != kMagic || reader.Get<uint32_t>() != kVersion) return false;
  part.graph = reader.Get<uint32_t>();
  part.graph_nodes = reader.Get<uint32_t>();
  part.previous = reader.Get<uint32_t>();
  const auto flags = reader.Get<uint32_t>();
  part.is_first = (flags & kIsFirst) != 0;
  part.hangs = (flags & kHangsNowhere) == 0;
  part.rows_seen = reader.Get<uint32_t>();
  part.nodes_per_row = reader.Get<uint32_t>();
  if ((flags & ~(kIsFirst | kHangsNowhere)) != 0 || part.nodes_per_row == 0 ||
      part.nodes_per_row > Graft::kGraphNodesPerRow)
    return false;
  const uint32_t rows = reader.GetCount(kRowBytesMin);
  part.rows.reserve(rows);
  part.nodes.reserve(size_t{rows} * part.nodes_per_row);
  for (uint32_t row = 0; row < rows && reader.ok(); ++row) {
    const auto physical = reader.Get<uint32_t>();
    part.rows.push_back({physical, reader.Get<uint16_t>()});
    const size_t count = reader.Get<uint8_t>();
    if (count == 0 || count > part.nodes_per_row) return false;
    uint64_t node = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t beyond = reader.GetVarint();
      if (beyond >= part.graph_nodes || (i != 0 && beyond == 0)) return false;
      node += beyond;
      if (node >= part.graph_nodes) return false;
      part.nodes.push_back(static_cast<uint32_t>(node));
    }
    part.nodes.resize(part.rows.size() * part.nodes_per_row, Graft::kNoNode);
  }
  return reader.ok() && reader.at_end() && (part.hangs || rows == 0) && part.rows_seen >= rows;
}

Result<PendingGraftPart> ReadPendingGraft(BlockSource* source, uint32_t stamp, uint32_t first,
                                          const GraftPageVisitor& visit) {
  std::vector<std::byte> bytes;
  PIGMENT_RETURN_IF_ERROR(
      VisitOverflowPages(source, stamp, first, std::nullopt,
                         [&](uint32_t physical, std::span<const std::byte> some) -> Status {
                           bytes.insert(bytes.end(), some.begin(), some.end());
                           return visit ? visit(physical) : Status::Ok();
                         }));
  PendingGraftPart part;
  if (!Decode(bytes, part)) return DamagedPage(*source, first, "not what pending rows hang on");
  return part;
}

}  // namespace

std::string EncodePendingGraft(const PendingGraftPart& part) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Put(kMagic);
  writer.Put(kVersion);
  writer.Put(part.graph);
  writer.Put(part.graph_nodes);
  writer.Put(part.previous);
  writer.Put((part.is_first ? kIsFirst : 0) | (part.hangs ? 0 : kHangsNowhere));
  writer.Put(part.rows_seen);
  writer.Put(part.nodes_per_row);
  writer.Put(static_cast<uint32_t>(part.rows.size()));
  for (size_t row = 0; row < part.rows.size(); ++row) {
    const auto begin = part.nodes.begin() + static_cast<ptrdiff_t>(row * part.nodes_per_row);
    const auto end =
        std::find(begin, begin + static_cast<ptrdiff_t>(part.nodes_per_row), Graft::kNoNode);
    writer.Put(part.rows[row].physical);
    writer.Put(static_cast<uint16_t>(part.rows[row].entry));
    writer.Put(static_cast<uint8_t>(end - begin));
    uint32_t before = 0;
    for (auto node = begin; node != end; before = *node++) writer.PutVarint(*node - before);
  }
  return bytes;
}

Result<std::vector<PendingGraftPart>> ReadPendingGrafts(BlockSource* source, uint32_t stamp,
                                                        uint32_t first,
                                                        const GraftPageVisitor& visit) {
  std::vector<PendingGraftPart> parts;
  bool hold = true;
  uint32_t rows_seen = kNoBlock;
  for (uint32_t next = first; next != kNoBlock && (hold || visit);) {
    PIGMENT_ASSIGN_OR_RETURN(PendingGraftPart part, ReadPendingGraft(source, stamp, next, visit));
    // Each was written when there were more rows: so they come to an end.
    if (part.rows_seen >= rows_seen)
      return DamagedPage(*source, next, "what rows hang on is said twice");
    rows_seen = part.rows_seen;
    next = part.previous;
    if (!hold) continue;
    if (!parts.empty() &&
        (part.graph != parts[0].graph || part.graph_nodes != parts[0].graph_nodes ||
         part.nodes_per_row != parts[0].nodes_per_row))
      return DamagedPage(*source, first, "rows hang on two indexes");
    hold = part.hangs && !part.is_first;
    parts.push_back(std::move(part));
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace pigment
