// SPDX-License-Identifier: Apache-2.0
//
// SegmentStore: see the header. Bytes of a deletions file: engine/collection/README.md.

#include "engine/collection/segment_store.h"

#include <fmt/format.h>

#include <charconv>
#include <new>
#include <set>
#include <utility>

#include "engine/base/out_of_memory.h"
#include "engine/base/planted_bugs.h"
#include "engine/block/file_block_sink.h"
#include "engine/block/window_block_source.h"
#include "engine/collection/deletions_file.h"

namespace pigment {

namespace {

// Where a merge is worth asking the disk first.
constexpr uint64_t kLargeFileBytes = 16ull << 20;

// So many segments that nobody has open any more are remembered, or as many as are open.
constexpr size_t kForgottenMax = 16;

// What an open segment needs for its life.
struct OpenSegment {
  std::shared_ptr<StoreEnvironment> environment;  // first, so that it dies last
  std::unique_ptr<FileBlockSource> source;
  std::unique_ptr<Segment> segment;
};

Result<std::unique_ptr<File>> OpenExact(FileSystem& files, const std::string& path,
                                        const SegmentEntry& entry) {
  Result<std::unique_ptr<File>> file = files.Open(path, OpenMode::kRead);
  if (!file.ok()) {
    if (file.status().code() != Code::kNotFound) return file.status();
    return DataLoss(Detail::kMissing, path, -1,
                    fmt::format("segment {} is missing", entry.segment));
  }
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, (*file)->Size());
  if (size != entry.file_bytes) {
    const Detail detail = size < entry.file_bytes   ? Detail::kTruncated
                          : size % kBlockBytes != 0 ? Detail::kMisaligned
                                                    : Detail::kMiscounted;
    return DataLoss(detail, path, static_cast<int64_t>(size),
                    fmt::format("segment {} has {} bytes, the catalog says {}", entry.segment, size,
                                entry.file_bytes));
  }
  return file;
}

Status CheckAgainstEntry(const SegmentInfo& info, const SegmentEntry& entry, const OwnerId& store,
                         const std::string& path) {
  if (info.owner != store && !PIGMENT_PLANTED(kSegmentOfAnotherStore)) {
    return DataLoss(Detail::kForeign, path, 0,
                    fmt::format("segment {} belongs to another store", entry.segment));
  }
  if (info.rows != entry.rows) {
    return DataLoss(Detail::kMiscounted, path, 0,
                    fmt::format("segment {} has {} rows, the catalog says {}", entry.segment,
                                info.rows, entry.rows));
  }
  return Status::Ok();
}

// True for "12.seg", "12.34.del", "12.shelf": names that this class gives. Other files in the
// folder are not ours to remove.
bool IsOurName(std::string_view name) {
  const auto number = [&name] {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (error != std::errc()) return false;
    name.remove_prefix(static_cast<size_t>(end - name.data()));
    return true;
  };
  if (!number()) return false;
  if (name == ".seg" || name == ".shelf") return true;
  if (!name.starts_with('.')) return false;
  name.remove_prefix(1);
  return number() && name == ".del";
}

}  // namespace

SegmentStore::SegmentStore(std::shared_ptr<StoreEnvironment> environment)
    : environment_(std::move(environment)), directory_(environment_->directory + "/segments") {}

void SegmentStore::SetCatalog(std::shared_ptr<const Catalog> catalog) {
  catalog_ = std::move(catalog);
}

std::string SegmentStore::SegmentPath(uint32_t segment) const {
  return fmt::format("{}/{}.seg", directory_, segment);
}

std::string SegmentStore::ShelfPath(uint32_t file) const {
  return fmt::format("{}/{}.shelf", directory_, file);
}

std::string SegmentStore::DeletionsPath(uint32_t segment, uint64_t version) const {
  return fmt::format("{}/{}.{}.del", directory_, segment, version);
}

