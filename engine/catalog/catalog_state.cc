// SPDX-License-Identifier: Apache-2.0
//
// CatalogState: edits as bytes, and what they do.

#include "engine/catalog/catalog_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/base/bytes.h"
#include "engine/base/planted_bugs.h"
#include "engine/catalog/packed_collection.h"

namespace pigment {
namespace {

enum class EditKind : uint8_t {
  kPutTenant = 1,
  kDeleteTenant = 2,
  kPutDatabase = 3,
  kDeleteDatabase = 4,
  kPutCollectionVersion1 = 5,
  kDeleteCollection = 6,
  kReserveSegments = 7,
  kPutCollection = 8,
  kRaiseFloors = 9,
  kApplyMigration = 10,
};

class EditWriter : public ByteWriter {
 public:
  EditWriter(std::string* out, EditKind kind) : ByteWriter(out) { Put(static_cast<uint8_t>(kind)); }
};

Uuid GetUuid(ByteReader& reader) {
  Uuid uuid;
  const std::span<const std::byte> bytes = reader.GetBytes(uuid.bytes.size());
  std::copy(bytes.begin(), bytes.end(), uuid.bytes.begin());
  return uuid;
}

std::string EncodePutCollection(const Uuid& id, const CatalogState::DatabaseKey& database,
                                std::string_view settings, std::string_view body) {
  std::string edit;
  edit.reserve(1 + id.bytes.size() + 16 + database.first.size() + database.second.size() +
               settings.size() + body.size());
  EditWriter writer(&edit, EditKind::kPutCollection);
  writer.PutBytes(id.bytes);
  writer.PutText(database.first);
  writer.PutText(database.second);
  writer.PutText(settings);
  writer.PutText(body);
  return edit;
}

}  // namespace

// ---- Encoding -----------------------------------------------------------------------------------

std::string CatalogState::PutTenant(const std::string& name) {
  std::string edit;
  EditWriter(&edit, EditKind::kPutTenant).PutText(name);
  return edit;
}

std::string CatalogState::DeleteTenant(const std::string& name) {
  std::string edit;
  EditWriter(&edit, EditKind::kDeleteTenant).PutText(name);
  return edit;
}

std::string CatalogState::PutDatabase(const Catalog::DatabaseEntry& entry) {
  std::string edit;
  EditWriter writer(&edit, EditKind::kPutDatabase);
  writer.PutBytes(entry.id.bytes);
  writer.PutText(entry.tenant);
  writer.PutText(entry.name);
  return edit;
}

std::string CatalogState::DeleteDatabase(const std::string& tenant, const std::string& name) {
  std::string edit;
  EditWriter writer(&edit, EditKind::kDeleteDatabase);
  writer.PutText(tenant);
  writer.PutText(name);
  return edit;
}

std::string CatalogState::PutCollection(const CollectionEntry& entry) {
  return EncodePutCollection(entry.id, {entry.tenant, entry.database}, PackSettings(entry),
                             PackBody(entry));
}

std::string CatalogState::DeleteCollection(const Uuid& id) {
  std::string edit;
  EditWriter(&edit, EditKind::kDeleteCollection).PutBytes(id.bytes);
  return edit;
}

std::string CatalogState::ReserveSegments(uint32_t next) {
  std::string edit;
  EditWriter(&edit, EditKind::kReserveSegments).Put(next);
  return edit;
}

std::string CatalogState::RaiseFloors(uint64_t floor) {
  std::string edit;
  EditWriter(&edit, EditKind::kRaiseFloors).Put(floor);
  return edit;
}

std::string CatalogState::ApplyMigration(const Catalog::Migration& migration) {
  std::string edit;
  EditWriter writer(&edit, EditKind::kApplyMigration);
  writer.Put(migration.number);
  writer.PutText(migration.name);
  writer.PutText(migration.version);
  return edit;
}

std::string CatalogState::EditOf(const Collections::value_type& collection) const {
  const Packed& packed = collection.second;
  return EncodePutCollection(collection.first, packed.database->first, packed.settings->first,
                             packed.body);
}

std::string CatalogState::EncodeSnapshot() const {
  std::string snapshot;
  ByteWriter writer(&snapshot);
  writer.Put(static_cast<uint32_t>(2 + migrations_.size() + tenants_.size() + databases_.size() +
                                   collections_.size()));
  const bool forgets = PIGMENT_PLANTED(kSnapshotForgetsSegmentNumbers);
  writer.PutText(ReserveSegments(forgets ? 1 : next_segment_));
  writer.PutText(RaiseFloors(floor_));
  for (const Catalog::Migration& migration : migrations_) writer.PutText(ApplyMigration(migration));
  for (const std::string& name : tenants_) writer.PutText(PutTenant(name));
  for (const auto& [key, database] : databases_) {
    writer.PutText(PutDatabase({.id = database.id, .name = key.second, .tenant = key.first}));
  }
  // By id, so that a snapshot of one state is always the same bytes.
  std::vector<const Collections::value_type*> by_id;
  by_id.reserve(collections_.size());
  for (const auto& collection : collections_) by_id.push_back(&collection);
  std::sort(by_id.begin(), by_id.end(),
            [](const auto* a, const auto* b) { return a->first < b->first; });
  for (const auto* collection : by_id) writer.PutText(EditOf(*collection));
  return snapshot;
}

// ---- Looking up ---------------------------------------------------------------------------------

size_t CatalogState::UuidHash::operator()(const Uuid& id) const noexcept {
  size_t hash;
  std::memcpy(&hash, id.bytes.data(), sizeof hash);  // random bytes
  return hash;
}

std::string_view CatalogState::NameOf(const Collections::value_type* collection) {
  return NameOfBody(collection->second.body);
}

size_t CatalogState::NameHash::operator()(std::string_view name) const {
  return std::hash<std::string_view>()(name);
}

size_t CatalogState::NameHash::operator()(const Collections::value_type* collection) const {
  return (*this)(NameOf(collection));
}

CollectionEntry CatalogState::Decode(const Collections::value_type& collection) const {
  const Packed& packed = collection.second;
  CollectionEntry entry;
  // Both were decoded before they were taken.
  (void)UnpackSettings(packed.settings->first, &entry);
  (void)UnpackBody(packed.body, &entry);
  entry.id = collection.first;
  entry.tenant = packed.database->first.first;
  entry.database = packed.database->first.second;
  entry.floor = std::max(entry.floor, floor_);
  return entry;
}

std::optional<Uuid> CatalogState::FindDatabase(const std::string& tenant,
                                               const std::string& name) const {
  const auto found = databases_.find({tenant, name});
  if (found == databases_.end()) return std::nullopt;
  return found->second.id;
}

std::vector<Catalog::DatabaseEntry> CatalogState::DatabasesOf(const std::string& tenant) const {
  std::vector<Catalog::DatabaseEntry> entries;
  for (auto it = databases_.lower_bound({tenant, ""});
       it != databases_.end() && it->first.first == tenant; ++it) {
    entries.push_back({.id = it->second.id, .name = it->first.second, .tenant = tenant});
  }
  return entries;
}

std::optional<CollectionEntry> CatalogState::FindCollection(const Uuid& id) const {
  const auto found = collections_.find(id);
  if (found == collections_.end()) return std::nullopt;
  return Decode(*found);
}

std::optional<Uuid> CatalogState::FindCollectionByName(const std::string& tenant,
                                                       const std::string& database,
                                                       std::string_view name) const {
  const auto holder = databases_.find({tenant, database});
  if (holder == databases_.end()) return std::nullopt;
  const auto found = holder->second.names.find(name);
  if (found == holder->second.names.end()) return std::nullopt;
  return (*found)->first;
}

std::optional<uint64_t> CatalogState::FloorOf(const Uuid& id) const {
  const auto found = collections_.find(id);
  if (found == collections_.end()) return std::nullopt;
  return std::max(FloorOfBody(found->second.body), floor_);
}

void CatalogState::VisitCollections(const Visitor& visit) const {
  for (const auto& collection : collections_) visit(Decode(collection));
}

void CatalogState::VisitCollections(const std::string& tenant, const std::string& database,
                                    const Visitor& visit) const {
  const auto found = databases_.find({tenant, database});
  if (found == databases_.end()) return;
  for (const auto* collection : found->second.names) visit(Decode(*collection));
}

// ---- Applying -----------------------------------------------------------------------------------

Status CatalogState::ApplySnapshot(std::span<const std::byte> snapshot) {
  ByteReader reader(snapshot);
  const uint32_t edits = reader.GetCount(sizeof(uint32_t) + 1);
  for (uint32_t i = 0; i < edits; ++i) {
    const std::string_view edit = reader.GetText();
    if (!reader.ok()) break;
    PIGMENT_RETURN_IF_ERROR(Apply(AsBytes(edit)));
  }
  if (!reader.ok() || !reader.at_end()) return Contradiction("the snapshot's edits do not fill it");
  return Status::Ok();
}

Status CatalogState::Apply(std::span<const std::byte> edit) {
  ByteReader reader(edit);
  const auto kind = reader.Get<uint8_t>();
  const auto check_end = [&] {
    return reader.ok() && reader.at_end()
               ? Status::Ok()
               : Contradiction(fmt::format("an edit of kind {} has another size", kind));
  };
  switch (static_cast<EditKind>(kind)) {
    case EditKind::kPutTenant: {
      std::string name(reader.GetText());
      PIGMENT_RETURN_IF_ERROR(check_end());
      tenants_.insert(std::move(name));
      return Status::Ok();
    }
    case EditKind::kDeleteTenant: {
      const std::string name(reader.GetText());
      PIGMENT_RETURN_IF_ERROR(check_end());
      return ApplyDeleteTenant(name);
    }
    case EditKind::kPutDatabase: {
      Catalog::DatabaseEntry entry;
      entry.id = GetUuid(reader);
      entry.tenant = reader.GetText();
      entry.name = reader.GetText();
      PIGMENT_RETURN_IF_ERROR(check_end());
      return ApplyPutDatabase(std::move(entry));
    }
    case EditKind::kDeleteDatabase: {
      const std::string tenant(reader.GetText());
      const std::string name(reader.GetText());
      PIGMENT_RETURN_IF_ERROR(check_end());
      const auto found = databases_.find({tenant, name});
      if (found == databases_.end())
        return Contradiction(fmt::format("database \"{}\" is deleted twice", name));
      EraseDatabase(found);
      return Status::Ok();
    }
    case EditKind::kPutCollectionVersion1: {
      PIGMENT_ASSIGN_OR_RETURN(const CollectionEntry entry, ReadCollectionVersion1(reader));
      PIGMENT_RETURN_IF_ERROR(check_end());
      return ApplyPutCollection(entry, PackSettings(entry), PackBody(entry));
    }
    case EditKind::kDeleteCollection: {
      const Uuid id = GetUuid(reader);
      PIGMENT_RETURN_IF_ERROR(check_end());
      if (!HasCollection(id))
        return Contradiction(fmt::format("collection {} is deleted twice", id.ToString()));
      EraseCollection(id);
      return Status::Ok();
    }
    case EditKind::kReserveSegments: {
      const auto next = reader.Get<uint32_t>();
      PIGMENT_RETURN_IF_ERROR(check_end());
      if (next < next_segment_)
        return Contradiction(
            fmt::format("segment numbers go back from {} to {}", next_segment_, next));
      next_segment_ = next;
      return Status::Ok();
    }
    case EditKind::kPutCollection: {
      CollectionEntry entry;
      entry.id = GetUuid(reader);
      entry.tenant = reader.GetText();
      entry.database = reader.GetText();
      const std::string_view settings = reader.GetText();
      const std::string_view body = reader.GetText();
      PIGMENT_RETURN_IF_ERROR(check_end());
      PIGMENT_RETURN_IF_ERROR(UnpackSettings(settings, &entry));
      PIGMENT_RETURN_IF_ERROR(UnpackBody(body, &entry));
      return ApplyPutCollection(entry, settings, body);
    }
    case EditKind::kRaiseFloors: {
      const auto floor = reader.Get<uint64_t>();
      PIGMENT_RETURN_IF_ERROR(check_end());
      if (floor < floor_)
        return Contradiction(fmt::format("floors go back from {} to {}", floor_, floor));
      floor_ = floor;
      return Status::Ok();
    }
    case EditKind::kApplyMigration: {
      Catalog::Migration migration;
      migration.number = reader.Get<uint32_t>();
      migration.name = reader.GetText();
      migration.version = reader.GetText();
      PIGMENT_RETURN_IF_ERROR(check_end());
      return ApplyMigrationEdit(std::move(migration));
    }
  }
  return Contradiction(fmt::format("an edit of unknown kind {}", kind));
}

Status CatalogState::ApplyMigrationEdit(Catalog::Migration migration) {
  if (!migrations_.empty() && migration.number <= migrations_.back().number) {
    return Contradiction(fmt::format("migration {} is applied after migration {}", migration.number,
                                     migrations_.back().number));
  }
  migrations_.push_back(std::move(migration));
  return Status::Ok();
}

Status CatalogState::ApplyDeleteTenant(const std::string& name) {
  if (!tenants_.contains(name))
    return Contradiction(fmt::format("tenant \"{}\" is deleted twice", name));
  auto database = databases_.lower_bound({name, ""});  // the last that may want memory
  while (database != databases_.end() && database->first.first == name)
    database = EraseDatabase(database);
  tenants_.erase(name);
  return Status::Ok();
}

Status CatalogState::ApplyPutDatabase(Catalog::DatabaseEntry entry) {
  if (!tenants_.contains(entry.tenant)) {
    return Contradiction(fmt::format("database \"{}\" is in tenant \"{}\", which is not there",
                                     entry.name, entry.tenant));
  }
  databases_[{std::move(entry.tenant), std::move(entry.name)}].id = entry.id;
  return Status::Ok();
}

Status CatalogState::ApplyPutCollection(const CollectionEntry& entry, std::string_view settings,
                                        std::string_view body) {
  const auto database = databases_.find({entry.tenant, entry.database});
  if (database == databases_.end()) {
    return Contradiction(fmt::format("collection \"{}\" is in database \"{}\", which is not there",
                                     entry.name, entry.database));
  }
  auto& names = database->second.names;
  if (const auto found = names.find(std::string_view(entry.name));
      found != names.end() && (*found)->first != entry.id) {
    return Contradiction(fmt::format("two collections are named \"{}\"", entry.name));
  }
  // Everything that can fail for want of memory comes before the old entry goes.
  Packed packed{.database = &*database,
                .settings = &*settings_.try_emplace(std::string(settings), 0).first,
                .body = std::string(body)};
  packed.body.shrink_to_fit();
  const auto [collection, is_new] = collections_.try_emplace(entry.id);
  ++packed.settings->second;  // first: they may be those of the old entry
  if (!is_new) {
    Database& before = databases_.find(collection->second.database->first)->second;
    auto named = before.names.extract(&*collection);
    DropSettings(collection->second.settings);
    collection->second = std::move(packed);
    names.insert(std::move(named));
    return Status::Ok();
  }
  collection->second = std::move(packed);
  try {
    names.insert(&*collection);
  } catch (const std::bad_alloc&) {
    DropSettings(collection->second.settings);
    collections_.erase(collection);
    throw;
  }
  return Status::Ok();
}

void CatalogState::DropSettings(Settings::value_type* settings) {
  if (--settings->second == 0) settings_.erase(settings_.find(settings->first));
}

CatalogState::Databases::iterator CatalogState::EraseDatabase(Databases::iterator database) {
  for (const auto* collection : database->second.names) {
    DropSettings(collection->second.settings);
    collections_.erase(collections_.find(collection->first));
  }
  return databases_.erase(database);
}

void CatalogState::EraseCollection(const Uuid& id) {
  const auto found = collections_.find(id);
  if (found == collections_.end()) return;
  databases_.find(found->second.database->first)->second.names.erase(&*found);
  DropSettings(found->second.settings);
  collections_.erase(found);
}

}  // namespace pigment
