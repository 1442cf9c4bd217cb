// SPDX-License-Identifier: Apache-2.0
//
// Catalog: checks and edits. One mutex orders the edits; readers see the state under another, which
// no input or output happens under.

#include "engine/catalog/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <span>
#include <utility>

#include "engine/base/out_of_memory.h"
#include "engine/base/version.h"
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
  CatalogImpl(std::unique_ptr<CatalogFiles> files, CatalogState state, bool is_read_only,
              DiskReserve* reserve)
      : is_read_only_(is_read_only),
        reserve_(reserve),
        files_(std::move(files)),
        next_segment_(state.next_segment()),
        position_(files_->next_position()),
        state_(std::move(state)),
        bytes_(files_->bytes()) {}

  Uuid store() const override { return files_->store(); }
  uint64_t position() const override { return position_.load(std::memory_order_acquire); }

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
  void VisitCollections(
      const std::function<void(const CollectionEntry& entry)>& visit) const override;
  std::optional<uint64_t> FloorOf(const Uuid& id) const override;
  Status UpdateCollection(const CollectionEntry& entry) override;
  Status UpdateCollections(std::span<const CollectionEntry> entries) override;
  Status RaiseFloors(uint64_t floor) override;
  Status DeleteCollection(const Uuid& id) override;

  Result<uint32_t> NextSegment() override;
  std::vector<Migration> migrations() const override;
  Statistics statistics() const override;
  std::string EncodeState() const override {
    std::shared_lock lock(state_mutex_);
    return state_.EncodeSnapshot();
  }
  Status Checkpoint() override;
  Status Seal() override;

 private:
  enum class Room { kOrdinary, kReserve };  // what an edit may use of a full disk

  // All REQUIRE edit_mutex_, under which the state may be read without its own mutex.
  Status CheckWritable() const;
  Status CheckDatabase(const std::string& tenant, const std::string& name) const;
  Status CheckName(const CollectionEntry& entry) const;
  Status Edit(const std::string& edit) { return Edit(std::span(&edit, 1), Room::kOrdinary); }
  Status EditWithReserve(const std::string& edit) {
    return Edit(std::span(&edit, 1), Room::kReserve);
  }
  Status Edit(std::span<const std::string> edits, Room room);
  Status Append(std::span<const std::span<const std::byte>> edits, Room room);
  Status DoCheckpoint();
  Status Failed(Status status);

  const bool is_read_only_;
  DiskReserve* const reserve_;  // null: none

  std::mutex edit_mutex_;  // taken before state_mutex_; guards the next four
  const std::unique_ptr<CatalogFiles> files_;
  Status poison_;
  bool is_edit_under_way_ = false;  // found set: an edit died between disk and memory
  uint32_t next_segment_;

  std::atomic<uint64_t> position_;
  mutable std::shared_mutex state_mutex_;
  CatalogState state_;  // written under both mutexes
  uint64_t bytes_;      // on disk; the same
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

// An edit that frees space goes through on a full disk; nothing else uses up what it was given.
Status CatalogImpl::Append(std::span<const std::span<const std::byte>> edits, Room room) {
  Status status = files_->Append(edits, state_);
  if (status.detail() != Detail::kDiskFull || files_->is_broken() || room != Room::kReserve ||
      reserve_ == nullptr || !reserve_->Release()) {
    return status;
  }
  return files_->Append(edits, state_);
}

// All of `edits` with one sync.
Status CatalogImpl::Edit(std::span<const std::string> edits, Room room) {
  if (reserve_ != nullptr) {
    Status reserved = reserve_->Require();
    if (!reserved.ok() && room == Room::kOrdinary) return reserved;
  }
  std::vector<std::span<const std::byte>> bytes;
  bytes.reserve(edits.size());
  for (const std::string& edit : edits) bytes.push_back(std::as_bytes(std::span(edit)));
  is_edit_under_way_ = true;
  if (Status status = Append(bytes, room); !status.ok()) {
    is_edit_under_way_ = false;
    return Failed(std::move(status));
  }
  Status applied;
  {
    std::unique_lock lock(state_mutex_);
    for (size_t i = 0; i < bytes.size() && applied.ok(); ++i) applied = state_.Apply(bytes[i]);
    bytes_ = files_->bytes();
    position_.store(files_->next_position(), std::memory_order_release);
  }
  is_edit_under_way_ = false;
  if (!applied.ok()) {
    poison_ = Internal("an edit of the catalog was checked and yet cannot be applied: " +
                       applied.message());
    return poison_;
  }
  // The edit is durable whatever comes of this; a failure that matters poisons.
  if (files_->wants_checkpoint())
    static_cast<void>(CatchOutOfMemory([this] { return DoCheckpoint(); }).ok());
  return Status::Ok();
}

