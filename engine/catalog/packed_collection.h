// SPDX-License-Identifier: Apache-2.0
//
// A collection's entry as bytes: how edits store it and how the catalog keeps it in memory, where
// hundreds of thousands of entries stand that nobody uses. Pure functions on bytes; any thread.
//
// An entry is two strings. `settings` is what many collections have in common and memory keeps
// once: configuration, schema, name and configuration of the embedding function, as texts (u32
// length and bytes). `body` is the rest:
//   offset size meaning
//   0      8    floor
//   8      8    next ordinal
//   16     4    dimension
//   20     1    metric
//   21     1    flags: 1 metadata, 2 shelf, 4 vectors in f16
//   22     4+n  name
//          4+n  metadata, where there is any (engine/record/metadata.h)
//          16   shelf, where there is one: u32 file, u64 offset, u32 length
//          4    number of segments, then each in 32 bytes: u32 segment, u32 root, u64 file bytes,
//               u32 rows, u64 deletions, u32 deleted rows

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/catalog/catalog.h"

namespace pigment {

std::string PackSettings(const CollectionEntry& entry);
std::string PackBody(const CollectionEntry& entry);

// Of bytes that do not fit together, without a file.
inline Status Contradiction(std::string message) {
  return DataLoss(Detail::kMiscounted, "", -1, std::move(message));
}

// Fill an entry from what was packed. Bytes that are none: kDataLoss without a file.
Status UnpackSettings(std::string_view settings, CollectionEntry* entry);
Status UnpackBody(std::string_view body, CollectionEntry* entry);

// Of a body that UnpackBody has taken.
std::string_view NameOfBody(std::string_view body);
uint64_t FloorOfBody(std::string_view body);

// The fields of the edit of format 1, after its kind.
Result<CollectionEntry> ReadCollectionVersion1(ByteReader& reader);

}  // namespace pigment
