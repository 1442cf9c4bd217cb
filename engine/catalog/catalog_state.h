// SPDX-License-Identifier: Apache-2.0
//
// CatalogState: tenants, databases and collections in memory, changed by edits, which are bytes:
// what the catalog makes durable is exactly what it applies. A snapshot is a list of edits that
// builds the state from nothing. Not thread-safe.
//
// An edit is a kind (u8) and its fields, little endian; texts are u32 length and bytes:
//   1 put tenant          name
//   2 delete tenant       name; with its databases and collections
//   3 put database        uuid 16, tenant, name
//   4 delete database     tenant, name; with its collections
//   5 put collection      uuid 16, name, tenant, database, u8 has metadata, metadata as text
//   (engine/record/metadata.h; empty
//                         when there is none), configuration, schema, name and configuration of the
//                         embedding function, i32 metric, u32 dimension, u64 floor, u64 next
//                         ordinal, u32 number of segments, then each: u32 segment, u32 root, u64
//                         file bytes, u32 rows, u64 deletions, u32 deleted rows
//   6 delete collection   uuid 16
//   7 reserve segments    u32 first number that may be handed out after the next open

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "engine/catalog/catalog.h"

namespace pigment {

class CatalogState {
 public:
  using DatabaseKey = std::pair<std::string, std::string>;            // tenant, name
  using NameKey = std::tuple<std::string, std::string, std::string>;  // tenant, database, name
  using Collection = std::shared_ptr<const CollectionEntry>;

  // Edits as bytes.
  static std::string PutTenant(const std::string& name);
  static std::string DeleteTenant(const std::string& name);
  static std::string PutDatabase(const Catalog::DatabaseEntry& entry);
  static std::string DeleteDatabase(const std::string& tenant, const std::string& name);
  static std::string PutCollection(const CollectionEntry& entry);
  static std::string DeleteCollection(const Uuid& id);
  static std::string ReserveSegments(uint32_t next);

  // Applies one edit. Bytes that are none, or that contradict the state: kDataLoss without a file,
  // and no change.
  Status Apply(std::span<const std::byte> edit);

  // The whole state: u32 number of edits, then each as u32 length and bytes.
  std::string EncodeSnapshot() const;
  Status ApplySnapshot(std::span<const std::byte> snapshot);

  const std::set<std::string>& tenants() const { return tenants_; }
  const std::map<DatabaseKey, Uuid>& databases() const { return databases_; }
  const std::map<Uuid, Collection>& collections() const { return collections_; }
  const std::map<NameKey, Uuid>& names() const { return names_; }
  uint32_t next_segment() const { return next_segment_; }

 private:
  Status ApplyPutDatabase(Catalog::DatabaseEntry entry);
  Status ApplyPutCollection(CollectionEntry entry);
  void EraseDatabase(const std::string& tenant, const std::string& name);
  void EraseCollection(const Uuid& id);

  std::set<std::string> tenants_;
  std::map<DatabaseKey, Uuid> databases_;
  std::map<Uuid, Collection> collections_;
  std::map<NameKey, Uuid> names_;  // of the collections
  uint32_t next_segment_ = 1;
};

}  // namespace pigment