Status CatalogImpl::DoCheckpoint() {
  Status status;
  try {
    status = files_->Checkpoint(state_);
  } catch (const std::bad_alloc&) {
    // Nobody knows which snapshot the next open finds: no edit may follow the old one.
    is_edit_under_way_ = files_->is_broken();
    throw;
  }
  if (!status.ok()) return Failed(std::move(status));
  std::unique_lock lock(state_mutex_);
  bytes_ = files_->bytes();
  return status;
}

Status CatalogImpl::Checkpoint() {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  return DoCheckpoint();
}

Status CatalogImpl::Seal() {
  std::lock_guard lock(edit_mutex_);
  if (!CheckWritable().ok()) return Status::Ok();
  Status status = files_->has_edits() ? DoCheckpoint() : Status::Ok();
  if (status.ok()) files_->Mark();
  return status.detail() == Detail::kDiskFull ? Status::Ok() : status;
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
  return EditWithReserve(CatalogState::DeleteTenant(name));
}

Status CatalogImpl::CheckDatabase(const std::string& tenant, const std::string& name) const {
  if (!state_.tenants().contains(tenant)) return NoTenant(tenant);
  return state_.HasDatabase(tenant, name) ? Status::Ok() : NoDatabase(tenant, name);
}

Result<Catalog::DatabaseEntry> CatalogImpl::CreateDatabase(const std::string& tenant,
                                                           const std::string& name) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  if (!state_.tenants().contains(tenant)) return NoTenant(tenant);
  if (state_.HasDatabase(tenant, name)) {
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
  return DatabaseEntry{.id = *state_.FindDatabase(tenant, name), .name = name, .tenant = tenant};
}

Result<std::vector<Catalog::DatabaseEntry>> CatalogImpl::ListDatabases(
    const std::string& tenant) const {
  std::shared_lock lock(state_mutex_);
  if (!state_.tenants().contains(tenant)) return NoTenant(tenant);
  return state_.DatabasesOf(tenant);
}

Status CatalogImpl::DeleteDatabase(const std::string& tenant, const std::string& name) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  PIGMENT_RETURN_IF_ERROR(CheckDatabase(tenant, name));
  return EditWithReserve(CatalogState::DeleteDatabase(tenant, name));
}

// ---- Collections
// ----------------------------------------------------------------------------------------------------

// The place of a new or changed entry: its database must be there and its name not another's.
Status CatalogImpl::CheckName(const CollectionEntry& entry) const {
  PIGMENT_RETURN_IF_ERROR(CheckDatabase(entry.tenant, entry.database));
  const auto found = state_.FindCollectionByName(entry.tenant, entry.database, entry.name);
  return !found || *found == entry.id ? Status::Ok() : NameTaken(entry.name);
}

Status CatalogImpl::CreateCollection(const CollectionEntry& entry) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  if (entry.id.is_nil())
    return Internal(fmt::format("collection \"{}\" was given no id", entry.name));
  PIGMENT_RETURN_IF_ERROR(CheckName(entry));
  if (state_.HasCollection(entry.id)) {
    return AlreadyExists(fmt::format("collection {} already exists", entry.id.ToString()));
  }
  return Edit(CatalogState::PutCollection(entry));
}

Result<CollectionEntry> CatalogImpl::GetCollection(const std::string& tenant,
                                                   const std::string& database,
                                                   const std::string& name) const {
  std::shared_lock lock(state_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckDatabase(tenant, database));
  const auto found = state_.FindCollectionByName(tenant, database, name);
  if (!found) return NoCollection(name);
  return *state_.FindCollection(*found);
}

Result<CollectionEntry> CatalogImpl::GetCollectionById(const Uuid& id) const {
  std::shared_lock lock(state_mutex_);
  std::optional<CollectionEntry> found = state_.FindCollection(id);
  if (!found) return NoCollection(id);
  return *std::move(found);
}

