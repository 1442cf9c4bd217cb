// SPDX-License-Identifier: Apache-2.0
//
// CatalogView: see the header.

#include "engine/collection/catalog_view.h"

#include <utility>

namespace pigment {

namespace {

Status NotHere(const char* what) {
  return Internal(std::string(what) +
                  " goes through the store, which keeps collections and catalog together");
}

}  // namespace

Status CatalogView::CreateTenant(const std::string& name) {
  return engine_->CreateTenant(name);
}

Result<Catalog::DatabaseEntry> CatalogView::CreateDatabase(const std::string& tenant,
                                                           const std::string& name) {
  return engine_->CreateDatabase(tenant, name);
}

CollectionEntry CatalogView::AsOfNow(CollectionEntry entry) const {
  entry.dimension = engine_->DimensionOf(entry.id, entry.dimension);
  return entry;
}

Result<CollectionEntry> CatalogView::GetCollection(const std::string& tenant,
                                                   const std::string& database,
                                                   const std::string& name) const {
  PIGMENT_ASSIGN_OR_RETURN(CollectionEntry entry,
                           engine_->catalog()->GetCollection(tenant, database, name));
  return AsOfNow(std::move(entry));
}

Result<CollectionEntry> CatalogView::GetCollectionById(const Uuid& id) const {
  PIGMENT_ASSIGN_OR_RETURN(CollectionEntry entry, engine_->catalog()->GetCollectionById(id));
  return AsOfNow(std::move(entry));
}

Result<std::vector<CollectionEntry>> CatalogView::ListCollections(
    const std::string& tenant, const std::string& database) const {
  PIGMENT_ASSIGN_OR_RETURN(std::vector<CollectionEntry> entries,
                           engine_->catalog()->ListCollections(tenant, database));
  for (CollectionEntry& entry : entries) entry = AsOfNow(std::move(entry));
  return entries;
}

std::vector<CollectionEntry> CatalogView::AllCollections() const {
  std::vector<CollectionEntry> entries = engine_->catalog()->AllCollections();
  for (CollectionEntry& entry : entries) entry = AsOfNow(std::move(entry));
  return entries;
}

Status CatalogView::CreateCollection(const CollectionEntry&) {
  return NotHere("creating a collection");
}

Status CatalogView::UpdateCollection(const CollectionEntry& changed) {
  return engine_->ModifyCollection(changed.id, [&changed](CollectionEntry& entry) {
    entry = changed;
    return Status::Ok();
  });
}

Status CatalogView::UpdateCollections(std::span<const CollectionEntry>) {
  return NotHere("changing collections together");
}

Status CatalogView::RaiseFloors(uint64_t) { return NotHere("raising floors"); }

Status CatalogView::DeleteCollection(const Uuid& id) {
  PIGMENT_ASSIGN_OR_RETURN(const CollectionEntry entry, engine_->catalog()->GetCollectionById(id));
  return engine_->DeleteCollection({entry.tenant, entry.database}, entry.name);
}

Result<uint32_t> CatalogView::NextSegment() { return NotHere("numbering a segment"); }

Status CatalogView::Checkpoint() {
  PIGMENT_RETURN_IF_ERROR(engine_->CheckWritable());
  return engine_->catalog()->Checkpoint();
}

Status CatalogView::Seal() {
  PIGMENT_RETURN_IF_ERROR(engine_->CheckWritable());
  return engine_->catalog()->Seal();
}

}  // namespace pigment
