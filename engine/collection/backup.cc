// SPDX-License-Identifier: Apache-2.0
//
// Backup: see the header. The log goes first, so that the source may purge it again soon.

#include "engine/collection/backup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/disk_files.h"
#include "engine/base/out_of_memory.h"
#include "engine/base/planted_bugs.h"
#include "engine/block/block.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_files.h"
#include "engine/collection/deletions_file.h"
#include "engine/collection/frozen_store.h"
#include "engine/collection/shelf_file.h"
#include "engine/collection/store_engine.h"
#include "engine/log/log_range.h"

namespace pigment {
namespace {

constexpr uint32_t kChunkBlocks = 128;

std::string ParentDirectory(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool IsCatalogLeftover(const std::string& name) {
  return name.starts_with(std::string(kCatalogName) + ".");
}

class Backup {
 public:
  Backup(FrozenStore& source, CopyTarget& target, const CallControl& control)
      : source_(source), target_(target), control_(control) {}

  Result<BackupSummary> Run() {
    summary_.position = source_.position;
    summary_.collections = source_.collections.size();
    if (PIGMENT_PLANTED(kBackupCatalogFirst)) {
      PIGMENT_RETURN_IF_ERROR(target_.Finish(source_.store, source_.catalog_bytes));
    }
    PIGMENT_RETURN_IF_ERROR(CopyLog());
    source_.ReleaseLog();
    control_.BeginPhase("segments", "bytes", SegmentBytes(source_.collections));
    for (const CollectionEntry& entry : source_.collections) {
      for (const SegmentEntry& segment : entry.segments) {
        PIGMENT_RETURN_IF_ERROR(CopyFilesOf(segment));
      }
      PIGMENT_RETURN_IF_ERROR(CopyShelf(entry.shelf.file));
    }
    if (!PIGMENT_PLANTED(kBackupForgetsSegmentNames)) {
      PIGMENT_RETURN_IF_ERROR(target_.files()->SyncDirectory(target_.segments()));
    }
    if (!PIGMENT_PLANTED(kBackupCatalogFirst)) {
      PIGMENT_RETURN_IF_ERROR(target_.Finish(source_.store, source_.catalog_bytes));
    }
    return summary_;
  }

 private:
  std::string SourcePath(const std::string& name) const {
    return source_.directory + "/segments/" + name;
  }

  void Count(uint64_t bytes) {
    ++summary_.files;
    summary_.bytes += bytes;
  }

  Status CopyLog() {
    const uint64_t after = LowestFloor(source_.collections, source_.position);
    control_.BeginPhase("log", "batches", source_.position - after);
    PIGMENT_ASSIGN_OR_RETURN(
        const std::unique_ptr<LogCopy> copy,
        LogCopy::Begin(target_.files(), target_.log(), source_.store.bytes, after));
    PIGMENT_RETURN_IF_ERROR(ReadLogRange(
        source_.files, source_.directory + "/log", source_.store.bytes, after, source_.position,
        [&](uint64_t position, std::span<const std::byte> payload) -> Status {
          PIGMENT_RETURN_IF_ERROR(control_.Check());
          control_.Advance(1);
          if (position == source_.position && PIGMENT_PLANTED(kBackupCutsLog)) {
            return Status::Ok();
          }
          return copy->Add(payload);
        }));
    PIGMENT_RETURN_IF_ERROR(copy->Finish());
    Count(copy->bytes());
    return Status::Ok();
  }

  Status CopyFilesOf(const SegmentEntry& entry) {
    if (segments_.insert(entry.segment).second) PIGMENT_RETURN_IF_ERROR(CopySegment(entry));
    if (entry.deletions == 0 || !deletions_.insert({entry.segment, entry.deletions}).second) {
      return Status::Ok();
    }
    return PIGMENT_PLANTED(kBackupForgetsDeletions) ? Status::Ok() : CopyDeletions(entry);
  }

  Status CopySegment(const SegmentEntry& entry) {
    const uint64_t blocks = entry.file_bytes / kBlockBytes;
    std::vector<std::optional<BlockExpectation>> expected(blocks);
    // The root and its counts first: it says which blocks there must be.
    if (!PIGMENT_PLANTED(kBackupTrustsSource)) {
      PIGMENT_ASSIGN_OR_RETURN(const auto segment, source_.segments->Open(entry));
      segment->VisitBlocks([&](uint32_t physical, const BlockExpectation& block) {
        if (physical < blocks) expected[physical] = block;
      });
    }
    const std::string name = fmt::format("{}.seg", entry.segment);
    PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<File> from,
                             source_.files->Open(SourcePath(name), OpenMode::kRead));
    PIGMENT_ASSIGN_OR_RETURN(
        const std::unique_ptr<File> to,
        target_.files()->Open(target_.segments() + "/" + name, OpenMode::kCreate));
    std::vector<std::byte> chunk(kChunkBlocks * kBlockBytes);
    for (uint64_t first = 0; first < blocks; first += kChunkBlocks) {
      PIGMENT_RETURN_IF_ERROR(control_.Check());
      const uint64_t count = std::min<uint64_t>(kChunkBlocks, blocks - first);
      const std::span<std::byte> bytes(chunk.data(), count * kBlockBytes);
      PIGMENT_RETURN_IF_ERROR(from->ReadAt(first * kBlockBytes, bytes));
      for (uint64_t i = 0; i < count; ++i) {
        if (PIGMENT_PLANTED(kBackupTrustsSource)) continue;
        const ConstBlockBytes block = bytes.subspan(i * kBlockBytes).first<kBlockBytes>();
        const auto number = static_cast<uint32_t>(first + i);
        PIGMENT_RETURN_IF_ERROR(expected[number]
                                    ? CheckBlock(block, *expected[number], number, from->path())
                                    : CheckBlockOfFile(block, entry.segment, number, from->path()));
      }
      PIGMENT_RETURN_IF_ERROR(to->WriteAt(first * kBlockBytes, bytes));
      control_.Advance(bytes.size());
    }
    Count(entry.file_bytes);
    return PIGMENT_PLANTED(kBackupForgetsSegmentSync) ? Status::Ok() : to->Sync();
  }

  Status CopyDeletions(const SegmentEntry& entry) {
    PIGMENT_ASSIGN_OR_RETURN(const std::shared_ptr<const RowBitmap> deleted,
                             source_.segments->LoadDeletions(entry));
    const std::string name = fmt::format("{}.{}.del", entry.segment, entry.deletions);
    Count(uint64_t{deleted->words()} * sizeof(uint64_t));
    return WriteDeletionsFile(*target_.files(), target_.segments() + "/" + name,
                              {source_.store.bytes, entry.segment, entry.deletions, entry.rows},
                              *deleted);
  }

  // As it is, with the records of other collections: places in it stay what they are.
  Status CopyShelf(uint32_t number) {
    if (number == 0 || !shelves_.insert(number).second) return Status::Ok();
    PIGMENT_RETURN_IF_ERROR(control_.Check());
    const std::string name = fmt::format("{}.shelf", number);
    PIGMENT_ASSIGN_OR_RETURN(
        const std::string bytes,
        ReadWholeShelf(*source_.files, SourcePath(name), source_.store.bytes, number));
    PIGMENT_ASSIGN_OR_RETURN(
        const std::unique_ptr<File> to,
        target_.files()->Open(target_.segments() + "/" + name, OpenMode::kCreate));
    PIGMENT_RETURN_IF_ERROR(to->WriteAt(0, AsBytes(bytes)));
    Count(bytes.size());
    return PIGMENT_PLANTED(kBackupForgetsSegmentSync) ? Status::Ok() : to->Sync();
  }

  FrozenStore& source_;
  CopyTarget& target_;
  const CallControl& control_;
  BackupSummary summary_;
  std::set<uint32_t> segments_;  // copied already, for another collection
  std::set<std::pair<uint32_t, uint64_t>> deletions_;
  std::set<uint32_t> shelves_;
};

}  // namespace

// ---- The target ---------------------------------------------------------------------------------

Result<std::unique_ptr<CopyTarget>> CopyTarget::Begin(FileSystem* files, const std::string& path) {
  std::unique_ptr<CopyTarget> target(new CopyTarget(files, path));
  PIGMENT_RETURN_IF_ERROR(target->Prepare());
  return target;
}

Status CopyTarget::CheckPlace(bool* has_marker) const {
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->List(path_));
  *has_marker = std::find(names.begin(), names.end(), kBackupMarker) != names.end();
  if (std::find(names.begin(), names.end(), kCatalogName) != names.end()) {
    return AlreadyExists(fmt::format("\"{}\" holds a store already", path_));
  }
  for (const std::string& name : names) {
    const bool is_ours =
        name == "LOCK" || (*has_marker && (name == kBackupMarker || name == "log" ||
                                           name == "segments" || IsCatalogLeftover(name)));
    if (is_ours) continue;
    return FailedPrecondition(Detail::kNone,
                              fmt::format("\"{}\" is not empty: it has \"{}\"", path_, name))
        .WithHint("a copy is written into a directory that is missing or empty");
  }
  return Status::Ok();
}

