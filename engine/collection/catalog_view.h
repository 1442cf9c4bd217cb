// SPDX-License-Identifier: Apache-2.0
//
// CatalogView: the catalog as the users of a store see it. It follows the refreshes of a read-only
// store, shows the dimension that a collection has now (the stored one is as of the last flush),
// and sends what touches collections through the store, so that memory and catalog cannot disagree.
// Owned by the engine's handle; any thread.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/collection/store_engine.h"

namespace pigment {

class CatalogView final : public Catalog {
 public:
  explicit CatalogView(StoreEngine* engine) : engine_(engine) {}

  Uuid store() const override { return engine_->catalog()->store(); }
  uint64_t position() const override { return engine_->catalog()->position(); }

  Status CreateTenant(const std::string& name) override;
  Status GetTenant(const std::string& name) const override {
    return engine_->catalog()->GetTenant(name);
  }
  std::vector<std::string> ListTenants() const override {
    return engine_->catalog()->ListTenants();
  }
  Status DeleteTenant(const std::string& name) override { return engine_->DeleteTenant(name); }
  Result<DatabaseEntry> CreateDatabase(const std::string& tenant, const std::string& name) override;
  Result<DatabaseEntry> GetDatabase(const std::string& tenant,
                                    const std::string& name) const override {
    return engine_->catalog()->GetDatabase(tenant, name);
  }
  Result<std::vector<DatabaseEntry>> ListDatabases(const std::string& tenant) const override {
    return engine_->catalog()->ListDatabases(tenant);
  }
  Status DeleteDatabase(const std::string& tenant, const std::string& name) override {
    return engine_->DeleteDatabase(tenant, name);
  }

  Status CreateCollection(const CollectionEntry& entry) override;
  Result<CollectionEntry> GetCollection(const std::string& tenant, const std::string& database,
                                        const std::string& name) const override;
  Result<CollectionEntry> GetCollectionById(const Uuid& id) const override;
  Result<std::vector<CollectionEntry>> ListCollections(const std::string& tenant,
                                                       const std::string& database) const override;
  std::vector<CollectionEntry> AllCollections() const override;
  void VisitCollections(
      const std::function<void(const CollectionEntry& entry)>& visit) const override {
    engine_->catalog()->VisitCollections(visit);  // dimensions are those of the last flush here
  }
  std::optional<uint64_t> FloorOf(const Uuid& id) const override {
    return engine_->catalog()->FloorOf(id);
  }
  Status UpdateCollection(const CollectionEntry& entry) override;
  Status UpdateCollections(std::span<const CollectionEntry> entries) override;
  Status RaiseFloors(uint64_t floor) override;
  Status DeleteCollection(const Uuid& id) override;

  Result<uint32_t> NextSegment() override;
  std::vector<Migration> migrations() const override { return engine_->catalog()->migrations(); }
  Statistics statistics() const override { return engine_->catalog()->statistics(); }
  std::string EncodeState() const override { return engine_->catalog()->EncodeState(); }
  Status Checkpoint() override;
  Status Seal() override;

 private:
  CollectionEntry AsOfNow(CollectionEntry entry) const;

  StoreEngine* const engine_;
};

}  // namespace pigment
