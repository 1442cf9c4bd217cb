// SPDX-License-Identifier: Apache-2.0
//
// Catalog: checks and edits. One mutex orders the edits; readers see the state under another, which
// no input or output happens under.

#include "engine/catalog/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <utility>

#include "engine/catalog/catalog_files.h"
#include "engine/catalog/catalog_state.h"

namespace pigment {
namespace {

constexpr uint32_t kSegmentsReserved = 64;  // at once: a crash skips at most so many numbers

Status NoTenant(const std::string& name) {
  return NotFound(fmt::format("tenant \"{}\" not found", name));
}
Status NoDatabase(const std::string& tenant, const std::string& name) {
  return NotFound(fmt::format("database \"{}\" not found in tenant \"{}\"", name, tenant));
}
Status NoCollection(const std::string& name) {
  return NotFound(fmt::format("collection \"{}\" does not exist", name));
}
Status NoCollection(const Uuid& id) {
  return NotFound(fmt::format("collection {} does not exist", id.ToString()));
}
Status NameTaken(const std::string& name) {
  return AlreadyExists(fmt::format("collection \"{}\" already exists", name));
}

class CatalogImpl final : public Catalog {
 public:
  CatalogImpl(std::unique_ptr<CatalogFiles> files, CatalogState state, bool is_read_only)
      : is_read_only_(is_read_only),
        files_(std::move(files)),
        next_segment_(state.next_segment()),
        state_(std::move(state)) {}

  Uuid store() const override { return files_->store(); }

  Status CreateTenant(const std::string& name) override;
  Status GetTenant(const std::string& name) const override;
  std::vector<std::string> ListTenants() const override;
  Status DeleteTenant(const std::string& name) override;
  Result<DatabaseEntry> CreateDatabase(const std::string& tenant, const std::string& name) override;
  Result<DatabaseEntry> GetDatabase(const std::string& tenant,
                                    const std::string& name) const override;
  Result<std::vector<DatabaseEntry>> ListDatabases(const std::string& tenant) const override;
  Status DeleteDatabase(const std::string& tenant, const std::string& name) override;

  Status CreateCollection(const CollectionEntry& entry) override;
  Result<CollectionEntry> GetCollection(const std::string& tenant, const std::string& database,
                                        const std::string& name) const override;
  Result<CollectionEntry> GetCollectionById(const Uuid& id) const override;
  Result<std::vector<CollectionEntry>> ListCollections(const std::string& tenant,
                                                       const std::string& database) const override;
  std::vector<CollectionEntry> AllCollections() const override;
  Status UpdateCollection(const CollectionEntry& entry) override;
  Status DeleteCollection(const Uuid& id) override;

  Result<uint32_t> NextSegment() override;
  Status Checkpoint() override;

 private:
  // All REQUIRE edit_mutex_, under which the state may be read without its own mutex.
  Status CheckWritable() const;
  Status CheckDatabase(const std::string& tenant, const std::string& name) const;
  Status CheckName(const CollectionEntry& entry) const;
  Status Edit(const std::string& edit);
  Status DoCheckpoint();
  Status Failed(Status status);

  const bool is_read_only_;

  std::mutex edit_mutex_;  // taken before state_mutex_; guards the next four
  const std::unique_ptr<CatalogFiles> files_;
  Status poison_;
  bool is_edit_under_way_ = false;  // found set: an edit died between disk and memory
  uint32_t next_segment_;

