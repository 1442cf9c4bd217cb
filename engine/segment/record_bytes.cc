// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing of the streams' contents.

#include "engine/segment/record_bytes.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>

#include "engine/base/bytes.h"
#include "engine/base/planted_bugs.h"

namespace pigment {
namespace {

struct Range {
  uint64_t begin;
  uint64_t end;
};

// Where a row's bytes lie; within the stream's end, which `stream_bytes` is.
Result<Range> ReadRange(PartCursor& offsets, uint32_t row, uint64_t stream_bytes) {
  std::array<uint64_t, 2> ends;
  PIGMENT_RETURN_IF_ERROR(offsets.ReadElements(row, std::span<uint64_t>(ends)));
  if (ends[0] > ends[1] || ends[1] > stream_bytes) {
    return offsets.Damaged(Detail::kMiscounted, fmt::format("row {} lies at {} to {} of {}", row,
                                                            ends[0], ends[1], stream_bytes));
  }
  return Range{ends[0], ends[1]};
}

Status CheckText(std::string_view id, const std::optional<std::string_view>& text,
                 std::string_view what) {
  if (!text || text->size() <= std::numeric_limits<uint32_t>::max()) return Status::Ok();
  return ResourceExhausted(Detail::kLimit,
                           fmt::format("{} of \"{}\" has {} bytes, the most is {}", what, id,
                                       text->size(), std::numeric_limits<uint32_t>::max()));
}

uint32_t SizeOf(const std::optional<std::string_view>& text) {
  return text ? static_cast<uint32_t>(text->size()) : 0;
}

}  // namespace

Result<std::string_view> IdReader::Read(uint32_t row) {
  PIGMENT_ASSIGN_OR_RETURN(const Range range, ReadRange(offsets_, row, ids_.bytes()));
  id_.clear();
  PIGMENT_RETURN_IF_ERROR(ids_.ReadStream(range.begin, range.end - range.begin, id_));
  return std::string_view(id_);
}

Status WriteRecordTexts(std::string_view id, const RecordTexts& texts, PartWriter* records,
                        DocumentWriter* documents) {
  PIGMENT_RETURN_IF_ERROR(CheckText(id, texts.document, "document"));
  PIGMENT_RETURN_IF_ERROR(CheckText(id, texts.metadata, "metadata"));
  PIGMENT_RETURN_IF_ERROR(CheckText(id, texts.uri, "uri"));
  RecordHeader header{};
  header.flags = (texts.document ? kHasDocument : 0) | (texts.metadata ? kHasMetadata : 0) |
                 (texts.uri ? kHasUri : 0);
  header.document_bytes = SizeOf(texts.document);
  header.metadata_bytes = SizeOf(texts.metadata);
  header.uri_bytes = SizeOf(texts.uri);
  header.document_offset = documents->bytes();
  if (PIGMENT_PLANTED(kDocumentBeginsAtItsEnd)) header.document_offset += header.document_bytes;
  if (PIGMENT_PLANTED(kEmptyDocumentIsForgotten) && header.document_bytes == 0)
    header.flags &= ~kHasDocument;
  PIGMENT_RETURN_IF_ERROR(
      records->AddStream({reinterpret_cast<const char*>(&header), sizeof header}));
  if (texts.metadata) PIGMENT_RETURN_IF_ERROR(records->AddStream(*texts.metadata));
  if (texts.uri) PIGMENT_RETURN_IF_ERROR(records->AddStream(*texts.uri));
  return texts.document ? documents->Add(*texts.document) : Status::Ok();
}

Result<RecordReader::Place> RecordReader::Find(uint32_t row) {
  PIGMENT_ASSIGN_OR_RETURN(const Range range, ReadRange(offsets_, row, stream_.bytes()));
  const bool is_first_version = root_->format == 1;
  const size_t header_bytes = is_first_version ? kRecordHeaderBytes1 : sizeof(RecordHeader);
  Place place{{}, range.begin + header_bytes, range.end};
  if (range.end - range.begin < header_bytes) {
    return stream_.Damaged(Detail::kTruncated,
                           fmt::format("row {} has {} bytes", row, range.end - range.begin));
  }
  std::array<std::byte, sizeof(RecordHeader)> bytes;
  PIGMENT_RETURN_IF_ERROR(
      stream_.CopyStream(range.begin, std::span(bytes).first(header_bytes)));
  std::memcpy(&place.header, bytes.data(), header_bytes);
  const uint64_t sum = uint64_t{place.header.metadata_bytes} + place.header.uri_bytes +
                       (is_first_version ? place.header.document_bytes : 0);
  if (sum != place.end - place.begin) {
    return stream_.Damaged(Detail::kMiscounted,
                           fmt::format("row {} has {} bytes, its fields {}", row,
                                       place.end - place.begin, sum));
  }
  return place;
}

Result<std::string_view> RecordReader::ReadBytes(uint64_t offset, uint32_t size, std::string& to) {
  to.clear();
  PIGMENT_RETURN_IF_ERROR(stream_.ReadStream(offset, size, to));
  return std::string_view(to);
}

Result<RecordTexts> RecordReader::Read(uint32_t row, const Segment::Fields& fields) {
  PIGMENT_ASSIGN_OR_RETURN(const Place place, Find(row));
  const RecordHeader& header = place.header;
  RecordTexts texts;
  uint64_t offset = place.begin;
  if (root_->format == 1) {
    if (fields.document && header.flags & kHasDocument) {
      PIGMENT_ASSIGN_OR_RETURN(texts.document,
                               ReadBytes(offset, header.document_bytes, document_));
    }
    offset += header.document_bytes;
  } else if (fields.document && header.flags & kHasDocument) {
    PIGMENT_ASSIGN_OR_RETURN(texts.document,
                             documents_.Read(header.document_offset, header.document_bytes));
  }
  if (fields.metadata && header.flags & kHasMetadata) {
    PIGMENT_ASSIGN_OR_RETURN(texts.metadata, ReadBytes(offset, header.metadata_bytes, metadata_));
  }
  offset += header.metadata_bytes;
  if (fields.uri && header.flags & kHasUri) {
    PIGMENT_ASSIGN_OR_RETURN(texts.uri, ReadBytes(offset, header.uri_bytes, uri_));
  }
  return texts;
}

Status RecordReader::ReadInto(uint32_t row, const Segment::Fields& fields, Record& record) {
  PIGMENT_ASSIGN_OR_RETURN(const RecordTexts texts, Read(row, fields));
  if (texts.document) record.document = std::string(*texts.document);
  if (texts.uri) record.uri = std::string(*texts.uri);
  if (!texts.metadata) return Status::Ok();
  Result<Metadata> metadata = DecodeMetadata(AsBytes(*texts.metadata));
  if (!metadata.ok()) return DamagedMetadata(row, metadata.status());
  record.metadata = std::move(metadata).value();
  return Status::Ok();
}

Status RecordReader::AppendMetadataJson(uint32_t row, std::string_view stored,
                                        std::string& out) const {
  const Status status = StoredMetadataToJson(AsBytes(stored), out);
  return status.ok() ? status : DamagedMetadata(row, status);
}

Status RecordReader::DamagedMetadata(uint32_t row, const Status& status) const {
  return stream_.Damaged(status.detail(),
                         fmt::format("metadata of row {}: {}", row, status.message()));
}

}  // namespace pigment
