// SPDX-License-Identifier: Apache-2.0
//
// Records: encoding, decoding, and telling a torn tail from damage.

#include "engine/base/record_framing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/base/planted_bugs.h"
#include "engine/base/uuid.h"

namespace pigment {
namespace {

constexpr std::string_view kMagic("\x89PGM\r\n\x1a\n", 8);
constexpr uint32_t kEndianTag = 0x01020304;

constexpr size_t kKindAt = 8;
constexpr size_t kVersionAt = 12;
constexpr size_t kEndianAt = 16;
constexpr size_t kSizeAt = 20;
constexpr size_t kStoreAt = 24;
constexpr size_t kNumberAt = 40;
constexpr size_t kFirstPositionAt = 48;
constexpr size_t kSaltAt = 56;
constexpr size_t kHeaderCrcAt = 60;
static_assert(kStoreAt + sizeof(FramedHeader::store) == kNumberAt);
static_assert(kHeaderCrcAt + sizeof(uint32_t) == kFramedHeaderBytes);

constexpr size_t kLengthAt = 0;
constexpr size_t kFlagsAt = 4;
constexpr size_t kPositionAt = 8;
constexpr size_t kSyncedAt = 16;
static_assert(kSyncedAt + sizeof(uint64_t) == kRecordHeadBytes);

std::string_view KindName(FramedKind kind) {
  switch (kind) {
    case FramedKind::kLog:
      return "log";
    case FramedKind::kCatalogSnapshot:
      return "catalog snapshot";
    case FramedKind::kCatalogEdits:
      return "catalog edits";
    case FramedKind::kShelf:
      return "shelf";
  }
  return "unknown kind";
}

// The head at `offset`, before its checksum is looked at; `end` is set and lies within the file.
std::optional<FramedRecord> DecodeHead(std::span<const std::byte> file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < kRecordFrameBytes) return std::nullopt;
  const std::byte* head = file.data() + offset;
  const auto length = LoadLittle<uint32_t>(head + kLengthAt);
  if (length > file.size() - offset - kRecordFrameBytes) return std::nullopt;
  FramedRecord record;
  record.flags = LoadLittle<uint32_t>(head + kFlagsAt);
  record.position = LoadLittle<uint64_t>(head + kPositionAt);
  record.synced = LoadLittle<uint64_t>(head + kSyncedAt);
  record.payload = file.subspan(offset + kRecordHeadBytes, length);
  record.end = offset + kRecordFrameBytes + length;
  return record;
}

bool IsZeros(std::span<const std::byte> bytes) {
  return bytes.empty() || (bytes[0] == std::byte{} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// Since version 2 of their formats records of a log and of a catalog differ: files of the two may
// have one number, and a disk may show blocks of one in the other.
uint32_t SeedOf(const FramedHeader& file, uint64_t offset) {
  const uint64_t kind =
      file.version < 2 ? 0 : uint64_t{static_cast<uint32_t>(file.kind)} << 56;
  const uint64_t number = PIGMENT_PLANTED(kSeedWithoutFile) ? 0 : file.number;
  const uint32_t salt = PIGMENT_PLANTED(kSeedWithoutSalt) ? 0 : file.salt;
  return PlaceSeed(file.store, number ^ kind, offset) ^ salt;
}

bool HasValidChecksum(std::span<const std::byte> file, const FramedHeader& header, uint64_t offset,
                      uint64_t end) {
  if (PIGMENT_PLANTED(kRecordChecksumNotChecked)) return true;
  const auto covered = file.subspan(offset, end - sizeof(uint32_t) - offset);
  return Crc32c(covered, SeedOf(header, offset)) ==
         LoadLittle<uint32_t>(file.data() + end - sizeof(uint32_t));
}

}  // namespace

Result<uint32_t> RandomSalt() {
  PIGMENT_ASSIGN_OR_RETURN(const Uuid random, Uuid::Random());
  return LoadLittle<uint32_t>(random.bytes.data());
}

// A checksum tells what it was continued from, so each record states a salt, damaged ones any.
std::optional<uint32_t> FindSalt(std::span<const std::byte> file, FramedHeader header) {
  const std::optional<FramedRecord> first = DecodeHead(file, kFramedHeaderBytes);
  if (!first) return std::nullopt;
  const auto covered = file.subspan(kFramedHeaderBytes,
                                    first->end - sizeof(uint32_t) - kFramedHeaderBytes);
  const auto stated = LoadLittle<uint32_t>(covered.data() + covered.size());
  header.salt = 0;
  header.salt = Crc32cBefore(covered, stated) ^ SeedOf(header, kFramedHeaderBytes);
  if (!DecodeRecord(file, header, first->end)) return std::nullopt;
  return header.salt;
}

std::string EncodeFramedHeader(const FramedHeader& header) {
  std::string bytes(kMagic);
  ByteWriter writer(&bytes);
  writer.Put(static_cast<uint32_t>(header.kind));
  writer.Put(header.version);
  writer.Put(kEndianTag);
  writer.Put(static_cast<uint32_t>(kFramedHeaderBytes));
  writer.PutBytes(header.store);
  writer.Put(header.number);
  writer.Put(header.first_position);
  writer.Put(header.salt);
  writer.Put(Crc32c(AsBytes(bytes)));
  return bytes;
}

Result<FramedHeader> DecodeFramedHeader(std::span<const std::byte> file, FramedKind kind,
                                        uint32_t version_max, const std::string& path) {
  if (file.size() < kFramedHeaderBytes) {
    return DataLoss(Detail::kTruncated, path, static_cast<int64_t>(file.size()),
                    fmt::format("{} has {} bytes, its header alone has {}", path, file.size(),
                                kFramedHeaderBytes));
  }
  if (AsText(file.first(kMagic.size())) != kMagic) {
    return DataLoss(Detail::kWrongKind, path, 0,
                    fmt::format("{} does not begin as a file of pigment", path));
  }
  const std::byte* at = file.data();
  if (Crc32c(file.first(kHeaderCrcAt)) != LoadLittle<uint32_t>(at + kHeaderCrcAt)) {
    return DataLoss(Detail::kChecksum, path, 0,
                    fmt::format("the header of {} differs from its checksum", path));
  }
  const auto stored_kind = static_cast<FramedKind>(LoadLittle<uint32_t>(at + kKindAt));
  if (stored_kind != kind) {
    return DataLoss(Detail::kWrongKind, path, kKindAt,
                    fmt::format("{} is of kind {} ({}), expected {} ({})", path,
                                static_cast<uint32_t>(stored_kind), KindName(stored_kind),
                                static_cast<uint32_t>(kind), KindName(kind)));
  }
  FramedHeader header;
  header.kind = kind;
  header.version = LoadLittle<uint32_t>(at + kVersionAt);
  if (header.version == 0 || header.version > version_max) {
    return Status(Code::kVersionMismatch,
                  fmt::format("{} ({}) has format version {}, this build reads up to {}", path,
                              KindName(kind), header.version, version_max))
        .WithFile(path, kVersionAt);
  }
  if (LoadLittle<uint32_t>(at + kEndianAt) != kEndianTag ||
      LoadLittle<uint32_t>(at + kSizeAt) != kFramedHeaderBytes) {
    return DataLoss(Detail::kWrongKind, path, kEndianAt,
                    fmt::format("the header of {} has another layout", path));
  }
  std::copy_n(at + kStoreAt, header.store.size(), header.store.begin());
  header.number = LoadLittle<uint64_t>(at + kNumberAt);
  header.first_position = LoadLittle<uint64_t>(at + kFirstPositionAt);
  header.salt = LoadLittle<uint32_t>(at + kSaltAt);
  if (header.first_position == 0) {
    return DataLoss(Detail::kMiscounted, path, kFirstPositionAt,
                    fmt::format("{} begins at position 0", path));
  }
  return header;
}

void AppendRecord(std::string* out, const FramedHeader& file, uint64_t offset,
                  const FramedRecord& record) {
  const size_t begin = out->size();
  ByteWriter writer(out);
  writer.Put(static_cast<uint32_t>(record.payload.size()));
  writer.Put(record.flags);
  writer.Put(record.position);
  writer.Put(record.synced);
  writer.PutBytes(record.payload);
  writer.Put(Crc32c(AsBytes(std::string_view(*out).substr(begin)),
                    SeedOf(file, offset)));
}

std::optional<FramedRecord> DecodeRecord(std::span<const std::byte> file,
                                         const FramedHeader& header, uint64_t offset) {
  std::optional<FramedRecord> record = DecodeHead(file, offset);
  // A checksum may happen to be zero: allocated bytes are no record even then.
  if (record && (IsZeros(file.subspan(offset, kRecordFrameBytes)) ||
                 !HasValidChecksum(file, header, offset, record->end))) {
    record.reset();
  }
  return record;
}

std::optional<FramedRecord> DecodeRecordAt(std::span<const std::byte> bytes,
                                           const FramedHeader& header, uint64_t offset) {
  std::optional<FramedRecord> record = DecodeHead(bytes, 0);
  if (!record || record->end != bytes.size() || bytes.size() > UINT64_MAX - offset)
    return std::nullopt;
  const auto covered = bytes.first(bytes.size() - sizeof(uint32_t));
  if (Crc32c(covered, PlaceSeed(header.store, header.number, offset)) !=
      LoadLittle<uint32_t>(bytes.data() + covered.size())) {
    return std::nullopt;
  }
  record->end = offset + bytes.size();
  return record;
}

Result<FramedScan> ScanRecords(std::span<const std::byte> file, const FramedHeader& header,
                               const std::string& path, uint64_t limit,
                               const std::function<Status(const FramedRecord&)>& visit) {
  FramedScan scan;
  scan.next_position = header.first_position;
  scan.synced = header.first_position - 1;
  scan.end = kFramedHeaderBytes;
  while (scan.next_position < limit) {
    const std::optional<FramedRecord> record = DecodeRecord(file, header, scan.end);
    if (!record) break;
    const auto offset = static_cast<int64_t>(scan.end);
    if (record->flags > kMarkRecord) {
      return Status(Code::kVersionMismatch,
                    fmt::format("{} has a record with flags {}, this build knows up to {}", path,
                                record->flags, static_cast<uint32_t>(kMarkRecord)))
          .WithFile(path, offset);
    }
    const bool is_mark = record->flags == kMarkRecord;
    const uint64_t expected = is_mark ? scan.next_position - 1 : scan.next_position;
    if (record->position != expected || record->synced > scan.next_position - 1) {
      return DataLoss(Detail::kMiscounted, path, offset,
                      fmt::format("{} has position {} (synced {}) where {} must be", path,
                                  record->position, record->synced, expected));
    }
    scan.synced = std::max(scan.synced, record->synced);
    scan.is_closed = is_mark;
    if (!is_mark) {
      if (visit) PIGMENT_RETURN_IF_ERROR(visit(*record));
      ++scan.next_position;
    }
    scan.end = record->end;
  }
  scan.is_whole = IsZeros(file.subspan(scan.end));
  return scan;
}

Status CheckTornTail(std::span<const std::byte> file, const FramedHeader& header,
                     const std::string& path, const FramedScan& scan) {
  if (PIGMENT_PLANTED(kDamageTakenForTornTail)) return Status::Ok();
  // Payloads may imitate heads; beyond this many checksummed bytes the question is left open, which
  // is an error.
  uint64_t checksummed_bytes_left = std::max<uint64_t>(uint64_t{4} << 30, file.size());
  const uint64_t missing = scan.next_position;
  // Positions advance by one for at least a frame's bytes: no honest one lies beyond this.
  const uint64_t position_max = missing + (file.size() - scan.end) / kRecordFrameBytes;
  for (uint64_t offset = scan.end + 1; offset + kRecordFrameBytes <= file.size(); ++offset) {
    const std::optional<FramedRecord> later = DecodeHead(file, offset);
    if (!later || later->flags > kMarkRecord || later->synced < missing ||
        later->position < missing || later->position > position_max) {
      continue;
    }
    const uint64_t bytes = later->end - offset;
    const bool is_affordable = bytes <= checksummed_bytes_left;
    if (is_affordable && !HasValidChecksum(file, header, offset, later->end)) {
      checksummed_bytes_left -= bytes;
      continue;
    }
    return DataLoss(
        Detail::kChecksum, path, static_cast<int64_t>(scan.end),
        is_affordable
            ? fmt::format("{} is damaged at {}: position {} is not there, but a record at {} "
                          "proves that it was durable",
                          path, scan.end, missing, offset)
            : fmt::format("{} is damaged at {}, where position {} must be", path, scan.end,
                          missing));
  }
  return Status::Ok();
}

Result<std::string> ReadWholeFile(FileSystem* files, const std::string& path) {
  PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, files->Open(path, OpenMode::kRead));
  for (;;) {
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    std::string bytes(size, '\0');
    const Status status = file->ReadAt(0, std::as_writable_bytes(std::span(bytes)));
    if (status.ok()) return bytes;
    if (status.detail() != Detail::kTruncated) return status;
    // Its writer may have trimmed it between the two calls.
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t size_now, file->Size());
    if (size_now >= size) return status;
  }
}

