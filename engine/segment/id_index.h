// SPDX-License-Identifier: Apache-2.0
//
// From an id to its row. Since version 2 a segment has the hashes of its ids, sorted
// (hash_index.h). Version 1 has row numbers sorted by id. One thread each.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/segment/hash_index.h"
#include "engine/segment/record_bytes.h"

namespace pigment {

// Seeded with the segment's owner, so that nobody can choose ids that collide.
struct IdHash {
  uint32_t stored;  // what the index keeps
  uint64_t check;   // tells equal ids from equal hashes, nearly surely; the writer's
};
IdHash HashId(const OwnerId& owner, std::string_view id);

class IdFinder {
 public:
  IdFinder(BlockSource* source, const Root* root)
      : root_(root),
        sorted_(source, root, BlockKind::kIdIndex),
        hashes_(source, root, BlockKind::kIdHashes, root->info.rows),
        ids_(source, root) {}

  Result<std::optional<uint32_t>> Find(std::string_view id) {
    return Find(id, HashId(root_->info.owner, id));
  }
  // The same by a hash that the caller computed once for all segments of one owner.
  Result<std::optional<uint32_t>> Find(std::string_view id, const IdHash& hash);

 private:
  Result<std::optional<uint32_t>> FindSorted(std::string_view id);

  const Root* const root_;
  PartCursor sorted_;  // of version 1
  HashIndex hashes_;
  IdReader ids_;
};

}  // namespace pigment
