// SPDX-License-Identifier: Apache-2.0
//
// Segments, deletions and names: see the header. The log is in check_log.cc.

#include "engine/collection/check_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/block/block.h"
#include "engine/block/file_block_source.h"
#include "engine/catalog/catalog_files.h"
#include "engine/collection/backup.h"
#include "engine/collection/deletions_file.h"
#include "engine/collection/frozen_store.h"
#include "engine/collection/shelf_file.h"
#include "engine/collection/shelved_tail.h"
#include "engine/segment/segment.h"

namespace pigment {
namespace {

constexpr uint32_t kBlocksPerRead = 128;
constexpr uint32_t kBlocksNamedMax = 20;  // damaged ones of one file, each by itself

// "12.seg", "12.34.del" or "12.shelf", or none of them.
struct SegmentFileName {
  uint32_t segment = 0;
  uint64_t deletions = 0;  // 0: the segment itself
  bool is_shelf = false;
};

std::optional<SegmentFileName> ParseSegmentFileName(std::string_view name) {
  const auto number = [&name](auto& value) {
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (error != std::errc()) return false;
    name.remove_prefix(static_cast<size_t>(end - name.data()));
    return true;
  };
  SegmentFileName parsed;
  if (!number(parsed.segment)) return std::nullopt;
  if (name == ".seg") return parsed;
  if (name == ".shelf") {
    parsed.is_shelf = true;
    return parsed;
  }
  if (!name.starts_with('.')) return std::nullopt;
  name.remove_prefix(1);
  if (!number(parsed.deletions) || name != ".del" || parsed.deletions == 0) return std::nullopt;
  return parsed;
}

// Every block by itself; that each is where it belongs is CheckContents' to find. True when all are
// whole.
Result<bool> CheckBlocks(const CheckedStore& store, const std::string& path, uint32_t segment,
                         const std::string& collection, CheckNotes& notes) {
  Result<std::unique_ptr<File>> file = store.files->Open(path, OpenMode::kRead);
  if (!file.ok()) {
    if (file.status().code() == Code::kNotFound) {
      notes.AddError(Detail::kMissing, collection, path, -1,
                     fmt::format("segment {} is missing", segment));
    } else {
      notes.AddStatus(file.status(), collection, path);
    }
    return false;
  }
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, (*file)->Size());
  ++notes.totals().files;
  notes.totals().bytes += size;
  if (size == 0 || size % kBlockBytes != 0) {
    notes.AddError(
        size == 0 ? Detail::kTruncated : Detail::kMisaligned, collection, path,
        static_cast<int64_t>(size),
        fmt::format("segment {} has {} bytes, not a multiple of {}", segment, size, kBlockBytes));
  }
  const uint64_t blocks = size / kBlockBytes;
  std::vector<std::byte> chunk(kBlocksPerRead * kBlockBytes);
  uint64_t damaged = 0;
  for (uint64_t first = 0; first < blocks; first += kBlocksPerRead) {
    PIGMENT_RETURN_IF_ERROR(store.control.Check());
    const uint64_t count = std::min<uint64_t>(kBlocksPerRead, blocks - first);
    const std::span<std::byte> bytes(chunk.data(), count * kBlockBytes);
    if (Status read = (*file)->ReadAt(first * kBlockBytes, bytes); !read.ok()) {
      notes.AddStatus(read, collection, path);
      return false;
    }
    for (uint64_t i = 0; i < count; ++i) {
      const auto number = static_cast<uint32_t>(first + i);
      const ConstBlockBytes block = bytes.subspan(i * kBlockBytes).first<kBlockBytes>();
      const Status whole = CheckBlockOfFile(block, segment, number, path);
      if (!whole.ok() && ++damaged <= kBlocksNamedMax) notes.AddStatus(whole, collection, path);
    }
    store.control.Advance(bytes.size());
  }
  if (damaged > kBlocksNamedMax) {
    notes.AddError(Detail::kChecksum, collection, path, -1,
                   fmt::format("{} blocks of {} are damaged in all", damaged, blocks));
  }
  return damaged == 0 && size != 0 && size % kBlockBytes == 0;
}

// Sections against each other, and against what the catalog says (null: nothing is known).
Status CheckContents(const CheckedStore& store, const std::string& path,
                     const SegmentEntry* expected, uint32_t number, const CollectionEntry* owner,
                     CheckNotes& notes) {
  const std::string collection = owner != nullptr ? owner->name : "";
  PIGMENT_ASSIGN_OR_RETURN(auto file, store.files->Open(path, OpenMode::kRead));
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  if (expected != nullptr && size != expected->file_bytes) {
    notes.AddError(Detail::kTruncated, collection, path, static_cast<int64_t>(size),
                   fmt::format("segment {} has {} bytes, the catalog says {}", number, size,
                               expected->file_bytes));
    return Status::Ok();
  }
  auto source = FileBlockSource::Open(std::move(file), number, nullptr);
  if (!source.ok()) {
    notes.AddStatus(source.status(), collection, path);
    return Status::Ok();
  }
  const uint32_t root =
      expected != nullptr ? expected->root : static_cast<uint32_t>(size / kBlockBytes - 1);
  const auto segment = Segment::Open(source->get(), root, number);
  if (!segment.ok()) {
    notes.AddStatus(segment.status(), collection, path);
    return Status::Ok();
  }
  notes.AddStatus((*segment)->Verify(), collection, path);
  const SegmentInfo& info = (*segment)->info();
  if (info.owner != store.store.bytes) {
    notes.AddError(Detail::kForeign, collection, path, 0,
                   fmt::format("segment {} belongs to another store", number));
  }
  if (expected != nullptr && info.rows != expected->rows) {
    notes.AddError(Detail::kMiscounted, collection, path, 0,
                   fmt::format("segment {} has {} rows, the catalog says {}", number, info.rows,
                               expected->rows));
  }
  if (owner != nullptr && info.dimension != owner->dimension) {
    notes.AddError(Detail::kMiscounted, collection, path, 0,
                   fmt::format("segment {} has dimension {}, collection \"{}\" has {}", number,
                               info.dimension, owner->name, owner->dimension));
  }
  if (owner != nullptr && info.vector_element != owner->vector_element) {
    notes.AddError(Detail::kMiscounted, collection, path, 0,
                   fmt::format("segment {} has vectors in {}, collection \"{}\" in {}", number,
                               VectorElementName(info.vector_element), owner->name,
                               VectorElementName(owner->vector_element)));
  }
  ++notes.totals().segments;
  return Status::Ok();
}

void CheckDeletions(const CheckedStore& store, const SegmentEntry& entry,
                    const std::string& collection, CheckNotes& notes) {
  const std::string path =
      fmt::format("{}/segments/{}.{}.del", store.directory, entry.segment, entry.deletions);
  const auto deleted = ReadDeletionsFile(
      *store.files, path, {store.store.bytes, entry.segment, entry.deletions, entry.rows});
  if (!deleted.ok()) {
    notes.AddStatus(deleted.status(), collection, path);
    return;
  }
  ++notes.totals().files;
  notes.totals().bytes += uint64_t{deleted->words()} * sizeof(uint64_t);
  if (deleted->Count() != entry.deleted_rows) {
    notes.AddError(Detail::kMiscounted, collection, path, 44,
                   fmt::format("{} rows are deleted, the catalog says {}", deleted->Count(),
                               entry.deleted_rows));
  }
}

void NoteName(CheckSeverity severity, const std::string& path, std::string message,
              CheckNotes& notes) {
  notes.Add({.severity = severity,
             .code = Code::kOk,
             .detail = Detail::kNone,
             .collection = {},
             .file = path,
             .offset = -1,
             .message = std::move(message)});
}

bool IsOursInRoot(const std::string& name) {
  for (const char* known : {"LOCK", "CATALOG", "RESERVE", "log", "segments"}) {
    if (name == known) return true;
  }
  return false;
}

}  // namespace