Status PublishFile(FileSystem* files, const std::string& directory, const std::string& name,
                   std::string_view contents, std::unique_ptr<File>* file, bool* is_published) {
  const std::string temporary = directory + "/" + name + ".tmp";
  *is_published = false;
  const auto write = [&]() -> Status {
    Result<std::unique_ptr<File>> created = files->Open(temporary, OpenMode::kCreate);
    if (created.status().code() == Code::kAlreadyExists) {  // left behind by an attempt that failed
      PIGMENT_RETURN_IF_ERROR(files->Remove(temporary));
      created = files->Open(temporary, OpenMode::kCreate);
    }
    PIGMENT_ASSIGN_OR_RETURN(*file, std::move(created));
    PIGMENT_RETURN_IF_ERROR((*file)->WriteAt(0, AsBytes(contents)));
    const bool is_unsynced =
        PIGMENT_PLANTED(kPublishWithoutFileSync) || PIGMENT_PLANTED(kPublishSyncsAfterRename);
    if (!is_unsynced) PIGMENT_RETURN_IF_ERROR((*file)->Sync());
    file->reset();
    return files->Rename(temporary, directory + "/" + name);
  };
  if (Status status = write(); !status.ok()) {
    file->reset();
    // Best effort: the next attempt and the next open remove it as well.
    static_cast<void>(files->Remove(temporary).ok());
    return status;
  }
  *is_published = true;
  // Opened again under its own name, which is what errors are to say.
  PIGMENT_ASSIGN_OR_RETURN(*file, files->Open(directory + "/" + name, OpenMode::kReadWrite));
  if (PIGMENT_PLANTED(kPublishSyncsAfterRename)) PIGMENT_RETURN_IF_ERROR((*file)->Sync());
  if (PIGMENT_PLANTED(kPublishWithoutDirectorySync)) return Status::Ok();
  return files->SyncDirectory(directory);
}

}  // namespace pigment
