// SPDX-License-Identifier: Apache-2.0
//
// The handles of a store: what Store::Open gives. Each open has its own closed state; behind it one
// engine serves all opens of a directory.

#include "engine/collection/store.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "engine/base/memory_files.h"
#include "engine/base/out_of_memory.h"
#include "engine/base/planted_bugs.h"
#include "engine/collection/catalog_view.h"
#include "engine/collection/registry.h"
#include "engine/collection/store_engine.h"
#include "engine/vector/half.h"

namespace pigment {

namespace {

// What a forked child inherited is neither closed nor destroyed there: its threads do not exist,
// its locks may be held, and its files are the parent's. Kept reachable for ever.
void KeepForever(RegisteredEngine registered) {
  static auto* const mutex = new std::mutex;
  static auto* const kept = new std::vector<RegisteredEngine>;
  std::lock_guard lock(*mutex);
  kept->push_back(std::move(registered));
}

// One open of a store, shared by its handle and the handles of its collections. The last of them
// closes.
class Opening {
 public:
  explicit Opening(RegisteredEngine registered)
      : registered_(std::move(registered)), catalog_(registered_.engine.get()) {}
  ~Opening() {
    if (engine().is_forked()) {
      KeepForever(std::move(registered_));
    } else {
      (void)CatchOutOfMemory([this] { return Close(); });  // who wants the error calls Close
    }
  }

  StoreEngine& engine() const { return *registered_.engine; }
  CatalogView* catalog() { return &catalog_; }

  Status Check() const {
    PIGMENT_RETURN_IF_ERROR(engine().CheckOpen());
    if (!is_closed_.load(std::memory_order_acquire)) return Status::Ok();
    return FailedPrecondition(Detail::kClosed,
                              fmt::format("store \"{}\" is closed", engine().directory()));
  }

  Status Close() {
    if (engine().is_forked()) return engine().CheckOpen();
    // Also of a second closer, who returns when the first is done.
    Span span(engine().options().tracing, "close", nullptr);
    const Status status = [&] {
      std::lock_guard lock(close_mutex_);
      return is_closed_.exchange(true) ? Status::Ok() : CloseRegistered(registered_);
    }();
    span.End(status);
    return status;
  }

 private:
  RegisteredEngine registered_;
  CatalogView catalog_;
  std::mutex close_mutex_;
  std::atomic<bool> is_closed_{false};
};

class CollectionHandle final : public Collection {
 public:
  explicit CollectionHandle(std::shared_ptr<Opening> opening) : opening_(std::move(opening)) {}

  // Before anybody else has the handle.
  void Begin(CollectionEntry entry) noexcept { at_opening_ = std::move(entry); }

  CollectionEntry entry() const override {
    if (!opening_->Check().ok()) return at_opening_;
    auto now = opening_->catalog()->GetCollectionById(at_opening_.id);
    return now.ok() ? *std::move(now) : at_opening_;
  }

  Result<std::shared_ptr<const Version>> Pin() const override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    PIGMENT_ASSIGN_OR_RETURN(const auto state,
                             opening_->engine().Find(at_opening_.id, at_opening_.name));
    opening_->engine().LookForGrafts(state);
    return state->Pin();
  }

  Result<WriteOutcome> Write(WriteBatch batch) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    // Before anything is kept, so that log, tail and segments have the same numbers.
    if (at_opening_.vector_element == VectorElement::kF16 && !PIGMENT_PLANTED(kVectorsRoundedLate))
      PIGMENT_RETURN_IF_ERROR(RoundToHalves(batch.dimension, batch.embeddings));
    return opening_->engine().Write(at_opening_.id, at_opening_.name, batch);
  }

  Result<WriteOutcome> DeleteSelected(const Select& select) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return opening_->engine().DeleteSelected(at_opening_.id, at_opening_.name, select);
  }

  Result<std::vector<SegmentDescription>> Segments() const override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    PIGMENT_ASSIGN_OR_RETURN(const auto state,
                             opening_->engine().Find(at_opening_.id, at_opening_.name));
    return state->Segments();
  }

  Status Flush(const CallControl& control) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return opening_->engine().FlushCollection(at_opening_.id, at_opening_.name, control);
  }

  Result<CompactionResult> Compact(const CallControl& control) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return opening_->engine().CompactCollection(at_opening_.id, at_opening_.name, control);
  }

 private:
  const std::shared_ptr<Opening> opening_;
  CollectionEntry at_opening_;  // never changes once the handle is given out
};

class StoreHandle final : public Store {
 public:
  explicit StoreHandle(std::shared_ptr<Opening> opening) : opening_(std::move(opening)) {}

