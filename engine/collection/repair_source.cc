// SPDX-License-Identifier: Apache-2.0
//
// Catalog and log of a damaged store: see the header.

#include "engine/collection/repair_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/block/block.h"
#include "engine/block/file_block_source.h"
#include "engine/catalog/catalog_files.h"
#include "engine/log/log_range.h"
#include "engine/segment/segment.h"

namespace pigment {
namespace {

constexpr size_t kFlagsAt = 4;
constexpr size_t kPositionAt = 8;

// Calls `visit` for every valid record, in order. Behind damage the next record is looked for byte
// by byte; one that claims an impossible position is none, whatever its checksum would be. True when
// nothing was passed over.
bool VisitValidRecords(std::span<const std::byte> file, const FramedHeader& header,
                       const std::function<void(const FramedRecord&)>& visit) {
  uint64_t offset = kFramedHeaderBytes;
  uint64_t position = 0;  // of the last record; 0: none yet
  bool is_whole = true;
  while (offset + kRecordFrameBytes <= file.size()) {
    const auto flags = LoadLittle<uint32_t>(file.data() + offset + kFlagsAt);
    const auto claimed = LoadLittle<uint64_t>(file.data() + offset + kPositionAt);
    const bool is_plausible =
        flags <= kMarkRecord && claimed != 0 && claimed >= position &&
        (position == 0 || claimed - position <= file.size() / kRecordFrameBytes + 1);
    const auto record = is_plausible ? DecodeRecord(file, header, offset) : std::nullopt;
    if (!record) {
      is_whole = is_whole && file[offset] == std::byte{0};
      ++offset;
      continue;
    }
    position = record->position;
    if (record->flags == kPlainRecord) visit(*record);
    offset = record->end;
  }
  const auto rest = file.subspan(std::min<uint64_t>(offset, file.size()));
  return is_whole && std::all_of(rest.begin(), rest.end(),
                                 [](std::byte byte) { return byte == std::byte{0}; });
}

Result<std::optional<std::string>> ReadIfThere(FileSystem* files, const std::string& path) {
  Result<std::string> bytes = ReadWholeFile(files, path);
  if (bytes.ok()) return std::optional(*std::move(bytes));
  if (bytes.status().code() == Code::kNotFound) return std::optional<std::string>();
  return bytes.status();
}

// The store that a file says it belongs to; nil when its header is damaged.
Uuid StoreOf(std::string_view bytes, FramedKind kind, const std::string& path) {
  Uuid store;
  const auto header = DecodeFramedHeader(AsBytes(bytes), kind, UINT32_MAX, path);
  if (header.ok()) store.bytes = header->store;
  return store;
}

class CatalogSalvage {
 public:
  CatalogSalvage(FileSystem* files, const std::string& directory,
                 std::vector<std::string>& messages)
      : files_(files), directory_(directory), messages_(messages) {}

  Result<SalvagedCatalog> Run() {
    const auto catalog = Catalog::Open(files_, directory_, true);
    if (catalog.ok()) {
      salvaged_.store = (*catalog)->store();
      PIGMENT_RETURN_IF_ERROR(salvaged_.state.ApplySnapshot(AsBytes((*catalog)->EncodeState())));
      return std::move(salvaged_);
    }
    if (catalog.status().code() == Code::kVersionMismatch || IsLackOfOurs(catalog.status()))
      return catalog.status();
    messages_.push_back("the catalog is damaged: " + catalog.status().message());
    PIGMENT_ASSIGN_OR_RETURN(const bool has_snapshot, ReadSnapshot());
    if (!has_snapshot) PIGMENT_RETURN_IF_ERROR(BeginEmpty());
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t edits, ReadEdits());
    salvaged_.condition = has_snapshot || edits > 0 ? RepairReport::CatalogState::kDamaged
                                                    : RepairReport::CatalogState::kLost;
    if (salvaged_.store.is_nil()) PIGMENT_RETURN_IF_ERROR(FindStore());
    return std::move(salvaged_);
  }

 private:
  Result<bool> ReadSnapshot() {
    const std::string path = directory_ + "/" + kCatalogName;
    PIGMENT_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, ReadIfThere(files_, path));
    if (!bytes) return false;
    const auto header = DecodeFramedHeader(AsBytes(*bytes), FramedKind::kCatalogSnapshot,
                                           kCatalogVersion, path);
    if (!header.ok()) return false;
    salvaged_.store.bytes = header->store;
    const auto record = DecodeRecord(AsBytes(*bytes), *header, kFramedHeaderBytes);
    if (!record || !salvaged_.state.ApplySnapshot(record->payload).ok()) {
      salvaged_.state = CatalogState();
      return false;
    }
    return true;
  }

  Status BeginEmpty() {
    PIGMENT_ASSIGN_OR_RETURN(const Uuid id, Uuid::Random());
    PIGMENT_RETURN_IF_ERROR(
        salvaged_.state.Apply(AsBytes(CatalogState::PutTenant(std::string(kDefaultTenant)))));
    return salvaged_.state.Apply(
        AsBytes(CatalogState::PutDatabase({.id = id,
                                           .name = std::string(kDefaultDatabase),
                                           .tenant = std::string(kDefaultTenant)})));
  }