  mutable std::shared_mutex state_mutex_;
  CatalogState state_;  // written under both mutexes
};

// ---- Editing
// --------------------------------------------------------------------------------------------------------

Status CatalogImpl::CheckWritable() const {
  if (is_read_only_)
    return FailedPrecondition(Detail::kReadOnly, "the catalog was opened read-only");
  if (is_edit_under_way_)
    return FailedPrecondition(Detail::kPoisoned, "an earlier edit of the catalog was not finished");
  return poison_;
}

Status CatalogImpl::Failed(Status status) {
  if (!files_->is_broken()) return status;
  poison_ =
      FailedPrecondition(Detail::kPoisoned,
                         "the catalog takes no more edits after a failure: " + status.message())
          .WithFile(status.file(), status.offset())
          .WithHint("close and open again; an edit that failed may or may not be there then");
  return poison_;
}

Status CatalogImpl::Edit(const std::string& edit) {
  is_edit_under_way_ = true;
  const auto bytes = std::as_bytes(std::span(edit));
  if (Status status = files_->Append(bytes, state_); !status.ok()) {
    is_edit_under_way_ = false;
    return Failed(std::move(status));
  }
  Status applied;
  {
    std::unique_lock lock(state_mutex_);
    applied = state_.Apply(bytes);
  }
  is_edit_under_way_ = false;
  if (!applied.ok()) {
    poison_ = Internal("an edit of the catalog was checked and yet cannot be applied: " +
                       applied.message());
    return poison_;
  }
  // The edit is durable whatever comes of this; a failure that matters poisons.
  if (files_->wants_checkpoint()) static_cast<void>(DoCheckpoint().ok());
  return Status::Ok();
}

Status CatalogImpl::DoCheckpoint() {
  Status status = files_->Checkpoint(state_);
  return status.ok() ? status : Failed(std::move(status));
}

Status CatalogImpl::Checkpoint() {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  return DoCheckpoint();
}

// ---- Tenants and databases
// ------------------------------------------------------------------------------------------

Status CatalogImpl::CreateTenant(const std::string& name) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  if (state_.tenants().contains(name))
    return AlreadyExists(fmt::format("tenant \"{}\" already exists", name));
  return Edit(CatalogState::PutTenant(name));
}

Status CatalogImpl::GetTenant(const std::string& name) const {
  std::shared_lock lock(state_mutex_);
  return state_.tenants().contains(name) ? Status::Ok() : NoTenant(name);
}

std::vector<std::string> CatalogImpl::ListTenants() const {
  std::shared_lock lock(state_mutex_);
  return {state_.tenants().begin(), state_.tenants().end()};
}

Status CatalogImpl::DeleteTenant(const std::string& name) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  if (!state_.tenants().contains(name)) return NoTenant(name);
  return Edit(CatalogState::DeleteTenant(name));
}

Status CatalogImpl::CheckDatabase(const std::string& tenant, const std::string& name) const {
  if (!state_.tenants().contains(tenant)) return NoTenant(tenant);
  return state_.databases().contains({tenant, name}) ? Status::Ok() : NoDatabase(tenant, name);
}

Result<Catalog::DatabaseEntry> CatalogImpl::CreateDatabase(const std::string& tenant,
                                                           const std::string& name) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  if (!state_.tenants().contains(tenant)) return NoTenant(tenant);
  if (state_.databases().contains({tenant, name})) {
    return AlreadyExists(
        fmt::format("database \"{}\" already exists in tenant \"{}\"", name, tenant));
  }
  PIGMENT_ASSIGN_OR_RETURN(const Uuid id, Uuid::Random());
  DatabaseEntry entry{.id = id, .name = name, .tenant = tenant};
  PIGMENT_RETURN_IF_ERROR(Edit(CatalogState::PutDatabase(entry)));
  return entry;
}

Result<Catalog::DatabaseEntry> CatalogImpl::GetDatabase(const std::string& tenant,
                                                        const std::string& name) const {
  std::shared_lock lock(state_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckDatabase(tenant, name));
  return DatabaseEntry{.id = state_.databases().at({tenant, name}), .name = name, .tenant = tenant};
}

Result<std::vector<Catalog::DatabaseEntry>> CatalogImpl::ListDatabases(
    const std::string& tenant) const {
  std::shared_lock lock(state_mutex_);
  if (!state_.tenants().contains(tenant)) return NoTenant(tenant);
  std::vector<DatabaseEntry> entries;
  const auto& databases = state_.databases();
  for (auto it = databases.lower_bound({tenant, ""});
       it != databases.end() && it->first.first == tenant; ++it) {
    entries.push_back({.id = it->second, .name = it->first.second, .tenant = tenant});
  }
  return entries;
}

Status CatalogImpl::DeleteDatabase(const std::string& tenant, const std::string& name) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  PIGMENT_RETURN_IF_ERROR(CheckDatabase(tenant, name));
  return Edit(CatalogState::DeleteDatabase(tenant, name));
}

// ---- Collections
// ----------------------------------------------------------------------------------------------------

// The place of a new or changed entry: its database must be there and its name not another's.
Status CatalogImpl::CheckName(const CollectionEntry& entry) const {
  PIGMENT_RETURN_IF_ERROR(CheckDatabase(entry.tenant, entry.database));
  const auto found = state_.names().find({entry.tenant, entry.database, entry.name});
  return found == state_.names().end() || found->second == entry.id ? Status::Ok()
                                                                    : NameTaken(entry.name);
}

Status CatalogImpl::CreateCollection(const CollectionEntry& entry) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  if (entry.id.is_nil())
    return Internal(fmt::format("collection \"{}\" was given no id", entry.name));
  PIGMENT_RETURN_IF_ERROR(CheckName(entry));
  if (state_.collections().contains(entry.id)) {
    return AlreadyExists(fmt::format("collection {} already exists", entry.id.ToString()));
  }
  return Edit(CatalogState::PutCollection(entry));
}

