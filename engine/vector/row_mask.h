// SPDX-License-Identifier: Apache-2.0
//
// Row masks: one bit for each row, bit row % 64 of word row / 64, set where a search may return the
// row; without words it may return all. Borrowed from whoever made them; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/status.h"

namespace pigment {

using RowMask = std::span<const uint64_t>;

inline bool IsAllowed(RowMask mask, uint64_t row) {
  return mask.empty() || (mask[row / 64] >> (row % 64) & 1) != 0;
}

// Whether of so many rows so many are most: of sixteen links that come together next to never none
// is allowed then.
inline bool AllowsMost(uint64_t allowed, uint64_t rows) { return allowed > rows / 2; }

// Whether one of rows first .. first + count - 1 is allowed. REQUIRES: count > 0.
inline bool AnyAllowed(RowMask mask, uint64_t first, uint64_t count) {
  if (mask.empty()) return true;
  const uint64_t last = first + count - 1;
  const uint64_t head = ~uint64_t{0} << (first % 64);
  const uint64_t tail = ~uint64_t{0} >> (63 - last % 64);
  if (first / 64 == last / 64) return (mask[first / 64] & head & tail) != 0;
  if ((mask[first / 64] & head) != 0 || (mask[last / 64] & tail) != 0) return true;
  for (uint64_t word = first / 64 + 1; word < last / 64; ++word) {
    if (mask[word] != 0) return true;
  }
  return false;
}

// Calls visit(begin, count) for each longest run of allowed rows among first .. first + count - 1,
// with places from `first`; stops with its first error.
template <typename Visit>
Status ForEachAllowedRun(RowMask mask, uint64_t first, size_t count, const Visit& visit) {
  if (mask.empty()) return visit(size_t{0}, count);
  for (size_t i = 0; i < count; ++i) {
    if (!IsAllowed(mask, first + i)) continue;
    size_t end = i + 1;
    while (end < count && IsAllowed(mask, first + end)) ++end;
    PIGMENT_RETURN_IF_ERROR(visit(i, end - i));
    i = end;
  }
  return Status::Ok();
}

}  // namespace pigment