Result<std::shared_ptr<const Segment>> SegmentStore::Open(const SegmentEntry& entry) {
  {
    std::lock_guard lock(mutex_);
    if (const auto found = open_.find(entry.segment); found != open_.end()) {
      if (auto shared = found->second.lock()) return shared;
    }
  }
  const std::string path = SegmentPath(entry.segment);
  auto open = std::make_shared<OpenSegment>();
  open->environment = environment_;
  PIGMENT_ASSIGN_OR_RETURN(auto file, OpenExact(*environment_->files, path, entry));
  PIGMENT_ASSIGN_OR_RETURN(open->source, FileBlockSource::Open(std::move(file), entry.segment,
                                                               environment_->block_options()));
  PIGMENT_ASSIGN_OR_RETURN(open->segment,
                           Segment::Open(open->source.get(), entry.root, entry.segment));
  PIGMENT_RETURN_IF_ERROR(
      CheckAgainstEntry(open->segment->info(), entry, environment_->store, path));
  const Segment* const segment = open->segment.get();
  std::shared_ptr<const Segment> shared(std::move(open), segment);
  std::lock_guard lock(mutex_);
  if (open_.size() >= open_max_) {
    std::erase_if(open_, [](const auto& one) { return one.second.expired(); });
    open_max_ = 2 * open_.size() + kForgottenMax;
  }
  open_[entry.segment] = shared;
  return shared;
}

Result<std::shared_ptr<const RowBitmap>> SegmentStore::LoadDeletions(
    const SegmentEntry& entry) const {
  if (entry.deletions == 0) return std::shared_ptr<const RowBitmap>();
  PIGMENT_ASSIGN_OR_RETURN(
      RowBitmap deleted,
      ReadDeletionsFile(*environment_->files, DeletionsPath(entry.segment, entry.deletions),
                        {environment_->store, entry.segment, entry.deletions, entry.rows}));
  if (deleted.Count() != entry.deleted_rows) {
    return DataLoss(Detail::kMiscounted, DeletionsPath(entry.segment, entry.deletions), 0,
                    fmt::format("{} rows are deleted, the catalog says {}", deleted.Count(),
                                entry.deleted_rows));
  }
  return std::make_shared<const RowBitmap>(std::move(deleted));
}

Result<SegmentEntry> SegmentStore::Write(uint32_t number, const Contents& contents) {
  Shape shape{.dimension = contents.dimension,
              .metric = contents.metric,
              .vector_element = contents.vector_element,
              .codes = SegmentOptions::Codes::kAlways,
              .index = contents.index,
              .rows = static_cast<uint32_t>(contents.records.size()),
              .pause = [&contents] { return contents.control.Check(); },
              .rules = contents.rules,
              .analyzer = contents.analyzer,
              .budget = &environment_->budget};
  const Fill fill = [&contents](SegmentWriter& writer) {
    constexpr size_t kRowsPerCheck = 256;
    for (size_t row = 0; row < contents.records.size(); ++row) {
      if (row % kRowsPerCheck == 0) PIGMENT_RETURN_IF_ERROR(contents.control.Check());
      PIGMENT_RETURN_IF_ERROR(writer.AddRecord(*contents.records[row]));
    }
    return Status::Ok();
  };
  Result<SegmentEntry> written = WriteStreamed(number, shape, fill);
  if (written.ok() || shape.index.kind == SegmentKind::kFlat ||
      written.status().detail() != Detail::kMemory)
    return written;
  shape.index = {};  // it may have had the memory that the rest needs
  return WriteStreamed(number, shape, fill);
}

Result<SegmentEntry> SegmentStore::WriteStreamed(uint32_t number, const Shape& shape,
                                                 const Fill& fill) {
  PIGMENT_RETURN_IF_ERROR(environment_->reserve.Require());
  const std::string path = SegmentPath(number);
  const auto write = [&]() -> Result<SegmentEntry> {
    PIGMENT_ASSIGN_OR_RETURN(auto file, environment_->files->Open(path, OpenMode::kCreate));
    const bool is_large = shape.expected_bytes >= kLargeFileBytes;
    if (is_large) PIGMENT_RETURN_IF_ERROR(file->Allocate(shape.expected_bytes));
    FileBlockSink sink(file.get());
    SegmentWriter writer({.segment = number,
                          .owner = environment_->store,
                          .dimension = shape.dimension,
                          .metric = shape.metric,
                          .vector_element = shape.vector_element,
                          .codes = shape.codes,
                          .index = shape.index,
                          .records_max = shape.rows,
                          .index_vectors = shape.rows,
                          .threads = shape.threads,
                          .pause = shape.pause,
                          .analyzer = shape.analyzer,
                          .budget = shape.budget,
                          .scratch = scratch(),
                          .rules = shape.rules,
                          .document_index = shape.rules == nullptr || shape.rules->full_text},
                         &sink);
    PIGMENT_RETURN_IF_ERROR(fill(writer));
    PIGMENT_ASSIGN_OR_RETURN(const SegmentSummary summary, writer.Finish());
    PIGMENT_RETURN_IF_ERROR(sink.Finish());
    if (is_large && shape.expected_bytes > uint64_t{summary.blocks} * kBlockBytes)
      PIGMENT_RETURN_IF_ERROR(file->Truncate(uint64_t{summary.blocks} * kBlockBytes));
    if (!PIGMENT_PLANTED(kSegmentPublishedBeforeSync)) PIGMENT_RETURN_IF_ERROR(file->Sync());
    return SegmentEntry{.segment = number,
                        .root = summary.root,
                        .file_bytes = uint64_t{summary.blocks} * kBlockBytes,
                        .rows = summary.rows};
  };
  Result<SegmentEntry> entry = CatchOutOfMemory(write);
  if (!entry.ok()) (void)environment_->files->Remove(path);
  return entry;
}

