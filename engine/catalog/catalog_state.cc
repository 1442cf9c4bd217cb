// SPDX-License-Identifier: Apache-2.0
//
// CatalogState: edits as bytes, and what they do.

#include "engine/catalog/catalog_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/base/bytes.h"

namespace pigment {
namespace {

enum class EditKind : uint8_t {
  kPutTenant = 1,
  kDeleteTenant = 2,
  kPutDatabase = 3,
  kDeleteDatabase = 4,
  kPutCollection = 5,
  kDeleteCollection = 6,
  kReserveSegments = 7,
};

constexpr size_t kSegmentBytes = 4 + 4 + 8 + 4 + 8 + 4;

class EditWriter : public ByteWriter {
 public:
  EditWriter(std::string* out, EditKind kind) : ByteWriter(out) { Put(static_cast<uint8_t>(kind)); }
};

Status Contradiction(std::string message) {
  return DataLoss(Detail::kMiscounted, "", -1, std::move(message));
}

Uuid GetUuid(ByteReader& reader) {
  Uuid uuid;
  const std::span<const std::byte> bytes = reader.GetBytes(uuid.bytes.size());
  std::copy(bytes.begin(), bytes.end(), uuid.bytes.begin());
  return uuid;
}

bool IsMetric(int32_t number) { return !MetricName(static_cast<Metric>(number)).empty(); }

Result<CollectionEntry> GetCollection(ByteReader& reader) {
  CollectionEntry entry;
  entry.id = GetUuid(reader);
  entry.name = reader.GetText();
  entry.tenant = reader.GetText();
  entry.database = reader.GetText();
  const auto has_metadata = reader.Get<uint8_t>();
  const std::string_view metadata = reader.GetText();
  entry.configuration_json = reader.GetText();
  entry.schema_json = reader.GetText();
  entry.embedding_function_name = reader.GetText();
  entry.embedding_function_config_json = reader.GetText();
  const auto metric = reader.Get<int32_t>();
  entry.dimension = reader.Get<uint32_t>();
  entry.floor = reader.Get<uint64_t>();
  entry.next_ordinal = reader.Get<uint64_t>();
  const uint32_t segments = reader.GetCount(kSegmentBytes);
  entry.segments.reserve(segments);
  for (uint32_t i = 0; i < segments; ++i) {
    SegmentEntry segment;
    segment.segment = reader.Get<uint32_t>();
    segment.root = reader.Get<uint32_t>();
    segment.file_bytes = reader.Get<uint64_t>();
    segment.rows = reader.Get<uint32_t>();
    segment.deletions = reader.Get<uint64_t>();
    segment.deleted_rows = reader.Get<uint32_t>();
    entry.segments.push_back(segment);
  }
  if (!reader.ok()) return Contradiction("a collection's edit ends too early");
  if (has_metadata > 1 || !IsMetric(metric)) {
    return Contradiction(fmt::format("a collection's edit has metric {} and metadata flag {}",
                                     metric, has_metadata));
  }
  entry.metric = static_cast<Metric>(metric);
  if (has_metadata == 1) {
    PIGMENT_ASSIGN_OR_RETURN(entry.metadata, DecodeMetadata(AsBytes(metadata)));
  }
  return entry;
}

}  // namespace

// ---- Encoding
// -------------------------------------------------------------------------------------------------------

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
  std::string edit;
  EditWriter writer(&edit, EditKind::kPutCollection);
  writer.PutBytes(entry.id.bytes);
  writer.PutText(entry.name);
  writer.PutText(entry.tenant);
  writer.PutText(entry.database);
  std::string metadata;
  if (entry.metadata) EncodeMetadata(*entry.metadata, metadata);
  writer.Put(static_cast<uint8_t>(entry.metadata.has_value()));
  writer.PutText(metadata);
  writer.PutText(entry.configuration_json);
  writer.PutText(entry.schema_json);
  writer.PutText(entry.embedding_function_name);
  writer.PutText(entry.embedding_function_config_json);
  writer.Put(static_cast<int32_t>(entry.metric));
  writer.Put(entry.dimension);
  writer.Put(entry.floor);
  writer.Put(entry.next_ordinal);
  writer.Put(static_cast<uint32_t>(entry.segments.size()));
  for (const SegmentEntry& segment : entry.segments) {
    writer.Put(segment.segment);
    writer.Put(segment.root);
    writer.Put(segment.file_bytes);
    writer.Put(segment.rows);
    writer.Put(segment.deletions);
    writer.Put(segment.deleted_rows);
  }
  return edit;
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

std::string CatalogState::EncodeSnapshot() const {
  std::string snapshot;
  ByteWriter writer(&snapshot);
  writer.Put(static_cast<uint32_t>(tenants_.size() + databases_.size() + collections_.size() + 1));
  writer.PutText(ReserveSegments(next_segment_));
  for (const std::string& name : tenants_) writer.PutText(PutTenant(name));
  for (const auto& [key, id] : databases_) {
    writer.PutText(PutDatabase({.id = id, .name = key.second, .tenant = key.first}));
  }
  for (const auto& [id, entry] : collections_) writer.PutText(PutCollection(*entry));
  return snapshot;
}

// ---- Applying
// -------------------------------------------------------------------------------------------------------

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
      if (tenants_.erase(name) == 0)
        return Contradiction(fmt::format("tenant \"{}\" is deleted twice", name));
      for (auto it = databases_.lower_bound({name, ""});
           it != databases_.end() && it->first.first == name;) {
        const std::string database = (it++)->first.second;
        EraseDatabase(name, database);
      }
      return Status::Ok();
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
      if (!databases_.contains({tenant, name}))
        return Contradiction(fmt::format("database \"{}\" is deleted twice", name));
      EraseDatabase(tenant, name);
      return Status::Ok();
    }
    case EditKind::kPutCollection: {
      PIGMENT_ASSIGN_OR_RETURN(CollectionEntry entry, GetCollection(reader));
      PIGMENT_RETURN_IF_ERROR(check_end());
      return ApplyPutCollection(std::move(entry));
    }
    case EditKind::kDeleteCollection: {
      const Uuid id = GetUuid(reader);
      PIGMENT_RETURN_IF_ERROR(check_end());
      if (!collections_.contains(id))
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
  }
  return Contradiction(fmt::format("an edit of unknown kind {}", kind));
}

