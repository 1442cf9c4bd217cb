// SPDX-License-Identifier: Apache-2.0
//
// Shelf files: see the header.

#include "engine/collection/shelf_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/planted_bugs.h"

namespace pigment {

ShelfWriter::ShelfWriter(const OwnerId& store, uint32_t file)
    : header_{.kind = FramedKind::kShelf,
              .version = kShelfVersion,
              .store = store,
              .number = file,
              .first_position = 1},
      bytes_(EncodeFramedHeader(header_)) {}

Result<ShelfPlace> ShelfWriter::Add(std::string_view payload) {
  if (payload.size() > kRecordPayloadBytesMax) {
    return BeyondLimit(limit::kRecordPayloadBytesMax,
                       fmt::format("a shelf record of {} bytes is too large", payload.size()));
  }
  const uint64_t offset = bytes_.size();
  ++position_;
  AppendRecord(&bytes_, header_, offset,
               {.position = position_, .synced = position_ - 1, .payload = AsBytes(payload)});
  return ShelfPlace{.file = static_cast<uint32_t>(header_.number),
                    .offset = offset,
                    .length = static_cast<uint32_t>(bytes_.size() - offset)};
}

Status ShelfWriter::Write(FileSystem& files, const std::string& path) const {
  PIGMENT_ASSIGN_OR_RETURN(const auto file, files.Open(path, OpenMode::kCreate));
  PIGMENT_RETURN_IF_ERROR(file->WriteAt(0, AsBytes(bytes_)));
  return PIGMENT_PLANTED(kShelfForgetsSync) ? Status::Ok() : file->Sync();
}

Result<std::string> ReadShelf(FileSystem& files, const std::string& path, const OwnerId& store,
                              const ShelfPlace& place) {
  auto file = files.Open(path, OpenMode::kRead);
  if (!file.ok()) {
    if (file.status().code() != Code::kNotFound) return file.status();
    return DataLoss(Detail::kMissing, path, -1, fmt::format("shelf {} is missing", place.file));
  }
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, (*file)->Size());
  std::vector<std::byte> head(std::min<uint64_t>(size, kFramedHeaderBytes));
  PIGMENT_RETURN_IF_ERROR((*file)->ReadAt(0, head));
  PIGMENT_ASSIGN_OR_RETURN(const FramedHeader header,
                           DecodeFramedHeader(head, FramedKind::kShelf, kShelfVersion, path));
  if (header.store != store || header.number != place.file) {
    return DataLoss(Detail::kForeign, path, 0,
                    fmt::format("{} is shelf {} of {} store, expected shelf {}", path,
                                header.number, header.store == store ? "this" : "another",
                                place.file));
  }
  const auto offset = static_cast<int64_t>(place.offset);
  if (place.offset > size || place.length > size - place.offset) {
    return DataLoss(Detail::kTruncated, path, static_cast<int64_t>(size),
                    fmt::format("shelf {} has {} bytes, the catalog names {} at {}", place.file,
                                size, place.length, place.offset));
  }
  std::vector<std::byte> bytes(place.length);
  PIGMENT_RETURN_IF_ERROR((*file)->ReadAt(place.offset, bytes));
  const auto record = DecodeRecordAt(bytes, header, place.offset);
  if (!record || record->flags != kPlainRecord) {
    return DataLoss(Detail::kChecksum, path, offset,
                    fmt::format("the record at {} of shelf {} differs from its checksum",
                                place.offset, place.file));
  }
  return std::string(AsText(record->payload));
}

Result<std::string> ReadWholeShelf(FileSystem& files, const std::string& path, const OwnerId& store,
                                   uint32_t file) {
  Result<std::string> bytes = ReadWholeFile(&files, path);
  if (bytes.status().code() == Code::kNotFound) {
    return DataLoss(Detail::kMissing, path, -1, fmt::format("shelf {} is missing", file));
  }
  PIGMENT_RETURN_IF_ERROR(bytes.status());
  PIGMENT_ASSIGN_OR_RETURN(
      const FramedHeader header,
      DecodeFramedHeader(AsBytes(*bytes), FramedKind::kShelf, kShelfVersion, path));
  if (header.store != store || header.number != file) {
    return DataLoss(Detail::kForeign, path, 0,
                    fmt::format("{} is shelf {} of {} store, expected shelf {}", path,
                                header.number, header.store == store ? "this" : "another", file));
  }
  PIGMENT_ASSIGN_OR_RETURN(const FramedScan scan,
                           ScanRecords(AsBytes(*bytes), header, path, UINT64_MAX, nullptr));
  if (scan.end == bytes->size()) return bytes;
  return DataLoss(Detail::kChecksum, path, static_cast<int64_t>(scan.end),
                  fmt::format("the record at {} of shelf {} differs from its checksum", scan.end,
                              file));
}

}  // namespace pigment
