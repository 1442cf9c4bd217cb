// SPDX-License-Identifier: Apache-2.0
//
// CatalogFiles.

#include "engine/catalog/catalog_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/out_of_memory.h"
#include "engine/base/planted_bugs.h"

namespace pigment {
namespace {

constexpr std::string_view kEditsPrefix = "CATALOG.edits.";
constexpr uint64_t kEditsBytesMin = 64 << 10;  // fewer bytes of edits are not worth a snapshot

std::optional<uint64_t> NumberOfName(std::string_view name) {
  if (!name.starts_with(kEditsPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kEditsPrefix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      CatalogEditsName(number) != name) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::string CatalogEditsName(uint64_t number) {
  return fmt::format("{}{:010}", kEditsPrefix, number);
}

Result<bool> CatalogFiles::Find() {
  const std::string path = PathOf(kCatalogName);
  PIGMENT_ASSIGN_OR_RETURN(const bool exists, files_->Exists(path));
  if (exists) return true;
  const auto lost = [&](const std::string& evidence) {
    return DataLoss(Detail::kMissing, path, -1,
                    fmt::format("{} is missing, but {} is there", path, evidence));
  };
  for (const char* folder : {"log", "segments"}) {
    PIGMENT_ASSIGN_OR_RETURN(const bool has_folder, files_->Exists(PathOf(folder)));
    if (!has_folder) continue;
    PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->List(PathOf(folder)));
    if (!names.empty()) return lost(PathOf(folder) + "/" + names.front());
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->List(directory_));
  for (const std::string& name : names) {
    const std::optional<uint64_t> number = NumberOfName(name);
    if (!number) continue;
    // A first file without edits is what a crash during creation leaves.
    PIGMENT_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(files_, PathOf(name)));
    if (*number != 1 || bytes.size() > kFramedHeaderBytes) return lost(PathOf(name));
  }
  return false;
}

Status CatalogFiles::Create(const CatalogState& state) {
  PIGMENT_ASSIGN_OR_RETURN(store_, Uuid::Random());
  return Checkpoint(state);
}

Status CatalogFiles::CreateFor(const Uuid& store, const CatalogState& state) {
  store_ = store;
  return Checkpoint(state);
}

// ---- Reading
// --------------------------------------------------------------------------------------------------------

Status CatalogFiles::Load(CatalogState* state) {
  FramedHeader header;
  PIGMENT_RETURN_IF_ERROR(ReadSnapshot(&header, state));
  Status status = ReadEdits(header, state);
  if (status.code() != Code::kNotFound) return status;
  const std::string path = PathOf(CatalogEditsName(number_));
  return DataLoss(Detail::kMissing, path, -1,
                  fmt::format("{} is missing, but {} needs it", path, PathOf(kCatalogName)));
}

Status CatalogFiles::ReadSnapshot(FramedHeader* header, CatalogState* state) {
  const std::string path = PathOf(kCatalogName);
  PIGMENT_ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(files_, path));
  PIGMENT_ASSIGN_OR_RETURN(*header, DecodeFramedHeader(AsBytes(bytes), FramedKind::kCatalogSnapshot,
                                                       kCatalogVersion, path));
  const std::optional<FramedRecord> record =
      DecodeRecord(AsBytes(bytes), *header, kFramedHeaderBytes);
  if (!record) {
    return DataLoss(Detail::kChecksum, path, kFramedHeaderBytes,
                    fmt::format("{} differs from its checksum", path));
  }
  if (record->end != bytes.size() || record->position != header->first_position ||
      record->flags != kPlainRecord) {
    return DataLoss(Detail::kMiscounted, path, static_cast<int64_t>(record->end),
                    fmt::format("{} has {} bytes where its contents end at {}", path, bytes.size(),
                                record->end));
  }
  if (Status status = state->ApplySnapshot(record->payload); !status.ok()) {
    return std::move(status).WithFile(path, kFramedHeaderBytes);
  }
  store_.bytes = header->store;
  number_ = header->number;
  snapshot_bytes_ = bytes.size();
  return Status::Ok();
}

Status CatalogFiles::ReadEdits(const FramedHeader& snapshot, CatalogState* state) {
  const std::string path = PathOf(CatalogEditsName(number_));
  PIGMENT_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(files_, path));
  PIGMENT_ASSIGN_OR_RETURN(
      edits_header_,
      DecodeFramedHeader(AsBytes(bytes), FramedKind::kCatalogEdits, kCatalogVersion, path));
  if (edits_header_.store != snapshot.store || edits_header_.number != snapshot.number ||
      edits_header_.first_position != snapshot.first_position) {
    return DataLoss(
        Detail::kForeign, path, 0,
        fmt::format("{} is file {} from position {} of {} store, {} needs file {} from position {}",
                    path, edits_header_.number, edits_header_.first_position,
                    edits_header_.store == snapshot.store ? "this" : "another",
                    PathOf(kCatalogName), snapshot.number, snapshot.first_position));
  }
  uint64_t offset = kFramedHeaderBytes;
  PIGMENT_ASSIGN_OR_RETURN(
      const FramedScan scan,
      ScanRecords(AsBytes(bytes), edits_header_, path, UINT64_MAX,
                  [&](const FramedRecord& record) -> Status {
                    if (Status status = state->Apply(record.payload); !status.ok()) {
                      return std::move(status).WithFile(path, static_cast<int64_t>(offset));
                    }
                    offset = record.end;
                    return Status::Ok();
                  }));
  if (!scan.is_whole)
    PIGMENT_RETURN_IF_ERROR(CheckTornTail(AsBytes(bytes), edits_header_, path, scan));
  next_position_ = scan.next_position;
  has_clean_edits_ = next_position_ == edits_header_.first_position && scan.end == bytes.size();
  is_marked_ = has_clean_edits_ && scan.is_closed;
  edits_end_ = scan.end;
  return Status::Ok();
}