Status CatalogState::ApplyPutDatabase(Catalog::DatabaseEntry entry) {
  if (!tenants_.contains(entry.tenant)) {
    return Contradiction(fmt::format("database \"{}\" is in tenant \"{}\", which is not there",
                                     entry.name, entry.tenant));
  }
  databases_[{std::move(entry.tenant), std::move(entry.name)}] = entry.id;
  return Status::Ok();
}

Status CatalogState::ApplyPutCollection(CollectionEntry entry) {
  NameKey key(entry.tenant, entry.database, entry.name);
  if (!databases_.contains({entry.tenant, entry.database})) {
    return Contradiction(fmt::format("collection \"{}\" is in database \"{}\", which is not there",
                                     entry.name, entry.database));
  }
  if (const auto found = names_.find(key); found != names_.end() && found->second != entry.id) {
    return Contradiction(fmt::format("two collections are named \"{}\"", entry.name));
  }
  EraseCollection(entry.id);
  const Uuid id = entry.id;
  names_[std::move(key)] = id;
  collections_[id] = std::make_shared<const CollectionEntry>(std::move(entry));
  return Status::Ok();
}

void CatalogState::EraseDatabase(const std::string& tenant, const std::string& name) {
  const auto begin = names_.lower_bound({tenant, name, ""});
  auto end = begin;
  while (end != names_.end() && std::get<0>(end->first) == tenant &&
         std::get<1>(end->first) == name) {
    collections_.erase((end++)->second);
  }
  names_.erase(begin, end);
  databases_.erase({tenant, name});
}

void CatalogState::EraseCollection(const Uuid& id) {
  const auto found = collections_.find(id);
  if (found == collections_.end()) return;
  names_.erase({found->second->tenant, found->second->database, found->second->name});
  collections_.erase(found);
}

}  // namespace pigment
