// SPDX-License-Identifier: Apache-2.0
//
// The stored form of a write batch, as it goes through the log. The table is in README.md.

#include "engine/record/record.h"

#include <fmt/format.h>

#include "engine/base/bytes.h"

namespace pigment {
namespace {

constexpr uint8_t kVersion = 1;
constexpr uint8_t kHasEmbeddings = 1;
constexpr uint8_t kHasDocuments = 2;
constexpr uint8_t kHasMetadatas = 4;
constexpr uint8_t kHasUris = 8;
constexpr uint8_t kAllColumns = 15;
constexpr size_t kIdBytesMin = 8;  // an id's length

void AppendText(std::string_view text, std::string& out) {
  ByteWriter(&out).Put(uint64_t{text.size()});
  out += text;
}

void AppendTexts(const std::vector<std::optional<std::string>>& texts, std::string& out) {
  for (const std::optional<std::string>& text : texts) {
    out += text ? '\1' : '\0';
    if (text) AppendText(*text, out);
  }
}

Status Damaged(const ByteReader& reader, std::string_view what) {
  if (!reader.ok()) {
    return DataLoss(Detail::kTruncated, "", -1,
                    fmt::format("write batch ends early, at byte {}", reader.position()));
  }
  return DataLoss(
      Detail::kMiscounted, "", -1,
      fmt::format("write batch is damaged: {} before byte {}", what, reader.position()));
}

// Reads the byte that says whether a value is there; false: neither 0 nor 1, or the bytes end.
bool ReadPresent(ByteReader& reader, bool* present) {
  const uint8_t byte = reader.Get<uint8_t>();
  *present = byte == 1;
  return reader.ok() && byte <= 1;
}

Status ReadTexts(ByteReader& reader, size_t rows, std::vector<std::optional<std::string>>* out) {
  if (rows > reader.remaining()) reader.Fail();  // a byte each at least
  if (!reader.ok()) return Damaged(reader, "");
  out->resize(rows);
  for (std::optional<std::string>& text : *out) {
    bool present = false;
    if (!ReadPresent(reader, &present)) return Damaged(reader, "no such presence");
    if (present) text = std::string(AsText(reader.GetBytes(reader.Get<uint64_t>())));
  }
  return reader.ok() ? Status::Ok() : Damaged(reader, "");
}

Status ReadMetadatas(ByteReader& reader, size_t rows, std::vector<std::optional<Metadata>>* out) {
  if (rows > reader.remaining()) reader.Fail();
  if (!reader.ok()) return Damaged(reader, "");
  out->resize(rows);
  for (std::optional<Metadata>& metadata : *out) {
    bool present = false;
    if (!ReadPresent(reader, &present)) return Damaged(reader, "no such presence");
    if (!present) continue;
    const std::span<const std::byte> bytes = reader.GetBytes(reader.Get<uint64_t>());
    if (!reader.ok()) return Damaged(reader, "");
    PIGMENT_ASSIGN_OR_RETURN(metadata, DecodeMetadata(bytes));
  }
  return Status::Ok();
}

Status ReadIds(ByteReader& reader, uint64_t rows, std::vector<std::string>* out) {
  if (rows > reader.remaining() / kIdBytesMin) reader.Fail();
  if (!reader.ok()) return Damaged(reader, "");
  out->reserve(rows);
  for (uint64_t i = 0; i < rows; ++i)
    out->emplace_back(AsText(reader.GetBytes(reader.Get<uint64_t>())));
  return reader.ok() ? Status::Ok() : Damaged(reader, "");
}

Status ReadEmbeddings(ByteReader& reader, WriteBatch* batch) {
  const uint64_t bytes_per_row = uint64_t{batch->dimension} * sizeof(float);
  if (bytes_per_row == 0) return Damaged(reader, "embeddings without a dimension");
  // The quotient first: the product could wrap.
  if (batch->ids.size() > reader.remaining() / bytes_per_row) reader.Fail();
  const std::span<const std::byte> bytes = reader.GetBytes(batch->ids.size() * bytes_per_row);
  if (!reader.ok()) return Damaged(reader, "");
  batch->embeddings.resize(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(batch->embeddings.data(), bytes.data(), bytes.size());
  return Status::Ok();
}

}  // namespace

uint32_t InsertedDimension(std::span<const std::byte> encoded) {
  ByteReader reader(encoded);
  const auto version = reader.Get<uint8_t>();
  const auto kind = static_cast<WriteKind>(reader.Get<uint8_t>());
  const auto columns = reader.Get<uint8_t>();
  (void)reader.Get<uint8_t>();
  const auto dimension = reader.Get<uint32_t>();
  const bool inserts = kind == WriteKind::kAdd || kind == WriteKind::kUpsert;
  const bool has_rows = reader.Get<uint64_t>() > 0;
  return reader.ok() && version == kVersion && inserts && has_rows &&
                 (columns & kHasEmbeddings) != 0
             ? dimension
             : 0;
}

void EncodeWriteBatch(const WriteBatch& batch, std::string& out) {
  ByteWriter(&out).Put(kVersion);
  ByteWriter(&out).Put(static_cast<uint8_t>(batch.kind));
  const int columns = (batch.embeddings.empty() ? 0 : kHasEmbeddings) |
                      (batch.documents.empty() ? 0 : kHasDocuments) |
                      (batch.metadatas.empty() ? 0 : kHasMetadatas) |
                      (batch.uris.empty() ? 0 : kHasUris);
  ByteWriter(&out).Put(static_cast<uint8_t>(columns));
  ByteWriter(&out).Put(uint8_t{0});
  ByteWriter(&out).Put(batch.dimension);
  ByteWriter(&out).Put(uint64_t{batch.ids.size()});
  for (const std::string& id : batch.ids) AppendText(id, out);
  out.append(reinterpret_cast<const char*>(batch.embeddings.data()),
             batch.embeddings.size() * sizeof(float));
  AppendTexts(batch.documents, out);
  std::string encoded;
  for (const std::optional<Metadata>& metadata : batch.metadatas) {
    out += metadata ? '\1' : '\0';
    if (!metadata) continue;
    encoded.clear();
    EncodeMetadata(*metadata, encoded);
    AppendText(encoded, out);
  }
  AppendTexts(batch.uris, out);
}

Result<WriteBatch> DecodeWriteBatch(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const uint8_t version = reader.Get<uint8_t>();
  const uint8_t kind = reader.Get<uint8_t>();
  const uint8_t columns = reader.Get<uint8_t>();
  const uint8_t reserved = reader.Get<uint8_t>();
  WriteBatch batch;
  batch.dimension = reader.Get<uint32_t>();
  const uint64_t rows = reader.Get<uint64_t>();
  if (!reader.ok()) return Damaged(reader, "");
  if (version != kVersion) {
    return Status(Code::kVersionMismatch,
                  fmt::format("write batch has version {}, this library reads version {}", version,
                              kVersion));
  }
  if (kind < static_cast<uint8_t>(WriteKind::kAdd) ||
      kind > static_cast<uint8_t>(WriteKind::kDelete)) {
    return Damaged(reader, "no such kind of write");
  }
  batch.kind = static_cast<WriteKind>(kind);
  if (reserved != 0 || (columns & ~kAllColumns) != 0) return Damaged(reader, "no such column");
  PIGMENT_RETURN_IF_ERROR(ReadIds(reader, rows, &batch.ids));
  if (columns & kHasEmbeddings) PIGMENT_RETURN_IF_ERROR(ReadEmbeddings(reader, &batch));
  if (columns & kHasDocuments) PIGMENT_RETURN_IF_ERROR(ReadTexts(reader, rows, &batch.documents));
  if (columns & kHasMetadatas)
    PIGMENT_RETURN_IF_ERROR(ReadMetadatas(reader, rows, &batch.metadatas));
  if (columns & kHasUris) PIGMENT_RETURN_IF_ERROR(ReadTexts(reader, rows, &batch.uris));
  if (reader.remaining() != 0) return Damaged(reader, "bytes are left over");
  return batch;
}

}  // namespace pigment