Status CopyTarget::Prepare() {
  PIGMENT_RETURN_IF_ERROR(files_->MakeDirectory(path_));
  // A parent that we may not read holds a directory that somebody else made for us.
  const Status synced = files_->SyncDirectory(ParentDirectory(path_));
  if (!synced.ok() && synced.code() != Code::kPermissionDenied) return synced;
  bool has_marker = false;
  PIGMENT_RETURN_IF_ERROR(CheckPlace(&has_marker));  // before anything of ours is left there
  PIGMENT_ASSIGN_OR_RETURN(lock_, files_->Lock(path_ + "/LOCK", DescribeThisProcess()));
  PIGMENT_RETURN_IF_ERROR(CheckPlace(&has_marker));  // now that nobody else copies to it
  if (!has_marker) {
    PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<File> marker,
                             files_->Open(path_ + "/" + kBackupMarker, OpenMode::kCreate));
    PIGMENT_RETURN_IF_ERROR(marker->Sync());
  }
  PIGMENT_RETURN_IF_ERROR(files_->SyncDirectory(path_));
  is_prepared_ = true;
  PIGMENT_RETURN_IF_ERROR(files_->MakeDirectory(log()));
  PIGMENT_RETURN_IF_ERROR(files_->MakeDirectory(segments()));
  PIGMENT_RETURN_IF_ERROR(RemoveCopied());
  return files_->SyncDirectory(path_);
}