  // Edits say whole entries, so one that is lost does not spoil those behind it.
  Result<uint64_t> ReadEdits() {
    PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->List(directory_));
    uint64_t applied = 0;
    uint64_t refused = 0;
    for (const std::string& name : names) {
      if (!name.starts_with("CATALOG.edits.") || name.ends_with(".tmp")) continue;
      PIGMENT_ASSIGN_OR_RETURN(const std::string bytes,
                               ReadWholeFile(files_, directory_ + "/" + name));
      const auto header =
          DecodeFramedHeader(AsBytes(bytes), FramedKind::kCatalogEdits, kCatalogVersion, name);
      if (!header.ok()) {
        messages_.push_back(fmt::format("edits of the catalog are lost: {}",
                                        header.status().message()));
        continue;
      }
      if (salvaged_.store.is_nil()) salvaged_.store.bytes = header->store;
      const bool is_whole =
          VisitValidRecords(AsBytes(bytes), *header, [&](const FramedRecord& record) {
            ++(salvaged_.state.Apply(record.payload).ok() ? applied : refused);
          });
      if (!is_whole) messages_.push_back(fmt::format("{} has damaged edits", name));
    }
    if (refused > 0) {
      messages_.push_back(
          fmt::format("{} edits of the catalog need others that are lost", refused));
    }
    return applied;
  }

  // Log and segments know whose they are.
  Status FindStore() {
    const auto logs = ListLogFiles(files_, directory_ + "/log");
    for (const uint64_t number : logs.ok() ? *logs : std::vector<uint64_t>()) {
      const std::string path = directory_ + "/log/" + LogFileName(number);
      const auto bytes = ReadWholeFile(files_, path);
      if (bytes.ok()) salvaged_.store = StoreOf(*bytes, FramedKind::kLog, path);
      if (!salvaged_.store.is_nil()) return Status::Ok();
    }
    const auto names = files_->List(directory_ + "/segments");
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      auto file = files_->Open(directory_ + "/segments/" + name, OpenMode::kRead);
      if (!file.ok() || !name.ends_with(".seg")) continue;
      const auto source = FileBlockSource::Open(*std::move(file),
                                                static_cast<uint32_t>(std::stoul(name)), nullptr);
      if (!source.ok()) continue;
      const auto segment =
          Segment::Open(source->get(), *(*source)->blocks() - 1, std::nullopt);
      if (!segment.ok()) continue;
      salvaged_.store.bytes = (*segment)->info().owner;
      return Status::Ok();
    }
    return DataLoss(Detail::kMissing, directory_, -1,
                    fmt::format("nothing in \"{}\" can be read", directory_));
  }

  FileSystem* const files_;
  const std::string& directory_;
  std::vector<std::string>& messages_;
  SalvagedCatalog salvaged_;
};

}  // namespace

Result<SalvagedCatalog> SalvageCatalog(FileSystem* files, const std::string& directory,
                                       std::vector<std::string>& messages) {
  return CatalogSalvage(files, directory, messages).Run();
}

Result<SalvagedLog> SalvageLog(FileSystem* files, const std::string& directory, const Uuid& store,
                               std::vector<std::string>& messages) {
  SalvagedLog log;
  const Result<std::vector<uint64_t>> listed = ListLogFiles(files, directory);
  if (!listed.ok()) {
    if (listed.status().code() != Code::kNotFound) return listed.status();
    messages.push_back("there is no log");
    return log;
  }
  for (const uint64_t number : *listed) {
    const std::string path = directory + "/" + LogFileName(number);
    PIGMENT_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(files, path));
    Result<FramedHeader> read =
        DecodeFramedHeader(AsBytes(bytes), FramedKind::kLog, kLogVersion, path);
    if (read.status().code() == Code::kVersionMismatch) return read.status();
    FramedHeader header{.kind = FramedKind::kLog,
                        .version = kLogVersion,
                        .store = store.bytes,
                        .number = number};
    if (read.ok() && read->store == store.bytes && read->number == number) {
      header = *read;
      // What the file before has from here on was written again here, or was a torn tail.
      log.batches.erase(log.batches.lower_bound(header.first_position), log.batches.end());
    } else {
      log.is_whole = false;
      messages.push_back(read.ok() ? fmt::format("{} belongs elsewhere", path)
                                   : read.status().message());
      if (read.ok()) continue;
      header.salt = FindSalt(AsBytes(bytes), header).value_or(0);
    }
    const bool is_whole =
        VisitValidRecords(AsBytes(bytes), header, [&](const FramedRecord& record) {
          log.batches[record.position] = AsText(record.payload);
        });
    if (is_whole) continue;
    log.is_whole = false;
    messages.push_back(fmt::format("{} is damaged or ends in a torn batch", path));
  }
  return log;
}

}  // namespace pigment
