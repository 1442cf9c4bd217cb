// SPDX-License-Identifier: Apache-2.0
//
// ShelvedTail as bytes: see the header.

#include "engine/collection/shelved_tail.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/planted_bugs.h"

namespace pigment {
namespace {

constexpr uint8_t kHasDocument = 1;
constexpr uint8_t kHasMetadata = 2;
constexpr uint8_t kHasUri = 4;
constexpr size_t kRecordBytesMin = 8 + 4 + 1;

Status Damaged(const ByteReader& reader) {
  return DataLoss(Detail::kMiscounted, "", -1,
                  fmt::format("a shelf record makes no sense at byte {}", reader.position()));
}

void Encode(const Record& record, std::string* out) {
  ByteWriter writer(out);
  writer.Put(PIGMENT_PLANTED(kShelfForgetsOrdinals) ? uint64_t{1} : record.ordinal);
  writer.PutText(record.id);
  writer.PutBytes(std::as_bytes(std::span(record.embedding)));
  writer.Put(static_cast<uint8_t>((record.document ? kHasDocument : 0) |
                                  (record.metadata ? kHasMetadata : 0) |
                                  (record.uri ? kHasUri : 0)));
  if (record.document) writer.PutText(*record.document);
  if (record.metadata) {
    std::string metadata;
    EncodeMetadata(*record.metadata, metadata);
    writer.PutText(metadata);
  }
  if (record.uri) writer.PutText(*record.uri);
}

Result<Record> Decode(ByteReader& reader, uint32_t dimension) {
  Record record;
  record.ordinal = reader.Get<uint64_t>();
  record.id = reader.GetText();
  const auto embedding = reader.GetBytes(uint64_t{dimension} * sizeof(float));
  if (!reader.ok()) return Damaged(reader);
  record.embedding.resize(dimension);
  if (!embedding.empty()) std::memcpy(record.embedding.data(), embedding.data(), embedding.size());
  const auto flags = reader.Get<uint8_t>();
  if ((flags & ~(kHasDocument | kHasMetadata | kHasUri)) != 0) return Damaged(reader);
  if ((flags & kHasDocument) != 0) record.document = std::string(reader.GetText());
  if ((flags & kHasMetadata) != 0) {
    const std::string_view metadata = reader.GetText();
    if (!reader.ok()) return Damaged(reader);
    PIGMENT_ASSIGN_OR_RETURN(record.metadata, DecodeMetadata(AsBytes(metadata)));
  }
  if ((flags & kHasUri) != 0) record.uri = std::string(reader.GetText());
  if (!reader.ok()) return Damaged(reader);
  return record;
}

}  // namespace

std::string EncodeShelvedTail(const ShelvedTail& tail) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Put(tail.dimension);
  writer.Put(static_cast<uint32_t>(tail.erased.size()));
  for (const std::string& id : tail.erased) writer.PutText(id);
  writer.Put(static_cast<uint32_t>(tail.records.size()));
  for (const auto& record : tail.records) Encode(*record, &bytes);
  return bytes;
}

Result<ShelvedTail> DecodeShelvedTail(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  ShelvedTail tail;
  tail.dimension = reader.Get<uint32_t>();
  const uint32_t erased = reader.GetCount(sizeof(uint32_t));
  tail.erased.reserve(erased);
  for (uint32_t i = 0; i < erased; ++i) tail.erased.emplace_back(reader.GetText());
  const uint32_t records = reader.GetCount(kRecordBytesMin);
  tail.records.reserve(records);
  for (uint32_t i = 0; i < records; ++i) {
    PIGMENT_ASSIGN_OR_RETURN(Record record, Decode(reader, tail.dimension));
    tail.records.push_back(std::make_shared<const Record>(std::move(record)));
  }
  if (!reader.ok() || !reader.at_end()) return Damaged(reader);
  return tail;
}

}  // namespace pigment
