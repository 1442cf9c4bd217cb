// SPDX-License-Identifier: Apache-2.0
//
// Deletions files: see the header.

#include "engine/collection/deletions_file.h"

#include <fmt/format.h>

#include <bit>
#include <string_view>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/base/planted_bugs.h"

namespace pigment {

namespace {

constexpr std::string_view kMagic("PIGDEL\r\n", 8);
constexpr uint64_t kHeaderBytes = 48;
constexpr uint64_t kChecksumBytes = 4;

Result<std::vector<std::byte>> ReadWhole(FileSystem& files, const std::string& path,
                                         uint64_t expected_bytes) {
  auto file = files.Open(path, OpenMode::kRead);
  if (!file.ok()) {
    if (file.status().code() != Code::kNotFound) return file.status();
    return DataLoss(Detail::kMissing, path, -1, "the deletions that the catalog names are missing");
  }
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, (*file)->Size());
  if (size != expected_bytes) {
    return DataLoss(Detail::kTruncated, path, static_cast<int64_t>(size),
                    fmt::format("deletions of {} bytes, {} expected", size, expected_bytes));
  }
  std::vector<std::byte> bytes(size);
  PIGMENT_RETURN_IF_ERROR((*file)->ReadAt(0, bytes));
  return bytes;
}

}  // namespace

uint64_t DeletionsFileBytes(uint32_t rows) {
  return kHeaderBytes + (uint64_t{rows} + 63) / 64 * 8 + kChecksumBytes;
}

Status WriteDeletionsFile(FileSystem& files, const std::string& path, const DeletionsPlace& place,
                          const RowBitmap& deleted) {
  std::string bytes;
  bytes.reserve(DeletionsFileBytes(place.rows));
  ByteWriter writer(&bytes);
  writer.PutBytes(AsBytes(kMagic));
  writer.Put(kDeletionsFormat);
  writer.Put(uint16_t{0});
  writer.Put(place.segment);
  writer.PutBytes(place.store);
  writer.Put(place.version);
  writer.Put(place.rows);
  writer.Put(static_cast<uint32_t>(deleted.Count()));
  for (uint32_t word = 0; word < deleted.words(); ++word) writer.Put(deleted.Word(word));
  writer.Put(Crc32c(AsBytes(bytes)));
  PIGMENT_ASSIGN_OR_RETURN(auto file, files.Open(path, OpenMode::kCreate));
  PIGMENT_RETURN_IF_ERROR(file->WriteAt(0, AsBytes(bytes)));
  return PIGMENT_PLANTED(kDeletionsNotSynced) ? Status::Ok() : file->Sync();
}

Result<RowBitmap> ReadDeletionsFile(FileSystem& files, const std::string& path,
                                    const DeletionsPlace& expected) {
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                           ReadWhole(files, path, DeletionsFileBytes(expected.rows)));
  const std::span<const std::byte> all(bytes);
  if (AsText(all.first(kMagic.size())) != kMagic) {
    return DataLoss(Detail::kWrongKind, path, 0, "not a deletions file");
  }
  ByteReader reader(all.subspan(kMagic.size()));
  const auto format = reader.Get<uint16_t>();
  if (format > kDeletionsFormat) {
    return Status(Code::kVersionMismatch,
                  fmt::format("deletions file \"{}\" has format {}, this library reads up to {}",
                              path, format, kDeletionsFormat))
        .WithFile(path, static_cast<int64_t>(kMagic.size()));
  }
  const uint64_t body_bytes = bytes.size() - kChecksumBytes;
  if (Crc32c(all.first(body_bytes)) != LoadLittle<uint32_t>(all.data() + body_bytes)) {
    return DataLoss(Detail::kChecksum, path, 0, "deletions differ from their checksum");
  }
  (void)reader.Get<uint16_t>();
  const auto segment = reader.Get<uint32_t>();
  const auto store = reader.GetBytes(expected.store.size());
  const auto version = reader.Get<uint64_t>();
  const auto rows = reader.Get<uint32_t>();
  const auto deleted_rows = reader.Get<uint32_t>();
  if (segment != expected.segment || version != expected.version || rows != expected.rows ||
      !std::equal(store.begin(), store.end(), expected.store.begin(), expected.store.end())) {
    return DataLoss(Detail::kForeign, path, 0, "deletions of another segment or store");
  }
  std::vector<uint64_t> words((uint64_t{rows} + 63) / 64);
  uint64_t count = 0;
  for (uint64_t& word : words) {
    word = reader.Get<uint64_t>();
    count += static_cast<uint64_t>(std::popcount(word));
  }
  const bool overhang = rows % 64 != 0 && (words.back() >> (rows % 64)) != 0;
  if (!reader.ok() || count != deleted_rows || overhang) {
    return DataLoss(Detail::kMiscounted, path, 44,
                    fmt::format("{} deleted rows are stated, {} are there", deleted_rows, count));
  }
  return RowBitmap::FromWords(rows, words);
}

}  // namespace pigment