// ---- Writing
// --------------------------------------------------------------------------------------------------------

// An earlier process may have failed to sync its last edit, or the name of its snapshot, and the
// system may show them all the same: a sync now would prove nothing, so that both are written
// again, unless a mark says that it did neither.
Status CatalogFiles::BecomeWriter(const CatalogState& state, bool is_changed) {
  const std::string path = PathOf(CatalogEditsName(number_));
  if (PIGMENT_PLANTED(kCatalogTrustsUnproven)) return RemoveLeftovers();
  const auto renew = [&]() -> Status {
    if (!has_clean_edits_ || is_changed) return Checkpoint(state);
    if (!is_marked_) PIGMENT_RETURN_IF_ERROR(PublishSnapshot(number_, state));
    PIGMENT_ASSIGN_OR_RETURN(std::unique_ptr<File> file, files_->Open(path, OpenMode::kReadWrite));
    appender_.Adopt(std::move(file), edits_header_, edits_end_, next_position_ - 1);
    return Status::Ok();
  };
  const Status status = renew();
  if (status.ok()) return RemoveLeftovers();
  if (status.detail() != Detail::kDiskFull || is_broken()) return status;
  PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                           files_->Open(path, OpenMode::kReadWrite));
  return file->Sync();  // proves less; the next edit tries the snapshot again
}

Status CatalogFiles::RemoveLeftovers() {
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->List(directory_));
  std::vector<std::string> older;
  for (const std::string& name : names) {
    const std::optional<uint64_t> number = NumberOfName(name);
    const bool is_temporary = name.starts_with(kCatalogName) && name.ends_with(".tmp");
    // One with a higher number was made for a snapshot that never came, and its name may be wanted.
    if (is_temporary || (number && *number > number_)) {
      PIGMENT_RETURN_IF_ERROR(files_->Remove(PathOf(name)));
    } else if (number && *number < number_) {
      older.push_back(PathOf(name));
    }
  }
  return removals_.Remove(std::move(older), kFirstPosition);
}