Status CheckSegmentFiles(const CheckedStore& store, CheckNotes& notes) {
  std::set<uint32_t> seen;
  std::set<std::pair<uint32_t, uint64_t>> seen_deletions;
  std::set<uint32_t> seen_shelves;
  store.control.BeginPhase("segments", "bytes", SegmentBytes(*store.collections));
  for (const CollectionEntry& entry : *store.collections) {
    for (const SegmentEntry& segment : entry.segments) {
      if (seen.insert(segment.segment).second) {
        const std::string path =
            fmt::format("{}/segments/{}.seg", store.directory, segment.segment);
        PIGMENT_ASSIGN_OR_RETURN(const bool is_whole,
                                 CheckBlocks(store, path, segment.segment, entry.name, notes));
        if (is_whole) {
          PIGMENT_RETURN_IF_ERROR(
              CheckContents(store, path, &segment, segment.segment, &entry, notes));
        }
      }
      if (segment.deletions != 0 &&
          seen_deletions.insert({segment.segment, segment.deletions}).second) {
        CheckDeletions(store, segment, entry.name, notes);
      }
    }
    if (entry.shelf.file != 0) {
      PIGMENT_RETURN_IF_ERROR(store.control.Check());
      const std::string path =
          fmt::format("{}/segments/{}.shelf", store.directory, entry.shelf.file);
      if (seen_shelves.insert(entry.shelf.file).second) {
        const auto whole = ReadWholeShelf(*store.files, path, store.store.bytes, entry.shelf.file);
        notes.AddStatus(whole.status(), "");
        notes.totals().files += 1;
        notes.totals().bytes += whole.ok() ? whole->size() : 0;
      }
      const auto record = ReadShelf(*store.files, path, store.store.bytes, entry.shelf);
      notes.AddStatus(record.status(), entry.name);
      if (record.ok()) {
        notes.AddStatus(DecodeShelvedTail(AsBytes(*record)).status(), entry.name, path);
      }
    }
  }
  return Status::Ok();
}

