// SPDX-License-Identifier: Apache-2.0
//
// From an id to its row. Since version 2 a segment has the hashes of its ids, sorted: they are
// spread evenly, so an id's place is guessed within a block or two however many there are, and an
// absent id costs no look at any id. Version 1 has row numbers sorted by id. One thread each.
//
// An element of kIdHashes: bits 63..32 the hash, 31..0 the row; ascending.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/segment/part_reader.h"
#include "engine/segment/record_bytes.h"

namespace pigment {

// Seeded with the segment's owner, so that nobody can choose ids that collide.
struct IdHash {
  uint32_t stored;  // what the index keeps
  uint64_t check;   // tells equal ids from equal hashes, nearly surely; the writer's
};
IdHash HashId(const OwnerId& owner, std::string_view id);

constexpr uint64_t IdHashEntry(uint32_t hash, uint32_t row) { return uint64_t{hash} << 32 | row; }
constexpr uint32_t HashOf(uint64_t entry) { return static_cast<uint32_t>(entry >> 32); }
constexpr uint32_t RowOf(uint64_t entry) { return static_cast<uint32_t>(entry); }

class IdFinder {
 public:
  IdFinder(BlockSource* source, const Root* root)
      : root_(root),
        index_(source, root, root->format == 1 ? BlockKind::kIdIndex : BlockKind::kIdHashes),
        ids_(source, root) {}

  Result<std::optional<uint32_t>> Find(std::string_view id) {
    return Find(id, HashId(root_->info.owner, id));
  }
  // The same by a hash that the caller computed once for all segments of one owner.
  Result<std::optional<uint32_t>> Find(std::string_view id, const IdHash& hash);

 private:
  Result<std::optional<uint32_t>> FindSorted(std::string_view id);
  // The number of the first entry that is not below `key`.
  Result<uint32_t> LowerBound(uint64_t key);

  const Root* const root_;
  PartCursor index_;
  IdReader ids_;
};

}  // namespace pigment
