// SPDX-License-Identifier: Apache-2.0
//
// What the fault sweeps do to a store, step by step, each step with its effect on the model; and
// the store that they do it to. Header only; one thread.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/disk_files.h"
#include "engine/collection/repair.h"
#include "tests/support/store_state.h"

namespace pigment {

// Where a backup or a repair was written to.
struct FaultCopy {
  std::string path;
  StoreState state;              // that it must hold when it opens
  bool is_acknowledged = false;  // it must open
  bool is_lossy = false;         // a repair that says so
};

// A reserve of a megabyte would be most of what a run copies.
inline StoreOptions SmallReserveOptions() {
  StoreOptions options = DeterministicOptions();
  options.reserve_bytes = 16384;
  return options;
}

// A store on a simulated disk, or in a directory, with what must be in it.
struct FaultWorld {
  std::string directory;  // empty: in `files`
  MemoryFileSystem files{MemoryFileSystem::Kind::kSimulated};
  StoreOptions options = SmallReserveOptions();
  std::shared_ptr<Store> store;   // null: closed
  std::shared_ptr<Store> reader;  // read-only, when the scenario has one
  StoreState state;
  std::vector<FaultCopy> copies;

  std::string root() const { return directory.empty() ? "disk/db" : directory; }
  FileSystem* file_system() { return directory.empty() ? &files : DiskFiles(); }

