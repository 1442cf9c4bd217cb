// SPDX-License-Identifier: Apache-2.0
//
// Searching the id index.

#include "engine/segment/id_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"

namespace pigment {
namespace {

// How far around the guess the first looks go: the guess is off by half the square root of the
// number of rows, so a hundred thousand are met at the second or third look.
constexpr uint32_t kFirstStep = 64;

}  // namespace

IdHash HashId(const OwnerId& owner, std::string_view id) {
  uint64_t seed;
  std::memcpy(&seed, owner.data(), sizeof seed);
  const Hash128 hash = Xxh3_128(AsBytes(id), seed);
  return {static_cast<uint32_t>(hash.low >> 32), hash.high};
}

Result<uint32_t> IdFinder::LowerBound(uint64_t key) {
  const uint32_t rows = root_->info.rows;
  constexpr uint32_t kPerBlock = ElementsPerBlock(sizeof(uint64_t));
  uint32_t low = 0;
  uint32_t high = rows;
  uint32_t block = kNoBlock;
  const std::byte* entries = nullptr;  // of that block
  // Each look tells on which side of `at` the answer lies. REQUIRES: at < rows, so that the root
  // bears out that there is such an entry.
  const auto look = [&](uint32_t at) -> Result<bool> {
    if (at / kPerBlock != block) {
      PIGMENT_ASSIGN_OR_RETURN(entries, index_.Block(at / kPerBlock));
      block = at / kPerBlock;
    }
    const auto entry = LoadLittle<uint64_t>(entries + size_t{at % kPerBlock} * sizeof(uint64_t));
    const bool is_below = entry < key;
    (is_below ? low : high) = is_below ? at + 1 : at;
    return is_below;
  };
  if (rows == 0) return low;
  const auto guess = static_cast<uint32_t>((key >> 32) * rows >> 32);
  PIGMENT_ASSIGN_OR_RETURN(const bool is_right, look(guess));
  for (uint64_t step = kFirstStep; low < high; step *= 4) {
    const uint64_t at = is_right ? uint64_t{low} - 1 + step : (high > step ? high - step : 0);
    if (at >= high || at < low) break;
    PIGMENT_ASSIGN_OR_RETURN(const bool is_below, look(static_cast<uint32_t>(at)));
    if (is_below != is_right) break;
  }
  while (low < high) {
    PIGMENT_RETURN_IF_ERROR(look(low + (high - low) / 2).status());
  }
  return low;
}

Result<std::optional<uint32_t>> IdFinder::Find(std::string_view id, const IdHash& known) {
  if (!index_.exists()) return std::optional<uint32_t>();
  if (root_->format == 1) return FindSorted(id);
  const uint32_t hash = known.stored;
  PIGMENT_ASSIGN_OR_RETURN(uint32_t at, LowerBound(IdHashEntry(hash, 0)));
  for (; at < root_->info.rows; ++at) {
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t entry, index_.ReadElement<uint64_t>(at));
    if (HashOf(entry) != hash) break;
    const uint32_t row = RowOf(entry);
    if (row >= root_->info.rows)
      return index_.Damaged(Detail::kMiscounted, fmt::format("names row {}", row));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view there, ids_.Read(row));
    if (there == id) return std::optional<uint32_t>(row);
  }
  return std::optional<uint32_t>();
}

Result<std::optional<uint32_t>> IdFinder::FindSorted(std::string_view id) {
  uint32_t low = 0;
  uint32_t high = root_->info.rows;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    PIGMENT_ASSIGN_OR_RETURN(const uint32_t row, index_.ReadElement<uint32_t>(middle));
    if (row >= root_->info.rows)
      return index_.Damaged(Detail::kMiscounted, fmt::format("names row {}", row));
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
