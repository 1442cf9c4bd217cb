// SPDX-License-Identifier: Apache-2.0
//
// Hashes with their rows, sorted: a part of u64, bits 63..32 the hash, 31..0 the row, ascending.
// Hashes are spread evenly, so a place is guessed within a block or two however many there are, and
// an absent one costs no look at what was hashed. One thread.

#pragma once

#include <cstdint>

#include "engine/segment/part_reader.h"

namespace pigment {

constexpr uint64_t HashEntry(uint32_t hash, uint32_t row) { return uint64_t{hash} << 32 | row; }
constexpr uint32_t HashOf(uint64_t entry) { return static_cast<uint32_t>(entry >> 32); }
constexpr uint32_t RowOf(uint64_t entry) { return static_cast<uint32_t>(entry); }

class HashIndex {
 public:
  // `count` entries, as the root bears out.
  HashIndex(BlockSource* source, const Root* root, BlockKind kind, uint32_t count)
      : root_(root), part_(source, root, kind), count_(count) {}

  bool exists() const { return part_.exists(); }
  // Calls `visit` with each row that has this hash, until it says false. kDataLoss: there is no
  // such row.
  template <typename Visit>  // Result<bool>(uint32_t row)
  Status VisitRows(uint32_t hash, const Visit& visit) {
    PIGMENT_ASSIGN_OR_RETURN(uint32_t at, LowerBound(HashEntry(hash, 0)));
    for (; at < count_; ++at) {
      PIGMENT_ASSIGN_OR_RETURN(const uint64_t entry, part_.ReadElement<uint64_t>(at));
      if (HashOf(entry) != hash) break;
      PIGMENT_RETURN_IF_ERROR(CheckRow(RowOf(entry)));
      PIGMENT_ASSIGN_OR_RETURN(const bool goes_on, visit(RowOf(entry)));
      if (!goes_on) break;
    }
    return Status::Ok();
  }

 private:
  // The number of the first entry that is not below `key`.
  Result<uint32_t> LowerBound(uint64_t key);
  Status CheckRow(uint32_t row) const;

  const Root* const root_;
  PartCursor part_;
  const uint32_t count_;
};

}  // namespace pigment