  Status Close() override { return opening_->Close(); }

  Result<Catalog*> catalog() override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return static_cast<Catalog*>(opening_->catalog());
  }

  Result<std::shared_ptr<Collection>> CreateCollection(CollectionEntry entry) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return Handle([&] { return engine().CreateCollection(std::move(entry)); });
  }

  Result<std::shared_ptr<Collection>> GetCollection(const Scope& scope,
                                                    const std::string& name) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return Handle(
        [&] { return opening_->catalog()->GetCollection(scope.tenant, scope.database, name); });
  }

  Result<std::shared_ptr<Collection>> GetCollectionById(const Uuid& id) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return Handle([&] { return opening_->catalog()->GetCollectionById(id); });
  }

  Status ModifyCollection(const Uuid& id,
                          const std::function<Status(CollectionEntry&)>& change) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return engine().ModifyCollection(id, change);
  }

  Status DeleteCollection(const Scope& scope, const std::string& name) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return engine().DeleteCollection(scope, name);
  }

  Status DeleteDatabase(const std::string& tenant, const std::string& name) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return engine().DeleteDatabase(tenant, name);
  }

  Status DeleteTenant(const std::string& name) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return engine().DeleteTenant(name);
  }

  Result<std::shared_ptr<Collection>> ForkCollection(const Uuid& source,
                                                     const std::string& new_name) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return Handle([&] { return engine().ForkCollection(source, new_name); });
  }

  Result<BackupSummary> Backup(const std::string& path, const BackupOptions& options) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    Span span(engine().options().tracing, "backup", nullptr);
    Result<BackupSummary> summary = engine().WriteBackupTo(path, options);
    if (summary.ok()) {
      span.Set("files", summary->files);
      span.Set("bytes", summary->bytes);
      span.Set("position", summary->position);
    }
    span.End(summary.status());
    return summary;
  }

  Result<StoreCondition> Condition() const override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return engine().Condition();
  }

  Result<CheckReport> Check(const CheckOptions& options) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    Span span(engine().options().tracing, "check", nullptr);
    Result<CheckReport> report = engine().Check(options);
    span.End(report.status());
    return report;
  }

  Status Flush(const CallControl& control) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return engine().FlushAll(control);
  }

  Result<CompactionResult> Compact(const CallControl& control) override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return engine().CompactAll(control);
  }

  Result<MaintenanceStatistics> maintenance() const override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return engine().maintenance();
  }

  uint64_t position() const override { return engine().position(); }

  Result<LoadingStatistics> loading() const override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    return engine().loading();
  }

  Result<uint64_t> Refresh() override {
    PIGMENT_RETURN_IF_ERROR(opening_->Check());
    Span span(engine().options().tracing, "refresh", nullptr);
    Result<uint64_t> reached = engine().Refresh();
    if (reached.ok()) span.Set("position", *reached);
    span.End(reached.status());
    return reached;
  }

 private:
  StoreEngine& engine() const { return opening_->engine(); }

  // The handle is made first: what was created must not be reported as a failure to make one.
  template <typename Find>
  Result<std::shared_ptr<Collection>> Handle(const Find& find) {
    auto handle = std::make_shared<CollectionHandle>(opening_);
    Result<CollectionEntry> entry = find();
    PIGMENT_RETURN_IF_ERROR(entry.status());
    handle->Begin(*std::move(entry));
    return std::shared_ptr<Collection>(std::move(handle));
  }

  const std::shared_ptr<Opening> opening_;
};

}  // namespace

Result<std::shared_ptr<Store>> Store::Open(const std::optional<std::string>& path,
                                           const StoreOptions& options, FileSystem* files) {
  RegisteredEngine registered;
  if (path) {
    PIGMENT_ASSIGN_OR_RETURN(registered, OpenRegistered(*path, options, files));
  } else {
    if (options.read_only) return InvalidArgument("a store in memory cannot be read-only");
    StoreOptions in_memory = options;
    in_memory.reserve_bytes = 0;
    PIGMENT_ASSIGN_OR_RETURN(
        registered.engine,
        // Nobody else can want it; to describe the process would be to read files.
        StoreEngine::Open(std::make_shared<MemoryFileSystem>(), "memory", in_memory, "this store"));
  }
  std::shared_ptr<Opening> opening;
  try {
    opening = std::make_shared<Opening>(registered);
  } catch (const std::bad_alloc&) {
    (void)CloseRegistered(registered);  // nobody else would
    throw;
  }
  return std::shared_ptr<Store>(std::make_shared<StoreHandle>(std::move(opening)));
}

}  // namespace pigment
