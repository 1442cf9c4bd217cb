// SPDX-License-Identifier: Apache-2.0
//
// What a record is, and the batches in which records are written. Plain values: whoever holds one
// owns it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/record/metadata.h"

namespace pigment {

// A stored record, whole. `ordinal` is its place in insertion order: kept by update and upsert, new
// after delete and add.
struct Record {
  std::string id;
  std::vector<float> embedding;
  std::optional<std::string> document;
  std::optional<Metadata> metadata;
  std::optional<std::string> uri;
  uint64_t ordinal = 0;
};

enum class WriteKind : uint8_t { kAdd = 1, kUpdate = 2, kUpsert = 3, kDelete = 4 };

// One validated batch for one collection, columns aligned with `ids`; an empty column means "not
// given for any row". `embeddings` is row-major, ids.size() x dimension. In a delete only `ids` is
// used.
struct WriteBatch {
  WriteKind kind = WriteKind::kAdd;
  std::vector<std::string> ids;
  uint32_t dimension = 0;
  std::vector<float> embeddings;
  std::vector<std::optional<std::string>> documents;
  std::vector<std::optional<Metadata>> metadatas;
  std::vector<std::optional<std::string>> uris;
};

// What a batch did, known when it is applied.
struct WriteCounts {
  uint64_t inserted = 0;
  uint64_t updated = 0;
  uint64_t skipped = 0;  // add of an existing id, update or delete of a missing one
  uint64_t deleted = 0;
};

// The dimension of the vectors that an encoded batch would insert; 0 when it inserts none.
uint32_t InsertedDimension(std::span<const std::byte> encoded);

void EncodeWriteBatch(const WriteBatch& batch, std::string& out);
Result<WriteBatch> DecodeWriteBatch(std::span<const std::byte> bytes);

}  // namespace pigment