Status CatalogFiles::Append(std::span<const std::span<const std::byte>> edits,
                            const CatalogState& state) {
  for (const auto edit : edits) {
    if (edit.size() <= kRecordPayloadBytesMax) continue;
    return BeyondLimit(limit::kRecordPayloadBytesMax,
                       fmt::format("a catalog entry of {} bytes is too large", edit.size()));
  }
  if (!appender_.has_file()) PIGMENT_RETURN_IF_ERROR(Checkpoint(state));
  PIGMENT_RETURN_IF_ERROR(appender_.Write(edits, !PIGMENT_PLANTED(kCatalogEditUnsynced)));
  next_position_ += edits.size();
  return Status::Ok();
}

bool CatalogFiles::has_edits() const {
  return appender_.has_file() && appender_.written_position() >= edits_header_.first_position;
}

void CatalogFiles::Mark() {
  if (!appender_.has_file() || has_edits() || is_marked_) return;
  static_cast<void>(CatchOutOfMemory([&] { return appender_.Close(); }).ok());
}

bool CatalogFiles::wants_checkpoint() const {
  return appender_.has_file() && appender_.end() > std::max(kEditsBytesMin, 2 * snapshot_bytes_);
}

Status CatalogFiles::PublishSnapshot(uint64_t number, const CatalogState& state) {
  const FramedHeader header{.kind = FramedKind::kCatalogSnapshot,
                            .version = kCatalogVersion,
                            .store = store_.bytes,
                            .number = number,
                            .first_position = next_position_};
  const std::string contents = state.EncodeSnapshot();
  if (contents.size() > kRecordPayloadBytesMax) {
    return BeyondLimit(
        limit::kRecordPayloadBytesMax,
        fmt::format("the catalog of {} bytes is too large for a snapshot", contents.size()));
  }
  std::string bytes = EncodeFramedHeader(header);
  AppendRecord(
      &bytes, header, bytes.size(),
      {.position = next_position_, .synced = next_position_ - 1, .payload = AsBytes(contents)});
  std::unique_ptr<File> file;
  bool is_published = false;
  is_broken_ = true;
  Status status = PublishFile(files_, directory_, kCatalogName, bytes, &file, &is_published);
  // Once renamed, either snapshot may be there after a power cut: no edit can be promised to be
  // found.
  is_broken_ = is_published && !status.ok();
  if (status.ok()) snapshot_bytes_ = bytes.size();
  return status;
}

// The new file of edits is there before the snapshot that names it, the old one goes after:
// whichever snapshot a crash leaves has its edits.
Status CatalogFiles::Checkpoint(const CatalogState& state) {
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t salt, RandomSalt());
  const FramedHeader header{.kind = FramedKind::kCatalogEdits,
                            .version = kCatalogVersion,
                            .store = store_.bytes,
                            .number = number_ + 1,
                            .first_position = next_position_,
                            .salt = salt};
  if (number_ > 0 && PIGMENT_PLANTED(kCatalogRemovesEditsFirst))
    static_cast<void>(files_->Remove(PathOf(CatalogEditsName(number_))).ok());
  std::unique_ptr<File> edits;
  bool is_published = false;
  PIGMENT_RETURN_IF_ERROR(PublishFile(files_, directory_, CatalogEditsName(header.number),
                                      EncodeFramedHeader(header), &edits, &is_published));
  if (!PIGMENT_PLANTED(kCatalogSwitchesWithoutSnapshot))
    PIGMENT_RETURN_IF_ERROR(PublishSnapshot(header.number, state));
  appender_.Adopt(std::move(edits), header, kFramedHeaderBytes, next_position_ - 1);
  edits_header_ = header;
  is_marked_ = false;
  const uint64_t before = std::exchange(number_, header.number);
  // Whoever looks from here on finds the new snapshot. What stays because this fails goes at the
  // next open.
  if (before == 0) return Status::Ok();
  static_cast<void>(CatchOutOfMemory([&] {
                      return removals_.Remove({PathOf(CatalogEditsName(before))}, kFirstPosition);
                    }).ok());
  return Status::Ok();
}

}  // namespace pigment
