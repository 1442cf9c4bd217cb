// SPDX-License-Identifier: Apache-2.0
//
// The catalog of a store: tenants, databases, collections with configuration and metadata, and
// which segments make up each collection. Durable by an atomic snapshot plus an edit log (bytes on
// disk: engine/catalog/README.md). Thread safety: every method from any thread; edits are
// serialised inside and durable before they return.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/disk_reserve.h"
#include "engine/base/files.h"
#include "engine/base/status.h"
#include "engine/base/uuid.h"
#include "engine/record/metadata.h"
#include "engine/record/metric.h"
#include "engine/record/vector_element.h"

namespace pigment {

inline constexpr std::string_view kDefaultTenant = "default_tenant";
inline constexpr std::string_view kDefaultDatabase = "default_database";

// One immutable segment file of a collection. A file may belong to several collections (fork).
struct SegmentEntry {
  uint32_t segment = 0;
  uint32_t root = 0;        // physical block of the root
  uint64_t file_bytes = 0;  // exact size of the file
  uint32_t rows = 0;
  uint64_t deletions = 0;  // version of the deletion bitmap file beside it; 0: none
  uint32_t deleted_rows = 0;
};

// Where the tail of a cold collection stands: a record of a shelf file
// (engine/collection/shelf_file.h).
struct ShelfPlace {
  uint32_t file = 0;  // number of the file; 0: no shelf
  uint64_t offset = 0;
  uint32_t length = 0;  // of the whole record

  bool operator==(const ShelfPlace&) const = default;
};

struct CollectionEntry {
  Uuid id;
  std::string name;
  std::string tenant;
  std::string database;
  std::optional<Metadata> metadata;
  // JSON as the user gave it, normalised by the query layer; opaque here.
  std::string configuration_json;
  std::string schema_json;              // empty: none
  std::string embedding_function_name;  // empty: none. Data only: nothing is ever loaded by it
  std::string embedding_function_config_json;
  Metric metric = Metric::kL2;
  VectorElement vector_element = VectorElement::kF32;  // of full vectors
  uint32_t dimension = 0;                              // 0 until the first flush or add fixed it
  // Everything of this collection at log positions <= floor is in `segments` and on the shelf.
  uint64_t floor = 0;
  uint64_t next_ordinal = 1;
  std::vector<SegmentEntry> segments;
  ShelfPlace shelf;
};

class Catalog {
 public:
  // Opens or creates (with the default tenant and database) the catalog in `directory`.
  // read_only: creates nothing; missing is kNotFound. Beside a writer the caller holds
  // kLookingPosition meanwhile, so that no file of the catalog goes under it. `reserve` outlives
  // the catalog: on a full disk deletions and raised floors use it, other edits are refused as long
  // as it is not there.
  static Result<std::unique_ptr<Catalog>> Open(FileSystem* files, std::string directory,
                                               bool read_only, DiskReserve* reserve = nullptr);
  virtual ~Catalog() = default;

  virtual Uuid store() const = 0;  // identity of the store, made once

  // Rises with every edit; at least 1. A file that an edit dropped is needed by whoever reads a
  // catalog of a lower position than this one has after the edit (engine/base/reader_pins.h).
  virtual uint64_t position() const = 0;

  // Tenants and databases. Duplicate: kAlreadyExists; missing: kNotFound; messages as
  // notes/chroma.md 1.4.
  virtual Status CreateTenant(const std::string& name) = 0;
  virtual Status GetTenant(const std::string& name) const = 0;
  virtual std::vector<std::string> ListTenants() const = 0;  // by name
  virtual Status DeleteTenant(const std::string& name) = 0;  // with its databases and collections
  struct DatabaseEntry {
    Uuid id;
    std::string name;
    std::string tenant;
  };
  virtual Result<DatabaseEntry> CreateDatabase(const std::string& tenant,
                                               const std::string& name) = 0;
  virtual Result<DatabaseEntry> GetDatabase(const std::string& tenant,
                                            const std::string& name) const = 0;
  virtual Result<std::vector<DatabaseEntry>> ListDatabases(
      const std::string& tenant) const = 0;  // by name
  virtual Status DeleteDatabase(const std::string& tenant, const std::string& name) = 0;

  // Collections. `entry.id` must be set by the caller.
  virtual Status CreateCollection(const CollectionEntry& entry) = 0;
  virtual Result<CollectionEntry> GetCollection(const std::string& tenant,
                                                const std::string& database,
                                                const std::string& name) const = 0;
  virtual Result<CollectionEntry> GetCollectionById(const Uuid& id) const = 0;
  virtual Result<std::vector<CollectionEntry>> ListCollections(
      const std::string& tenant,
      const std::string& database) const = 0;  // by id
  virtual std::vector<CollectionEntry> AllCollections() const = 0;
  // One after the other, in no order, without a copy of all. `visit` must not call the catalog.
  virtual void VisitCollections(
      const std::function<void(const CollectionEntry& entry)>& visit) const = 0;
  // The floor of a collection; nothing when there is no such collection.
  virtual std::optional<uint64_t> FloorOf(const Uuid& id) const = 0;
  // Replaces the stored entry of the same id whole (rename, metadata, configuration, dimension, new
  // segments and floor): one durable edit. A name taken by another collection: kAlreadyExists.
  // Deleted meanwhile: kNotFound.
  virtual Status UpdateCollection(const CollectionEntry& entry) = 0;
  // The same for many, with one sync: after a crash any of them may be as before. Names stay as
  // they are.
  virtual Status UpdateCollections(std::span<const CollectionEntry> entries) = 0;
  // One durable edit: no collection's floor is below `floor` any more. A lower one than before: ok.
  virtual Status RaiseFloors(uint64_t floor) = 0;
  virtual Status DeleteCollection(const Uuid& id) = 0;

  // A number for a new segment, never handed out twice, also after a crash.
  virtual Result<uint32_t> NextSegment() = 0;

  // Changes of the format that were applied to this catalog, in order. Opening an older catalog for
  // writing applies what is missing, in one durable step; read-only it is read as it is.
  struct Migration {
    uint32_t number = 0;
    std::string name;
    std::string version;  // of the library that applied it
  };
  virtual std::vector<Migration> migrations() const = 0;

  struct Statistics {
    uint64_t collections = 0;
    uint64_t bytes = 0;  // of the snapshot and the edits since
  };
  virtual Statistics statistics() const = 0;

  // The whole state as CatalogState::ApplySnapshot reads it, as of one moment between edits.
  virtual std::string EncodeState() const = 0;

  // Writes a fresh snapshot and drops the edits. Called by itself when edits outgrow the snapshot.
  // Edits stay on disk while a reader of another process is looking.
  virtual Status Checkpoint() = 0;
  // At a clean end: a snapshot when there were edits since the last, because what a file of edits
  // loses at its end looks like an edit that was never acknowledged. On a full disk, or poisoned:
  // leaves everything as it is.
  virtual Status Seal() = 0;
};

// Publishes a catalog that holds `state` (EncodeState) for the store `store` in a directory that
// has none. REQUIRES: everything that it names is durable.
Status WriteCatalog(FileSystem* files, const std::string& directory, const Uuid& store,
                    const std::string& state);

}  // namespace pigment