Result<std::shared_ptr<const Segment>> SegmentStore::OpenForMerge(const SegmentEntry& entry) const {
  struct Streamed {
    std::unique_ptr<WindowBlockSource> source;
    std::unique_ptr<Segment> segment;
  };
  const std::string path = SegmentPath(entry.segment);
  auto open = std::make_shared<Streamed>();
  PIGMENT_ASSIGN_OR_RETURN(auto file, OpenExact(*environment_->files, path, entry));
  PIGMENT_ASSIGN_OR_RETURN(open->source,
                           WindowBlockSource::Open(std::move(file), entry.segment, merge_budget()));
  PIGMENT_ASSIGN_OR_RETURN(open->segment,
                           Segment::Open(open->source.get(), entry.root, entry.segment));
  PIGMENT_RETURN_IF_ERROR(
      CheckAgainstEntry(open->segment->info(), entry, environment_->store, path));
  const Segment* const segment = open->segment.get();
  return std::shared_ptr<const Segment>(std::move(open), segment);
}

Status SegmentStore::WriteDeletions(uint32_t segment, uint64_t version, const RowBitmap& deleted) {
  PIGMENT_RETURN_IF_ERROR(environment_->reserve.Require());
  const std::string path = DeletionsPath(segment, version);
  const Status status = CatchOutOfMemory([&] {
    return WriteDeletionsFile(*environment_->files, path,
                              {environment_->store, segment, version, deleted.rows()}, deleted);
  });
  if (!status.ok()) (void)environment_->files->Remove(path);
  return status;
}

Result<std::string> SegmentStore::ReadShelfBytes(const ShelfPlace& place) const {
  return ReadShelf(*environment_->files, ShelfPath(place.file), environment_->store, place);
}

Result<ShelvedTail> SegmentStore::LoadShelf(const ShelfPlace& place) const {
  PIGMENT_ASSIGN_OR_RETURN(const std::string bytes, ReadShelfBytes(place));
  Result<ShelvedTail> tail = DecodeShelvedTail(std::as_bytes(std::span(bytes)));
  if (!tail.ok()) {
    return Status(tail.status())
        .WithFile(ShelfPath(place.file), static_cast<int64_t>(place.offset));
  }
  return tail;
}

Status SegmentStore::WriteShelf(uint32_t file, const ShelfWriter& shelf) {
  const Status status =
      CatchOutOfMemory([&] { return shelf.Write(*environment_->files, ShelfPath(file)); });
  if (!status.ok()) DiscardShelf(file);
  return status;
}

void SegmentStore::RetainShelf(uint32_t file) {
  if (!environment_->read_only && file != 0) Count(ShelfKey(file));
}

void SegmentStore::UnretainShelf(uint32_t file) noexcept {
  if (!environment_->read_only && file != 0) Uncount(ShelfKey(file));
}

void SegmentStore::ReleaseShelf(uint32_t file) noexcept {
  if (!environment_->read_only && file != 0) DropReference(ShelfKey(file));
}

void SegmentStore::DiscardShelf(uint32_t file) noexcept {
  (void)CatchOutOfMemory([&] { return environment_->files->Remove(ShelfPath(file)); });
}

