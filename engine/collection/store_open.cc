// SPDX-License-Identifier: Apache-2.0
//
// StoreEngine: opening and refreshing. Catalog, then the log from the lowest floor; a batch that a
// collection's floor covers, or whose collection is gone, is passed over, the others wait for the
// first use of theirs.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/base/planted_bugs.h"
#include "engine/base/reader_pins.h"
#include "engine/collection/store_engine.h"

namespace pigment {

namespace {

std::string ParentDirectory(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Result<std::shared_ptr<StoreEngine>> StoreEngine::Open(std::shared_ptr<FileSystem> files,
                                                       const std::string& directory,
                                                       const StoreOptions& options,
                                                       const std::string& holder) {
  auto environment = std::make_shared<StoreEnvironment>(
      std::move(files), directory, options.memory_budget_bytes, options.read_only,
      options.map_files, options.reserve_bytes);
  auto engine = std::make_shared<StoreEngine>(std::move(environment), options);
  PIGMENT_RETURN_IF_ERROR(engine->CheckDirectory());
  PIGMENT_RETURN_IF_ERROR(engine->Prepare(holder));
  PIGMENT_RETURN_IF_ERROR(engine->Load());
  return engine;
}

// Looks only: what is not a store is left as it is.
Status StoreEngine::CheckDirectory() {
  FileSystem& files = *environment_->files;
  PIGMENT_ASSIGN_OR_RETURN(const bool is_chroma, files.Exists(directory() + "/chroma.sqlite3"));
  if (is_chroma) {
    return FailedPrecondition(
               Detail::kNone,
               fmt::format("\"{}\" is a directory of Chroma, not a store", directory()))
        .WithHint("import it into a store of its own; the directory is not changed by that");
  }
  PIGMENT_ASSIGN_OR_RETURN(const bool has_catalog, files.Exists(directory() + "/CATALOG"));
  if (has_catalog) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(const bool is_unfinished,
                           files.Exists(directory() + "/" + kBackupMarker));
  if (is_unfinished) {
    return FailedPrecondition(Detail::kNone,
                              fmt::format("\"{}\" is a copy that was not finished", directory()))
        .WithHint("back up or repair into it again, or remove it");
  }
  for (const char* folder : {"/segments", "/log"}) {
    PIGMENT_ASSIGN_OR_RETURN(const bool exists, files.Exists(directory() + folder));
    if (!exists) continue;
    PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                             files.List(directory() + folder));
    if (names.empty()) continue;
    // Another process may have made all of it since the first look.
    PIGMENT_ASSIGN_OR_RETURN(const bool has_catalog_now, files.Exists(directory() + "/CATALOG"));
    if (has_catalog_now) return Status::Ok();
    return DataLoss(Detail::kMissing, directory() + "/CATALOG", -1,
                    fmt::format("\"{}\" has a log or segments, and no catalog", directory()));
  }
  if (options_.read_only || !options_.create) {
    return NotFound(fmt::format("store \"{}\" does not exist", directory()));
  }
  return Status::Ok();
}

Status StoreEngine::Prepare(const std::string& holder) {
  if (options_.read_only) return Status::Ok();
  FileSystem& files = *environment_->files;
  PIGMENT_ASSIGN_OR_RETURN(const bool has_catalog, files.Exists(directory() + "/CATALOG"));
  if (!has_catalog) {
    PIGMENT_RETURN_IF_ERROR(files.MakeDirectory(directory()));
    // Also when it was there: whoever made it may have died before this. A parent that we may not
    // read holds a directory that somebody else made for us.
    const Status synced = PIGMENT_PLANTED(kStoreFolderNotDurable)
                              ? Status::Ok()
                              : files.SyncDirectory(ParentDirectory(directory()));
    if (!synced.ok() && synced.code() != Code::kPermissionDenied) return synced;
  }
  if (PIGMENT_PLANTED(kOpenWithoutLock)) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(lock_, files.Lock(LockPath(directory()), holder));
  if (PIGMENT_PLANTED(kLockLetGoAfterOpen)) lock_.reset();
  return Status::Ok();
}

CollectionContext StoreEngine::ContextFor(Generation& generation) {
  return {.catalog = generation.catalog,
          .pin = generation.pin,
          .segments = &segments_,
          .entry_mutex = &entry_mutex_,
          .applied = &applied_,
          .tails = &environment_->tails,
          .secure_log = [this] { return SecureLog(); },
          .options = options_};
}

// Null without a LOCK: a copy that has none, which no writer has opened yet.
Result<std::shared_ptr<const FileLock>> StoreEngine::PinPosition(uint64_t position) {
  Result<std::unique_ptr<FileLock>> pin =
      environment_->files->PinPosition(LockPath(directory()), position);
  if (pin.status().code() == Code::kNotFound) return std::shared_ptr<const FileLock>();
  PIGMENT_RETURN_IF_ERROR(pin.status());
  return std::shared_ptr<const FileLock>(*std::move(pin));
}

Status StoreEngine::OpenPinnedCatalog(Generation* generation) {
  PIGMENT_ASSIGN_OR_RETURN(const auto looking, PinPosition(kLookingPosition));
  PIGMENT_ASSIGN_OR_RETURN(generation->catalog,
                           Catalog::Open(environment_->files.get(), directory(), true));
  PIGMENT_ASSIGN_OR_RETURN(generation->pin, PinPosition(generation->catalog->position()));
  return Status::Ok();
}

Result<std::shared_ptr<StoreEngine::Generation>> StoreEngine::OpenGeneration() {
  auto generation = std::make_shared<Generation>();
  if (options_.read_only) {
    PIGMENT_RETURN_IF_ERROR(OpenPinnedCatalog(generation.get()));
  } else {
    PIGMENT_ASSIGN_OR_RETURN(generation->catalog,
                             Catalog::Open(environment_->files.get(), directory(), false,
                                           &environment_->reserve));
    segments_.SetCatalog(generation->catalog);
  }
  environment_->store = generation->catalog->store().bytes;
  if (!options_.read_only) {
    PIGMENT_RETURN_IF_ERROR(environment_->reserve.Open());
    PIGMENT_RETURN_IF_ERROR(environment_->files->MakeDirectory(directory() + "/segments"));
    PIGMENT_RETURN_IF_ERROR(environment_->files->SyncDirectory(directory()));
  }
  return generation;
}

Result<std::shared_ptr<StoreEngine::Generation>> StoreEngine::ReplayGeneration(
    std::unique_ptr<Log>* log, uint64_t* position) {
  PIGMENT_ASSIGN_OR_RETURN(const std::shared_ptr<Generation> generation, OpenGeneration());
  uint64_t floor = kNothingNeeded;
  uint64_t highest_floor = 0;
  generation->catalog->VisitCollections([&](const CollectionEntry& entry) {
    floor = std::min(floor, entry.floor);
    highest_floor = std::max(highest_floor, entry.floor);
  });
  // The log calls this for as long as it lives: first for what it replays, then for every batch
  // that is appended.
  auto is_live = std::make_shared<bool>(false);
  Generation* const target = generation.get();
  PIGMENT_ASSIGN_OR_RETURN(
      *log, Log::Open(environment_->files.get(), directory() + "/log", environment_->store, floor,
                      {.sync_mode = options_.sync_mode,
                       .interval_ms = options_.sync_interval_ms,
                       .file_bytes_max = options_.log_file_bytes_max,
                       .read_only = options_.read_only,
                       .is_erasing = options_.erase_log,
                       .reserve = &environment_->reserve},
                      [this, target, is_live](uint64_t at, std::span<const std::byte> payload) {
                        return Apply(*target, at, payload, *is_live);
                      }));
  *is_live = true;
  *position = std::max((*log)->last_position(), highest_floor);
  generation->position = *position;
  return generation;
}

Status StoreEngine::Load() {
  if (options_.read_only) return Refresh().status();
  uint64_t position = 0;
  PIGMENT_ASSIGN_OR_RETURN(generation_, ReplayGeneration(&log_, &position));
  applied_.store(position, std::memory_order_release);
  purge_position_ = position;
  RetainAll(*generation_);
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                           environment_->files->List(directory() + "/log"));
  // Each open begins a file: many small ones are worth a purge as one large one is.
  log_bytes_.store(names.size() * (options_.log_file_bytes_max / 8), std::memory_order_relaxed);
  return segments_.RemoveUnreferenced();
}

Result<uint64_t> StoreEngine::Refresh() {
  PIGMENT_RETURN_IF_ERROR(CheckOpen());
  if (!options_.read_only) return position();
  std::lock_guard refreshing(refresh_mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckOpen());  // Close may have come first, and is not undone
  std::string damage;
  for (;;) {
    PIGMENT_ASSIGN_OR_RETURN(const bool had_lock,
                             environment_->files->Exists(LockPath(directory())));
    std::unique_ptr<Log> log;  // read and let go: a reader appends nothing
    uint64_t reached = 0;
    Result<std::shared_ptr<Generation>> fresh = ReplayGeneration(&log, &reached);
    if (!had_lock) {
      // A first writer came meanwhile, and knew of no reader.
      PIGMENT_ASSIGN_OR_RETURN(const bool has_lock,
                               environment_->files->Exists(LockPath(directory())));
      if (has_lock) continue;
    }
    if (fresh.status().code() == Code::kDataLoss && fresh.status().message() != damage) {
      // Bytes that the writer was just adding or taking back look like damage; they are there, or
      // gone, at the next look. Only what shows the same twice is damage.
      damage = fresh.status().message();
      continue;
    }
    PIGMENT_RETURN_IF_ERROR(fresh.status());
    return Publish(*std::move(fresh), reached);
  }
}

uint64_t StoreEngine::Publish(std::shared_ptr<Generation> fresh, uint64_t reached) {
  // A collection that the writer flushed and then left alone may hide the log's end from nobody:
  // never go back.
  reached = std::max(reached, position());
  {
    std::lock_guard lock(generation_mutex_);
    generation_.swap(fresh);
  }
  applied_.store(reached, std::memory_order_release);
  return reached;
}

}  // namespace pigment