  Status Open() {
    auto opened = Store::Open(root(), options, directory.empty() ? &files : nullptr);
    PIGMENT_RETURN_IF_ERROR(opened.status());
    store = *std::move(opened);
    return Status::Ok();
  }
  Status OpenReader() {
    StoreOptions reading = options;
    reading.read_only = true;
    // Another spelling of the path: within a process one path is one store.
    auto opened = directory.empty() ? Store::Open("disk/./db", reading, &files)
                                    : Store::Open(directory, reading);
    PIGMENT_RETURN_IF_ERROR(opened.status());
    reader = *std::move(opened);
    return Status::Ok();
  }
};

struct FaultStep {
  std::string name;
  std::function<Status(FaultWorld&)> run;
  // What success does to the model.
  std::function<void(StoreState&)> effect = [](StoreState&) {};
};

inline Result<std::shared_ptr<Collection>> CollectionAt(FaultWorld& world,
                                                        const CollectionPlace& place) {
  return world.store->GetCollection({place.tenant, place.database}, place.name);
}

inline FaultStep OpenStep() {
  return {.name = "open", .run = [](FaultWorld& world) { return world.Open(); }};
}

inline FaultStep CloseStep() {
  return {.name = "close", .run = [](FaultWorld& world) {
            if (!world.store) return Status::Ok();
            const std::shared_ptr<Store> closing = std::exchange(world.store, nullptr);
            return closing->Close();
          }};
}

inline FaultStep WriteStep(const CollectionPlace& place, WriteBatch batch) {
  return {
      .name = "write",
      .run = [place, batch](FaultWorld& world) -> Status {
        PIGMENT_ASSIGN_OR_RETURN(const auto collection, CollectionAt(world, place));
        return collection->Write(batch).status();
      },
      .effect = [place, batch](StoreState& state) { state.collections[place].model.Apply(batch); }};
}

// Deletes what `document` selects; reads and writes.
inline FaultStep DeleteSelectedStep(const CollectionPlace& place, const std::string& document) {
  const auto request = [document] {
    GetRequest request;
    request.read.filter = Filter::Parse(std::nullopt, document).value();
    return request;
  };
  return {
      .name = "delete by filter",
      .run = [place, request](FaultWorld& world) -> Status {
        PIGMENT_ASSIGN_OR_RETURN(const auto collection, CollectionAt(world, place));
        return collection
            ->DeleteSelected([&](const Version& version) -> Result<std::vector<std::string>> {
              return SelectIds(version, request());
            })
            .status();
      },
      .effect =
          [place, request](StoreState& state) {
            WriteBatch batch;
            batch.kind = WriteKind::kDelete;
            for (const Record* record : state.collections[place].model.InOrder(request().read)) {
              batch.ids.push_back(record->id);
            }
            state.collections[place].model.Apply(batch);
          }};
}

inline FaultStep FlushStep(const CollectionPlace& place) {
  return {.name = "flush", .run = [place](FaultWorld& world) -> Status {
            PIGMENT_ASSIGN_OR_RETURN(const auto collection, CollectionAt(world, place));
            return collection->Flush();
          }};
}

inline FaultStep FlushAllStep() {
  return {.name = "flush all", .run = [](FaultWorld& world) { return world.store->Flush(); }};
}

template <typename C>
Status CompactIfThereIsSuchACall(C& collection) {
  if constexpr (requires { collection.Compact(); }) {
    return StatusOf(collection.Compact());
  } else {
    return collection.Flush();
  }
}

inline FaultStep CompactStep(const CollectionPlace& place) {
  return {.name = "compact", .run = [place](FaultWorld& world) -> Status {
            PIGMENT_ASSIGN_OR_RETURN(const auto collection, CollectionAt(world, place));
            return CompactIfThereIsSuchACall(*collection);
          }};
}

inline FaultStep CompactAllStep() {
  return {.name = "compact all",
          .run = [](FaultWorld& world) { return world.store->Compact().status(); }};
}

// ---- Copies
// --------------------------------------------------------------------------------------

inline std::string CopyPath(const FaultWorld& world, size_t copy) {
  return world.root() + "-" + std::to_string(copy);
}

// The next place for a copy; what is there after a failure is looked at in the end.
inline FaultCopy& NewCopy(FaultWorld& world) {
  world.copies.push_back({.path = CopyPath(world, world.copies.size()), .state = world.state});
  return world.copies.back();
}

inline FaultStep BackupStep() {
  return {.name = "backup", .run = [](FaultWorld& world) -> Status {
            BackupOptions options;
            options.files = world.file_system();
            FaultCopy& copy = NewCopy(world);
            PIGMENT_RETURN_IF_ERROR(world.store->Backup(copy.path, options).status());
            copy.is_acknowledged = true;
            return Status::Ok();
          }};
}

// Tries again in the same place after a failure.
inline FaultStep BackupInPlaceStep() {
  return {.name = "backup in place", .run = [](FaultWorld& world) -> Status {
            BackupOptions options;
            options.files = world.file_system();
            if (world.copies.empty()) NewCopy(world);
            FaultCopy& copy = world.copies.front();
            const Status status = world.store->Backup(copy.path, options).status();
            // It failed behind the last step the first time; then the copy is whole.
            if (status.code() != Code::kAlreadyExists) PIGMENT_RETURN_IF_ERROR(status);
            copy.is_acknowledged = true;
            return Status::Ok();
          }};
}

// A check that could not read everything says so: as an error, or in its report.
inline Status StatusOfCheck(const Result<CheckReport>& report) {
  PIGMENT_RETURN_IF_ERROR(report.status());
  for (const CheckFinding& finding : report->findings) {
    if (finding.severity != CheckSeverity::kError) continue;
    return Status(finding.code, finding.detail, finding.message)
        .WithFile(finding.file, finding.offset);
  }
  return Status::Ok();
}

inline FaultStep CheckStep() {
  return {.name = "check",
          .run = [](FaultWorld& world) -> Status { return StatusOfCheck(world.store->Check()); }};
}

inline FaultStep CheckDirectoryStep() {
  return {.name = "check a directory", .run = [](FaultWorld& world) -> Status {
            return StatusOfCheck(
                CheckStore(world.root(), {.files = world.file_system(), .control = {}}));
          }};
}

// What could not be read is lost to the new store, which says so: that is an error here.
inline FaultStep RepairStep() {
  return {.name = "repair", .run = [](FaultWorld& world) -> Status {
            FaultCopy& copy = NewCopy(world);
            PIGMENT_ASSIGN_OR_RETURN(const RepairReport report,
                                     RepairStore(world.root(), copy.path,
                                                 {.from_files = world.file_system(),
                                                  .to_files = world.file_system(),
                                                  .control = {}}));
            copy.is_acknowledged = true;
            std::string messages;
            for (const std::string& message : report.messages) messages += message + "; ";
            copy.is_lossy = !report.is_lossless();
            return copy.is_lossy ? Status(Code::kDataLoss, messages) : Status::Ok();
          }};
}

// Why a copy is not what it must be; empty: it is.
inline std::string DifferenceOfCopy(FaultWorld& world, const FaultCopy& copy) {
  StoreOptions reading = world.options;
  reading.read_only = true;
  const auto exists = world.file_system()->Exists(copy.path + "/CATALOG");
  if (!exists.ok()) return exists.status().ToString();
  if (!*exists) return copy.is_acknowledged ? copy.path + " was acknowledged and is gone" : "";
  const auto opened =
      Store::Open(copy.path, reading, world.directory.empty() ? &world.files : nullptr);
  if (!opened.ok()) return opened.status().ToString();
  return copy.is_lossy ? "" : DifferenceOfStore(**opened, copy.state);
}

// ---- The catalog
// ---------------------------------------------------------------------------------

inline FaultStep CheckpointStep() {
  return {.name = "checkpoint", .run = [](FaultWorld& world) -> Status {
            PIGMENT_ASSIGN_OR_RETURN(Catalog* const catalog, world.store->catalog());
            return catalog->Checkpoint();
          }};
}

inline FaultStep CreateStep(const CollectionPlace& place) {
  return {.name = "create collection",
          .run =
              [place](FaultWorld& world) {
                CollectionEntry entry = EntryNamed(place.name);
                entry.tenant = place.tenant;
                entry.database = place.database;
                return world.store->CreateCollection(std::move(entry)).status();
              },
          .effect = [place](StoreState& state) { state.collections[place]; }};
}

inline FaultStep ForkStep(const CollectionPlace& place, const std::string& name) {
  return {.name = "fork",
          .run = [place, name](FaultWorld& world) -> Status {
            PIGMENT_ASSIGN_OR_RETURN(const auto source, CollectionAt(world, place));
            return world.store->ForkCollection(source->entry().id, name).status();
          },
          .effect =
              [place, name](StoreState& state) {
                CollectionPlace fork = place;
                fork.name = name;
                state.collections[fork] = state.collections[place];
              }};
}

inline FaultStep RenameStep(const CollectionPlace& place, const std::string& name) {
  return {.name = "rename",
          .run = [place, name](FaultWorld& world) -> Status {
            PIGMENT_ASSIGN_OR_RETURN(const auto found, CollectionAt(world, place));
            return world.store->ModifyCollection(found->entry().id, [&](CollectionEntry& entry) {
              entry.name = name;
              return Status::Ok();
            });
          },
          .effect =
              [place, name](StoreState& state) {
                auto node = state.collections.extract(place);
                node.key().name = name;
                state.collections.insert(std::move(node));
              }};
}

inline FaultStep MetadataStep(const CollectionPlace& place, const Metadata& metadata) {
  return {.name = "modify",
          .run = [place, metadata](FaultWorld& world) -> Status {
            PIGMENT_ASSIGN_OR_RETURN(const auto found, CollectionAt(world, place));
            return world.store->ModifyCollection(found->entry().id, [&](CollectionEntry& entry) {
              entry.metadata = metadata;
              return Status::Ok();
            });
          },
          .effect = [place, metadata](
                        StoreState& state) { state.collections[place].metadata = metadata; }};
}

inline FaultStep DeleteCollectionStep(const CollectionPlace& place) {
  return {.name = "delete collection",
          .run =
              [place](FaultWorld& world) {
                return world.store->DeleteCollection({place.tenant, place.database}, place.name);
              },
          .effect = [place](StoreState& state) { state.collections.erase(place); }};
}

inline FaultStep CreateTenantStep(const std::string& name) {
  return {.name = "create tenant",
          .run = [name](FaultWorld& world) -> Status {
            PIGMENT_ASSIGN_OR_RETURN(Catalog* const catalog, world.store->catalog());
            return catalog->CreateTenant(name);
          },
          .effect = [name](StoreState& state) { state.databases[name]; }};
}

inline FaultStep CreateDatabaseStep(const std::string& tenant, const std::string& name) {
  return {.name = "create database",
          .run = [tenant, name](FaultWorld& world) -> Status {
            PIGMENT_ASSIGN_OR_RETURN(Catalog* const catalog, world.store->catalog());
            return catalog->CreateDatabase(tenant, name).status();
          },
          .effect = [tenant, name](StoreState& state) { state.databases[tenant].insert(name); }};
}

inline FaultStep DeleteDatabaseStep(const std::string& tenant, const std::string& name) {
  return {.name = "delete database",
          .run = [tenant,
                  name](FaultWorld& world) { return world.store->DeleteDatabase(tenant, name); },
          .effect = [tenant, name](StoreState& state) { state.RemoveDatabase(tenant, name); }};
}

inline FaultStep DeleteTenantStep(const std::string& name) {
  return {.name = "delete tenant",
          .run = [name](FaultWorld& world) { return world.store->DeleteTenant(name); },
          .effect = [name](StoreState& state) { state.RemoveTenant(name); }};
}

// Reads that touch every block: an error or the model's answer.
inline Status ReadAll(Store& store, const StoreState& state) {
  for (const auto& [place, contents] : state.collections) {
    PIGMENT_ASSIGN_OR_RETURN(const auto collection,
                             store.GetCollection({place.tenant, place.database}, place.name));
    PIGMENT_ASSIGN_OR_RETURN(const auto version, collection->Pin());
    GetRequest get;
    get.read.include = {true, true, true, true, false};
    PIGMENT_RETURN_IF_ERROR(Get(*version, get).status());
    EXPECT_EQ(DifferenceOfGet(*version, contents.model, get), "");
    QueryRequest query;
    const std::vector<float> vector(contents.model.dimension(), 0.5f);
    query.embeddings = vector;
    query.queries = vector.empty() ? 0 : 1;
    query.dimension = static_cast<uint32_t>(vector.size());
    query.k = 5;
    query.read.include.distances = true;
    query.read.filter = Filter::Parse(std::nullopt, R"({"$not_contains":"blue"})").value();
    PIGMENT_RETURN_IF_ERROR(Query(*version, query).status());
    EXPECT_EQ(DifferenceOfQuery(*version, contents.model, query), "");
  }
  return Status::Ok();
}

inline FaultStep ReadStep() {
  return {.name = "read",
          .run = [](FaultWorld& world) { return ReadAll(*world.store, world.state); }};
}

inline FaultStep OpenReaderStep() {
  return {.name = "open reader", .run = [](FaultWorld& world) { return world.OpenReader(); }};
}

inline FaultStep RefreshStep() {
  return {.name = "refresh", .run = [](FaultWorld& world) -> Status {
            PIGMENT_RETURN_IF_ERROR(world.reader->Refresh().status());
            return ReadAll(*world.reader, world.state);
          }};
}

}  // namespace pigment