Status SegmentStore::SyncNames(uint64_t epoch) {
  std::lock_guard lock(names_mutex_);
  if (epoch != names_epoch() && !PIGMENT_PLANTED(kNamesBelievedAfterAFailedSync)) {
    return Status(Code::kUnavailable,
                  fmt::format("a sync of {} failed while files were written there", directory_))
        .WithFile(directory_, -1);
  }
  Status status = environment_->files->SyncDirectory(directory_);
  if (!status.ok()) names_epoch_.fetch_add(1, std::memory_order_release);
  return status;
}

// ---- Who names which files

void SegmentStore::Count(const FileKey& key) {
  std::lock_guard lock(mutex_);
  ++references_[key];
}

bool SegmentStore::Uncount(const FileKey& key) noexcept {
  std::lock_guard lock(mutex_);
  const auto found = references_.find(key);
  if (found == references_.end() || --found->second > 0) return false;
  references_.erase(found);
  return true;
}

void SegmentStore::Retain(const SegmentEntry& entry) {
  if (environment_->read_only) return;
  Count(SegmentKey(entry));
  if (entry.deletions == 0) return;
  try {
    Count(DeletionsKey(entry));
  } catch (const std::bad_alloc&) {
    Uncount(SegmentKey(entry));
    throw;
  }
}

void SegmentStore::Unretain(const SegmentEntry& entry) noexcept {
  if (environment_->read_only) return;
  Uncount(SegmentKey(entry));
  if (entry.deletions != 0) Uncount(DeletionsKey(entry));
}

void SegmentStore::Release(const SegmentEntry& entry) noexcept {
  if (environment_->read_only) return;
  DropReference(SegmentKey(entry));
  if (entry.deletions != 0) DropReference(DeletionsKey(entry));
}

void SegmentStore::Hold(const SegmentEntry& entry) {
  Retain(entry);
  try {
    std::lock_guard lock(mutex_);
    ++holds_[entry.segment];
  } catch (const std::bad_alloc&) {
    Unretain(entry);
    throw;
  }
}

void SegmentStore::LetGo(const SegmentEntry& entry) noexcept {
  {
    std::lock_guard lock(mutex_);
    const auto found = holds_.find(entry.segment);
    if (--found->second == 0) holds_.erase(found);
  }
  Release(entry);
}

bool SegmentStore::IsShared(uint32_t segment) const {
  std::lock_guard lock(mutex_);
  const auto found =
      references_.find({.kind = FileKind::kSegment, .number = segment, .version = 0});
  const auto held = holds_.find(segment);
  return found != references_.end() &&
         found->second > 1 + (held != holds_.end() ? held->second : 0);
}

std::string SegmentStore::PathOf(const FileKey& key) const {
  switch (key.kind) {
    case FileKind::kSegment:
      return SegmentPath(key.number);
    case FileKind::kDeletions:
      return DeletionsPath(key.number, key.version);
    case FileKind::kShelf:
      return ShelfPath(key.number);
  }
  return "";
}

// A file that cannot be removed now is unreferenced at the next open.
void SegmentStore::DropReference(const FileKey& key) noexcept {
  if (!Uncount(key)) return;
  (void)CatchOutOfMemory(
      [&] { return environment_->removals.Remove({PathOf(key)}, catalog_->position()); });
}

void SegmentStore::Discard(const SegmentEntry& entry) noexcept {
  (void)CatchOutOfMemory([&] {
    if (entry.rows > 0) (void)environment_->files->Remove(SegmentPath(entry.segment));
    if (entry.deletions != 0)
      (void)environment_->files->Remove(DeletionsPath(entry.segment, entry.deletions));
    return Status::Ok();
  });
}

Status SegmentStore::RemoveUnreferenced() {
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                           environment_->files->List(directory_));
  std::set<std::string> named;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [key, count] : references_) named.insert(PathOf(key));
  }
  std::vector<std::string> unreferenced;
  for (const std::string& name : names) {
    if (!IsOurName(name)) continue;
    std::string path = directory_ + "/" + name;
    const bool is_forgotten = PIGMENT_PLANTED(kOpenRemovesNamedDeletions) && path.ends_with(".del");
    if (named.contains(path) && !is_forgotten) continue;
    unreferenced.push_back(std::move(path));
  }
  // Readers of an earlier writer's catalog may still need some of them.
  return environment_->removals.Remove(std::move(unreferenced), catalog_->position());
}

}  // namespace pigment