// The marker stays: it says whose place this is. The catalog goes first, so that no moment shows a
// store without its files.
Status CopyTarget::RemoveCopied() {
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->List(path_));
  for (const std::string& name : names) {
    if (name != kCatalogName && !IsCatalogLeftover(name)) continue;
    PIGMENT_RETURN_IF_ERROR(files_->Remove(path_ + "/" + name));
  }
  PIGMENT_RETURN_IF_ERROR(files_->SyncDirectory(path_));
  for (const std::string& folder : {log(), segments()}) {
    PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> copied, files_->List(folder));
    for (const std::string& name : copied) {
      PIGMENT_RETURN_IF_ERROR(files_->Remove(folder + "/" + name));
    }
  }
  return Status::Ok();
}

CopyTarget::~CopyTarget() {
  // What cannot be removed now is removed by the next attempt.
  if (is_prepared_ && !is_finished_)
    static_cast<void>(CatchOutOfMemory([this] { return RemoveCopied(); }).ok());
}

Status CopyTarget::Finish(const Uuid& store, const std::string& catalog_bytes) {
  PIGMENT_RETURN_IF_ERROR(files_->SyncDirectory(path_));
  PIGMENT_RETURN_IF_ERROR(WriteCatalog(files_, path_, store, catalog_bytes));
  is_finished_ = true;
  // The store is whole; a marker that stays beside a catalog means nothing.
  static_cast<void>(CatchOutOfMemory([this] {
                      PIGMENT_RETURN_IF_ERROR(files_->Remove(path_ + "/" + kBackupMarker));
                      return files_->SyncDirectory(path_);
                    }).ok());
  return Status::Ok();
}

Result<BackupSummary> WriteBackup(FrozenStore& source, const std::string& path,
                                  const BackupOptions& options) {
  FileSystem* const files = options.files != nullptr ? options.files : DiskFiles();
  PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<CopyTarget> target,
                           CopyTarget::Begin(files, path));
  return Backup(source, *target, options.control).Run();
}

Result<BackupSummary> StoreEngine::WriteBackupTo(const std::string& path,
                                                 const BackupOptions& options) {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, BeginRead());
  for (int attempt = 1;; ++attempt) {
    PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<FrozenStore> frozen, Freeze());
    Result<BackupSummary> summary = WriteBackup(*frozen, path, options);
    // A writer elsewhere may have removed a file between a reader's look at the catalog and now.
    if (summary.ok() || !options_.read_only || attempt == kBackupAttempts) return summary;
    const Code code = summary.status().code();
    if (code != Code::kNotFound && summary.status().detail() != Detail::kMissing) return summary;
    PIGMENT_RETURN_IF_ERROR(Refresh().status());
  }
}

}  // namespace pigment
