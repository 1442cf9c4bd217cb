// SPDX-License-Identifier: Apache-2.0
//
// Check: files first, then collections as readers see them. A directory that a writer changes
// meanwhile is looked at again until the catalog stood still for the length of a look.

#include "engine/collection/check.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "engine/base/disk_files.h"
#include "engine/collection/check_files.h"
#include "engine/collection/check_version.h"
#include "engine/collection/frozen_store.h"
#include "engine/collection/store_engine.h"

namespace pigment {
namespace {

constexpr int kLooks = 5;

Status CheckCollections(StoreEngine& engine, const std::vector<CollectionEntry>& collections,
                        const CheckOptions& options, CheckNotes& notes) {
  for (const CollectionEntry& entry : collections) {
    PIGMENT_RETURN_IF_ERROR(options.control.Check());
    ++notes.totals().collections;
    const auto state = engine.Find(entry.id, entry.name);
    if (!state.ok()) continue;  // deleted since
    const auto version = (*state)->Pin();
    if (!version.ok()) {
      if (version.status().code() != Code::kNotFound) {
        notes.AddStatus(version.status(), entry.name);
      }
      continue;
    }
    PIGMENT_RETURN_IF_ERROR(CheckVersion({.name = entry.name,
                                          .metric = entry.metric,
                                          .full = options.full,
                                          .control = options.control},
                                         **version, notes));
  }
  return Status::Ok();
}

// The catalog's bytes, to tell whether it moved; empty when it cannot be read.
std::string CatalogBytes(FileSystem* files, const std::string& path) {
  const auto catalog = Catalog::Open(files, path, true);
  return catalog.ok() ? (*catalog)->EncodeState() : std::string();
}

Result<CheckReport> LookAtDirectory(const std::string& path, FileSystem* files,
                                    const CheckOptions& options, std::string* catalog_bytes) {
  CheckNotes notes;
  CheckedStore store{.files = files,
                     .directory = path,
                     .store = {},
                     .collections = nullptr,
                     .position = std::nullopt,
                     .control = options.control};
  std::vector<CollectionEntry> collections;
  if (const auto catalog = Catalog::Open(files, path, true); catalog.ok()) {
    *catalog_bytes = (*catalog)->EncodeState();
    store.store = (*catalog)->store();
    PIGMENT_ASSIGN_OR_RETURN(collections, DecodeCollections(*catalog_bytes));
    store.collections = &collections;
  } else {
    notes.AddStatus(catalog.status(), "", path + "/CATALOG");
  }
  if (store.collections != nullptr) PIGMENT_RETURN_IF_ERROR(CheckSegmentFiles(store, notes));
  PIGMENT_RETURN_IF_ERROR(CheckLogFiles(store, notes));
  PIGMENT_RETURN_IF_ERROR(CheckNames(store, notes));
  if (store.collections == nullptr) return std::move(notes.report());
  StoreOptions reading;
  reading.read_only = true;
  reading.create = false;
  // An engine of its own: a store that this process has open keeps its options and its caches.
  std::shared_ptr<FileSystem> borrowed(files, [](FileSystem*) {});
  const auto engine = StoreEngine::Open(std::move(borrowed), path, reading, "");
  if (!engine.ok()) {
    // What the log's own check did not say already.
    if (notes.report().is_clean()) notes.AddStatus(engine.status(), "");
    return std::move(notes.report());
  }
  PIGMENT_RETURN_IF_ERROR(CheckCollections(**engine, collections, options, notes));
  return std::move(notes.report());
}

}  // namespace

std::string_view CheckSeverityName(CheckSeverity severity) {
  switch (severity) {
    case CheckSeverity::kNote:
      return "note";
    case CheckSeverity::kWarning:
      return "warning";
    case CheckSeverity::kError:
      return "error";
  }
  return "unknown";
}

Result<CheckReport> CheckStore(const std::string& path, const CheckOptions& options) {
  FileSystem* const files = options.files != nullptr ? options.files : DiskFiles();
  bool has_any = false;
  for (const char* name : {"/CATALOG", "/log", "/segments"}) {
    PIGMENT_ASSIGN_OR_RETURN(const bool exists, files->Exists(path + name));
    has_any = has_any || exists;
  }
  if (!has_any) return NotFound(fmt::format("store \"{}\" does not exist", path));
  for (int look = 1;; ++look) {
    std::string catalog;
    PIGMENT_ASSIGN_OR_RETURN(CheckReport report, LookAtDirectory(path, files, options, &catalog));
    if (report.is_clean() || look == kLooks || catalog == CatalogBytes(files, path)) return report;
  }
}

Result<CheckReport> StoreEngine::Check(const CheckOptions& options) {
  if (options_.read_only) {
    CheckOptions here = options;
    here.files = environment_->files.get();
    PIGMENT_RETURN_IF_ERROR(CheckOpen());
    return CheckStore(directory(), here);
  }
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, BeginRead());
  PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<FrozenStore> frozen, Freeze());
  CheckNotes notes;
  const CheckedStore store{.files = frozen->files,
                           .directory = frozen->directory,
                           .store = frozen->store,
                           .collections = &frozen->collections,
                           .position = frozen->position,
                           .control = options.control};
  PIGMENT_RETURN_IF_ERROR(CheckLogFiles(store, notes));
  frozen->ReleaseLog();
  PIGMENT_RETURN_IF_ERROR(CheckSegmentFiles(store, notes));
  PIGMENT_RETURN_IF_ERROR(CheckNames(store, notes));
  PIGMENT_RETURN_IF_ERROR(CheckCollections(*this, frozen->collections, options, notes));
  return std::move(notes.report());
}

}  // namespace pigment