Result<std::vector<CollectionEntry>> CatalogImpl::ListCollections(
    const std::string& tenant, const std::string& database) const {
  std::vector<CollectionEntry> entries;
  {
    std::shared_lock lock(state_mutex_);
    PIGMENT_RETURN_IF_ERROR(CheckDatabase(tenant, database));
    state_.VisitCollections(tenant, database,
                            [&](const CollectionEntry& entry) { entries.push_back(entry); });
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  return entries;
}

std::vector<CollectionEntry> CatalogImpl::AllCollections() const {
  std::vector<CollectionEntry> entries;
  {
    std::shared_lock lock(state_mutex_);
    entries.reserve(state_.collection_count());
    state_.VisitCollections([&](const CollectionEntry& entry) { entries.push_back(entry); });
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  return entries;
}

void CatalogImpl::VisitCollections(
    const std::function<void(const CollectionEntry& entry)>& visit) const {
  std::shared_lock lock(state_mutex_);
  state_.VisitCollections(visit);
}

std::optional<uint64_t> CatalogImpl::FloorOf(const Uuid& id) const {
  std::shared_lock lock(state_mutex_);
  return state_.FloorOf(id);
}

Status CatalogImpl::UpdateCollection(const CollectionEntry& entry) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  if (!state_.HasCollection(entry.id)) return NoCollection(entry.id);
  PIGMENT_RETURN_IF_ERROR(CheckName(entry));
  return Edit(CatalogState::PutCollection(entry));
}

Status CatalogImpl::UpdateCollections(std::span<const CollectionEntry> entries) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  if (entries.empty()) return Status::Ok();
  std::vector<std::string> edits;
  edits.reserve(entries.size());
  for (const CollectionEntry& entry : entries) {
    if (!state_.HasCollection(entry.id)) return NoCollection(entry.id);
    // Two of a group could take one name; alone each would be refused.
    if (state_.FindCollectionByName(entry.tenant, entry.database, entry.name) != entry.id) {
      return Internal(fmt::format("collection {} is renamed by an edit of many",
                                  entry.id.ToString()));
    }
    edits.push_back(CatalogState::PutCollection(entry));
  }
  return Edit(edits, Room::kOrdinary);
}

Status CatalogImpl::RaiseFloors(uint64_t floor) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  return floor <= state_.floor() ? Status::Ok()
                                 : EditWithReserve(CatalogState::RaiseFloors(floor));
}

Status CatalogImpl::DeleteCollection(const Uuid& id) {
  std::lock_guard lock(edit_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  if (!state_.HasCollection(id)) return NoCollection(id);
  return EditWithReserve(CatalogState::DeleteCollection(id));
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

std::vector<Catalog::Migration> CatalogImpl::migrations() const {
  std::shared_lock lock(state_mutex_);
  return state_.migrations();
}

Catalog::Statistics CatalogImpl::statistics() const {
  std::shared_lock lock(state_mutex_);
  return {.collections = state_.collection_count(), .bytes = bytes_};
}

// ---- Opening ------------------------------------------------------------------------------------

// In order and for good: a number is never used again. The format's version is that of the last.
constexpr struct {
  uint32_t number;
  const char* name;
} kMigrations[] = {
    {1, "tenants, databases, collections and their segments"},
    {2, "shelves of cold collections, one floor for all, applied migrations"},
};
static_assert(std::end(kMigrations)[-1].number == kCatalogVersion);

// Notes in memory that migrations up to `last` were applied by `version`, as far as they are not
// known; whether there were any. The snapshot that follows makes them durable, whole or not at all.
Result<bool> NoteMigrations(CatalogState* state, uint32_t last, const char* version) {
  const uint32_t known = state->migrations().empty() ? 0 : state->migrations().back().number;
  for (const auto& migration : kMigrations) {
    if (migration.number <= known || migration.number > last) continue;
    const std::string edit = CatalogState::ApplyMigration(
        {.number = migration.number, .name = migration.name, .version = version});
    PIGMENT_RETURN_IF_ERROR(state->Apply(std::as_bytes(std::span(edit))));
  }
  return known < last;
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
                                               bool read_only, DiskReserve* reserve) {
  auto catalog_files = std::make_unique<CatalogFiles>(files, directory);
  PIGMENT_ASSIGN_OR_RETURN(const bool exists, catalog_files->Find());
  CatalogState state;
  if (exists) {
    PIGMENT_RETURN_IF_ERROR(catalog_files->Load(&state));
    // Format 1 was that of version 0.1 alone, and had no place to say so.
    PIGMENT_RETURN_IF_ERROR(NoteMigrations(&state, 1, "0.1.0").status());
    if (!read_only) {
      PIGMENT_ASSIGN_OR_RETURN(const bool is_migrated,
                               NoteMigrations(&state, kCatalogVersion, kLibraryVersion));
      PIGMENT_RETURN_IF_ERROR(catalog_files->BecomeWriter(state, is_migrated));
    }
  } else {
    if (read_only) return NotFound(fmt::format("{} holds no database", directory));
    PIGMENT_ASSIGN_OR_RETURN(state, InitialState());
    PIGMENT_RETURN_IF_ERROR(NoteMigrations(&state, kCatalogVersion, kLibraryVersion).status());
    PIGMENT_RETURN_IF_ERROR(catalog_files->Create(state));
  }
  return std::unique_ptr<Catalog>(
      std::make_unique<CatalogImpl>(std::move(catalog_files), std::move(state), read_only, reserve));
}

Status WriteCatalog(FileSystem* files, const std::string& directory, const Uuid& store,
                    const std::string& state) {
  CatalogState decoded;
  PIGMENT_RETURN_IF_ERROR(decoded.ApplySnapshot(std::as_bytes(std::span(state))));
  return CatalogFiles(files, directory).CreateFor(store, decoded);
}

}  // namespace pigment
