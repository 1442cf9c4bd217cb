// SPDX-License-Identifier: Apache-2.0
//
// Searching the id index.

#include "engine/segment/id_index.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"

namespace pigment {

IdHash HashId(const OwnerId& owner, std::string_view id) {
  uint64_t seed;
  std::memcpy(&seed, owner.data(), sizeof seed);
  const Hash128 hash = Xxh3_128(AsBytes(id), seed);
  return {static_cast<uint32_t>(hash.low >> 32), hash.high};
}

Result<std::optional<uint32_t>> IdFinder::Find(std::string_view id, const IdHash& known) {
  if (sorted_.exists()) return FindSorted(id);
  std::optional<uint32_t> found;
  if (!hashes_.exists()) return found;
  PIGMENT_RETURN_IF_ERROR(hashes_.VisitRows(known.stored, [&](uint32_t row) -> Result<bool> {
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view there, ids_.Read(row));
    if (there == id) found = row;
    return !found;
  }));
  return found;
}

Result<std::optional<uint32_t>> IdFinder::FindSorted(std::string_view id) {
  uint32_t low = 0;
  uint32_t high = root_->info.rows;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    PIGMENT_ASSIGN_OR_RETURN(const uint32_t row, sorted_.ReadElement<uint32_t>(middle));
    if (row >= root_->info.rows)
      return sorted_.Damaged(Detail::kMiscounted, fmt::format("names row {}", row));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view there, ids_.Read(row));
    const int order = there.compare(id);
    if (order == 0) return std::optional<uint32_t>(row);
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::optional<uint32_t>();
}

}  // namespace pigment
