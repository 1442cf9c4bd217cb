// SPDX-License-Identifier: Apache-2.0
//
// CatalogState: tenants, databases and collections in memory, changed by edits, which are bytes:
// what the catalog makes durable is exactly what it applies. A snapshot is a list of edits that
// builds the state from nothing. A collection is kept packed (packed_collection.h): a few hundred
// bytes each. Not thread-safe.
//
// An edit is a kind (u8) and its fields, little endian; texts are u32 length and bytes:
//   1 put tenant          name
//   2 delete tenant       name; with its databases and collections
//   3 put database        uuid 16, tenant, name
//   4 delete database     tenant, name; with its collections
//   5 put collection      of format 1, read only: uuid 16, name, tenant, database, u8 has metadata,
//                         metadata as text (empty when there is none), configuration, schema, name
//                         and configuration of the embedding function, i32 metric, u32 dimension,
//                         u64 floor, u64 next ordinal, u32 number of segments, then each as in 8
//   6 delete collection   uuid 16
//   7 reserve segments    u32 first number that may be handed out after the next open
//   8 put collection      uuid 16, tenant, database, settings and body as packed_collection.h has
//                         them, each as text
//   9 raise floors        u64 floor: that of every collection with a lower one
//  10 apply migration     u32 number, name, version of the library that applied it

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/catalog/catalog.h"

namespace pigment {

class CatalogState {
 public:
  using DatabaseKey = std::pair<std::string, std::string>;  // tenant, name

  // Its parts refer to each other, so it moves and is never copied.
  CatalogState() = default;
  CatalogState(CatalogState&&) = default;
  CatalogState& operator=(CatalogState&&) = default;

  // Edits as bytes.
  static std::string PutTenant(const std::string& name);
  static std::string DeleteTenant(const std::string& name);
  static std::string PutDatabase(const Catalog::DatabaseEntry& entry);
  static std::string DeleteDatabase(const std::string& tenant, const std::string& name);
  static std::string PutCollection(const CollectionEntry& entry);
  static std::string DeleteCollection(const Uuid& id);
  static std::string ReserveSegments(uint32_t next);
  static std::string RaiseFloors(uint64_t floor);
  static std::string ApplyMigration(const Catalog::Migration& migration);

  // Applies one edit. Bytes that are none, or that contradict the state: kDataLoss without a file,
  // and no change.
  Status Apply(std::span<const std::byte> edit);

  // The whole state: u32 number of edits, then each as u32 length and bytes.
  std::string EncodeSnapshot() const;
  Status ApplySnapshot(std::span<const std::byte> snapshot);

  const std::set<std::string>& tenants() const { return tenants_; }
  bool HasDatabase(const std::string& tenant, const std::string& name) const {
    return databases_.contains({tenant, name});
  }
  std::optional<Uuid> FindDatabase(const std::string& tenant, const std::string& name) const;
  std::vector<Catalog::DatabaseEntry> DatabasesOf(const std::string& tenant) const;  // by name

  bool HasCollection(const Uuid& id) const { return collections_.contains(id); }
  std::optional<CollectionEntry> FindCollection(const Uuid& id) const;
  std::optional<Uuid> FindCollectionByName(const std::string& tenant, const std::string& database,
                                           std::string_view name) const;
  std::optional<uint64_t> FloorOf(const Uuid& id) const;
  size_t collection_count() const { return collections_.size(); }
  // In no order. Visits decoded copies, one at a time.
  using Visitor = std::function<void(const CollectionEntry& entry)>;
  void VisitCollections(const Visitor& visit) const;
  void VisitCollections(const std::string& tenant, const std::string& database,
                        const Visitor& visit) const;

  uint32_t next_segment() const { return next_segment_; }
  uint64_t floor() const { return floor_; }  // no collection has a lower one
  const std::vector<Catalog::Migration>& migrations() const { return migrations_; }

 private:
  struct Database;
  // Settings with the number of collections that have them.
  using Settings = std::unordered_map<std::string, uint32_t>;
  struct Packed {
    const std::pair<const DatabaseKey, Database>* database;
    Settings::value_type* settings;
    std::string body;
  };
  struct UuidHash {
    size_t operator()(const Uuid& id) const noexcept;
  };
  using Collections = std::unordered_map<Uuid, Packed, UuidHash>;
  // The collections of a database by name; the names stand in their bodies.
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const;
    size_t operator()(const Collections::value_type* collection) const;
  };
  struct NameEqual {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return NameOf(a) == NameOf(b);
    }
  };
  struct Database {
    Uuid id;
    std::unordered_set<const Collections::value_type*, NameHash, NameEqual> names;
  };
  using Databases = std::map<DatabaseKey, Database>;
  static std::string_view NameOf(std::string_view name) { return name; }
  static std::string_view NameOf(const Collections::value_type* collection);

  Status ApplyPutDatabase(Catalog::DatabaseEntry entry);
  Status ApplyPutCollection(const CollectionEntry& entry, std::string_view settings,
                            std::string_view body);
  Status ApplyMigrationEdit(Catalog::Migration migration);
  Status ApplyDeleteTenant(const std::string& name);
  CollectionEntry Decode(const Collections::value_type& collection) const;
  std::string EditOf(const Collections::value_type& collection) const;
  Databases::iterator EraseDatabase(Databases::iterator database);
  void EraseCollection(const Uuid& id);
  void DropSettings(Settings::value_type* settings);

  std::set<std::string> tenants_;
  Databases databases_;
  Collections collections_;
  Settings settings_;
  uint32_t next_segment_ = 1;
  uint64_t floor_ = 0;
  std::vector<Catalog::Migration> migrations_;
};

}  // namespace pigment