Status CheckNames(const CheckedStore& store, CheckNotes& notes) {
  std::set<std::string> named;
  if (store.collections != nullptr) {
    for (const CollectionEntry& entry : *store.collections) {
      for (const SegmentEntry& segment : entry.segments) {
        named.insert(fmt::format("{}.seg", segment.segment));
        if (segment.deletions != 0) {
          named.insert(fmt::format("{}.{}.del", segment.segment, segment.deletions));
        }
      }
      if (entry.shelf.file != 0) named.insert(fmt::format("{}.shelf", entry.shelf.file));
    }
  }
  const std::string folder = store.directory + "/segments";
  const auto names = store.files->List(folder);
  if (!names.ok() && names.status().code() != Code::kNotFound) {
    notes.AddStatus(names.status(), "", folder);
  }
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (named.contains(name)) continue;
    const std::string path = folder + "/" + name;
    const auto parsed = ParseSegmentFileName(name);
    if (!parsed) {
      NoteName(CheckSeverity::kNote, path, "not a file of this store", notes);
    } else if (store.collections != nullptr) {
      NoteName(CheckSeverity::kWarning, path,
               "no collection names this file; a writer removes it when it opens", notes);
    } else if (parsed->is_shelf) {
      notes.AddStatus(
          ReadWholeShelf(*store.files, path, store.store.bytes, parsed->segment).status(), "");
    } else if (parsed->deletions == 0) {
      PIGMENT_ASSIGN_OR_RETURN(const bool is_whole,
                               CheckBlocks(store, path, parsed->segment, "", notes));
      if (is_whole) {
        PIGMENT_RETURN_IF_ERROR(
            CheckContents(store, path, nullptr, parsed->segment, nullptr, notes));
      }
    }
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> root, store.files->List(store.directory));
  for (const std::string& name : root) {
    if (IsOursInRoot(name) || name.starts_with(std::string(kCatalogName) + ".")) continue;
    NoteName(CheckSeverity::kNote, store.directory + "/" + name,
             name == kBackupMarker ? "the marker of a copy that was being made here"
                                   : "not a file of this store",
             notes);
  }
  return Status::Ok();
}

}  // namespace pigment
