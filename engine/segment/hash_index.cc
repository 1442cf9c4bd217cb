// SPDX-License-Identifier: Apache-2.0
//
// Searching sorted hashes.

#include "engine/segment/hash_index.h"

#include <fmt/format.h>

#include "engine/base/bytes.h"
#include "engine/segment/root.h"

namespace pigment {
namespace {

// How far around the guess the first looks go: the guess is off by half the square root of the
// number of rows, so a hundred thousand are met at the second or third look.
constexpr uint32_t kFirstStep = 64;

}  // namespace

Result<uint32_t> HashIndex::LowerBound(uint64_t key) {
  constexpr uint32_t kPerBlock = ElementsPerBlock(sizeof(uint64_t));
  uint32_t low = 0;
  uint32_t high = count_;
  uint32_t block = kNoBlock;
  const std::byte* entries = nullptr;  // of that block
  // Each look tells on which side of `at` the answer lies. REQUIRES: at < count_, so that the root
  // bears out that there is such an entry.
  const auto look = [&](uint32_t at) -> Result<bool> {
    if (at / kPerBlock != block) {
      PIGMENT_ASSIGN_OR_RETURN(entries, part_.Block(at / kPerBlock));
      block = at / kPerBlock;
    }
    const auto entry = LoadLittle<uint64_t>(entries + size_t{at % kPerBlock} * sizeof(uint64_t));
    const bool is_below = entry < key;
    (is_below ? low : high) = is_below ? at + 1 : at;
    return is_below;
  };
  if (count_ == 0) return low;
  const auto guess = static_cast<uint32_t>((key >> 32) * count_ >> 32);
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

Status HashIndex::CheckRow(uint32_t row) const {
  if (row < root_->info.rows) return Status::Ok();
  return part_.Damaged(Detail::kMiscounted, fmt::format("names row {}", row));
}

}  // namespace pigment