Result<CollectionEntry> CatalogImpl::GetCollection(const std::string& tenant,
                                                   const std::string& database,
                                                   const std::string& name) const {
  std::shared_lock lock(state_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckDatabase(tenant, database));
  const auto found = state_.names().find({tenant, database, name});
  if (found == state_.names().end()) return NoCollection(name);
  return *state_.collections().at(found->second);
}

Result<CollectionEntry> CatalogImpl::GetCollectionById(const Uuid& id) const {
  std::shared_lock lock(state_mutex_);
  const auto found = state_.collections().find(id);
  if (found == state_.collections().end()) return NoCollection(id);
  return *found->second;
}

Result<std::vector<CollectionEntry>> CatalogImpl::ListCollections(
    const std::string& tenant, const std::string& database) const {
  std::vector<CatalogState::Collection> found;
  {
    std::shared_lock lock(state_mutex_);
    PIGMENT_RETURN_IF_ERROR(CheckDatabase(tenant, database));
    const auto& names = state_.names();
    for (auto it = names.lower_bound({tenant, database, ""});
         it != names.end() && std::get<0>(it->first) == tenant &&
         std::get<1>(it->first) == database;
         ++it) {
      found.push_back(state_.collections().at(it->second));
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->id < b->id; });
  std::vector<CollectionEntry> entries;
  entries.reserve(found.size());
  for (const CatalogState::Collection& entry : found) entries.push_back(*entry);
  return entries;
}

std::vector<CollectionEntry> CatalogImpl::AllCollections() const {
  std::shared_lock lock(state_mutex_);
  std::vector<CollectionEntry> entries;
  entries.reserve(state_.collections().size());
  for (const auto& [id, entry] : state_.collections()) entries.push_back(*entry);
  return entries;
}

Status CatalogImpl::UpdateCollection(const CollectionEntry& entry) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  if (!state_.collections().contains(entry.id)) return NoCollection(entry.id);
  PIGMENT_RETURN_IF_ERROR(CheckName(entry));
  return Edit(CatalogState::PutCollection(entry));
}

Status CatalogImpl::DeleteCollection(const Uuid& id) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  if (!state_.collections().contains(id)) return NoCollection(id);
  return Edit(CatalogState::DeleteCollection(id));
}

Result<uint32_t> CatalogImpl::NextSegment() {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  if (next_segment_ == state_.next_segment()) {
    if (next_segment_ > std::numeric_limits<uint32_t>::max() - kSegmentsReserved) {
      return ResourceExhausted(Detail::kLimit,
                               fmt::format("segment numbers are used up at {}", next_segment_));
    }
    PIGMENT_RETURN_IF_ERROR(Edit(CatalogState::ReserveSegments(next_segment_ + kSegmentsReserved)));
  }
  return next_segment_++;
}

Result<CatalogState> InitialState() {
  CatalogState state;
  PIGMENT_ASSIGN_OR_RETURN(const Uuid id, Uuid::Random());
  const std::string tenant = CatalogState::PutTenant(std::string(kDefaultTenant));
  const std::string database = CatalogState::PutDatabase(
      {.id = id, .name = std::string(kDefaultDatabase), .tenant = std::string(kDefaultTenant)});
  PIGMENT_RETURN_IF_ERROR(state.Apply(std::as_bytes(std::span(tenant))));
  PIGMENT_RETURN_IF_ERROR(state.Apply(std::as_bytes(std::span(database))));
  return state;
}

}  // namespace

Result<std::unique_ptr<Catalog>> Catalog::Open(FileSystem* files, std::string directory,
                                               bool read_only) {
  auto catalog_files = std::make_unique<CatalogFiles>(files, directory);
  PIGMENT_ASSIGN_OR_RETURN(const bool exists, catalog_files->Find());
  CatalogState state;
  if (exists) {
    PIGMENT_RETURN_IF_ERROR(catalog_files->Load(&state));
    if (!read_only) PIGMENT_RETURN_IF_ERROR(catalog_files->BecomeWriter(state));
  } else {
    if (read_only) return NotFound(fmt::format("{} holds no database", directory));
    PIGMENT_ASSIGN_OR_RETURN(state, InitialState());
    PIGMENT_RETURN_IF_ERROR(catalog_files->Create(state));
  }
  return std::unique_ptr<Catalog>(
      std::make_unique<CatalogImpl>(std::move(catalog_files), std::move(state), read_only));
}

}  // namespace pigment
