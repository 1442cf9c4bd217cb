// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing of the streams' contents.

#include "engine/segment/record_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "engine/base/bytes.h"
#include "engine/base/planted_bugs.h"
#include "engine/record/short_metadata.h"

namespace pigment {
namespace {

constexpr std::byte kIsShort{0x80};

Status CheckText(std::string_view id, const std::optional<std::string_view>& text,
                 std::string_view what) {
  if (!text || text->size() <= std::numeric_limits<uint32_t>::max()) return Status::Ok();
  return ResourceExhausted(Detail::kLimit,
                           fmt::format("{} of \"{}\" has {} bytes, the most is {}", what, id,
                                       text->size(), std::numeric_limits<uint32_t>::max()));
}

bool ReadFixed(ByteReader& reader, bool is_first_version, RecordHeader& header) {
  header.flags = reader.Get<uint32_t>();
  header.document_bytes = reader.Get<uint32_t>();
  header.metadata_bytes = reader.Get<uint32_t>();
  header.uri_bytes = reader.Get<uint32_t>();
  if (!is_first_version) header.document_offset = reader.Get<uint64_t>();
  return reader.ok();
}

// Of a record of `size` bytes.
bool ReadShort(ByteReader& reader, uint64_t size, RecordHeader& header) {
  header.flags = reader.Get<uint8_t>();
  const bool has_metadata = (header.flags & kHasMetadata) != 0;
  const bool has_uri = (header.flags & kHasUri) != 0;
  uint64_t document = 0;
  if ((header.flags & kHasDocument) != 0) {
    document = reader.GetVarint();
    header.document_offset = reader.GetVarint();
  }
  const uint64_t said = has_metadata && has_uri ? reader.GetVarint() : 0;
  const uint64_t texts = size - reader.position();
  const uint64_t metadata = !has_metadata ? 0 : has_uri ? said : texts;
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  if (!reader.ok() || document > kMost || texts > 2 * kMost || metadata > std::min(texts, kMost))
    return false;
  const uint64_t uri = has_uri ? texts - metadata : 0;
  header.document_bytes = static_cast<uint32_t>(document);
  header.metadata_bytes = static_cast<uint32_t>(metadata);
  header.uri_bytes = static_cast<uint32_t>(uri);
  return uri <= kMost;
}

uint32_t SizeOf(const std::optional<std::string_view>& text) {
  return text ? static_cast<uint32_t>(text->size()) : 0;
}

}  // namespace

Status PlaceWriter::Add(const PartWriter& stream, PartWriter* places) {
  const uint64_t size = stream.bytes() - end_;
  if (size > std::numeric_limits<uint32_t>::max()) {
    return ResourceExhausted(Detail::kLimit, fmt::format("a row has {} bytes, the most is {}", size,
                                                         std::numeric_limits<uint32_t>::max()));
  }
  if (rows_ == 0) open_ = {end_, {}};
  open_.sizes[rows_++] = static_cast<uint32_t>(size);
  end_ = stream.bytes();
  return rows_ == kRowsPerPlaces ? Put(places) : Status::Ok();
}

Status PlaceWriter::Put(PartWriter* places) {
  rows_ = 0;
  return places->Add(open_);
}

Result<ByteRange> PlaceReader::Read(uint32_t row, uint64_t stream_bytes) {
  std::array<uint64_t, 2> range;
  if (are_offsets_) {
    PIGMENT_RETURN_IF_ERROR(part_.ReadElements(row, std::span<uint64_t>(range)));
  } else {
    RowPlaces places;  // read where it stays: moving it on waits for what was just written
    PIGMENT_RETURN_IF_ERROR(part_.ReadElements(row / kRowsPerPlaces, std::span(&places, 1)));
    const uint32_t within = row % kRowsPerPlaces;
    range[0] = places.begin;
    for (uint32_t i = 0; i < kRowsPerPlaces; ++i)  // all: then no branch is mispredicted
      range[0] += i < within ? places.sizes[i] : 0;
    range[1] = range[0] + places.sizes[within];
  }
  if (range[0] <= range[1] && range[1] <= stream_bytes) return ByteRange{range[0], range[1]};
  return part_.Damaged(Detail::kMiscounted, fmt::format("row {} lies at {} to {} of {}", row,
                                                        range[0], range[1], stream_bytes));
}

Status PlaceReader::Verify(uint32_t rows, uint64_t stream_bytes) {
  uint64_t end = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    PIGMENT_ASSIGN_OR_RETURN(const ByteRange range, Read(row, stream_bytes));
    if (range.begin != end) {
      return part_.Damaged(
          Detail::kMiscounted,
          fmt::format("row {} begins at {}, the one before ends at {}", row, range.begin, end));
    }
    end = range.end;
  }
  if (end == stream_bytes) return Status::Ok();
  return part_.Damaged(Detail::kMiscounted,
                       fmt::format("rows end at {} of {}", end, stream_bytes));
}

Result<uint64_t> OrdinalReader::Read(uint32_t row) {
  if (!are_in_a_row_) return part_.ReadElement<uint64_t>(row);
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t first, part_.ReadElement<uint64_t>(0));
  return first + row;
}

Status OrdinalReader::ReadMany(uint32_t first, std::span<uint64_t> out) {
  if (!are_in_a_row_) return part_.ReadElements(first, out);
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t ordinal, Read(first));
  std::iota(out.begin(), out.end(), ordinal);
  return Status::Ok();
}

Result<std::string_view> IdReader::Read(uint32_t row) {
  PIGMENT_ASSIGN_OR_RETURN(const ByteRange range, places_.Read(row, ids_.bytes()));
  return ids_.ViewStream(range.begin, range.end - range.begin, id_);
}

Status WriteRecordTexts(std::string_view id, const RecordTexts& texts, PartWriter* records,
                        DocumentWriter* documents) {
  PIGMENT_RETURN_IF_ERROR(CheckText(id, texts.document, "document"));
  PIGMENT_RETURN_IF_ERROR(CheckText(id, texts.metadata, "metadata"));
  PIGMENT_RETURN_IF_ERROR(CheckText(id, texts.uri, "uri"));
  uint64_t document_offset = documents->bytes();
  if (PIGMENT_PLANTED(kDocumentBeginsAtItsEnd)) document_offset += SizeOf(texts.document);
  const bool is_forgotten =
      PIGMENT_PLANTED(kEmptyDocumentIsForgotten) && SizeOf(texts.document) == 0;
  const bool has_document = texts.document && !is_forgotten;
  std::string shortened;
  const bool is_short = texts.metadata && ShortenMetadata(AsBytes(*texts.metadata), shortened) &&
                        shortened.size() < texts.metadata->size();
  const std::optional<std::string_view> metadata = is_short ? shortened : texts.metadata;
  std::string header;
  ByteWriter writer(&header);
  writer.Put(static_cast<uint8_t>(std::to_integer<uint32_t>(kIsShort) |
                                  (has_document ? kHasDocument : 0) |
                                  (metadata ? kHasMetadata : 0) |
                                  (is_short ? kHasShortMetadata : 0) |
                                  (texts.uri ? kHasUri : 0)));
  if (has_document) {
    writer.PutVarint(texts.document->size());
    writer.PutVarint(document_offset);
  }
  if (metadata && texts.uri) writer.PutVarint(metadata->size());
  PIGMENT_RETURN_IF_ERROR(records->AddStream(header));
  if (metadata) PIGMENT_RETURN_IF_ERROR(records->AddStream(*metadata));
  if (texts.uri) PIGMENT_RETURN_IF_ERROR(records->AddStream(*texts.uri));
  return texts.document ? documents->Add(*texts.document) : Status::Ok();
}

bool RecordReader::ReadHeader(std::span<const std::byte> bytes, Place& place) const {
  ByteReader reader(bytes);
  const uint64_t size = place.end - place.begin;
  const bool is_first_version = root_->format == 1;
  const bool is_short = !bytes.empty() && std::to_integer<uint32_t>(bytes[0] & kIsShort) != 0;
  if (is_short ? is_first_version || !ReadShort(reader, size, place.header)
               : !ReadFixed(reader, is_first_version, place.header))
    return false;
  place.begin += reader.position();
  const RecordHeader& header = place.header;
  return uint64_t{header.metadata_bytes} + header.uri_bytes +
             (is_first_version ? header.document_bytes : 0) ==
         size - reader.position();
}

Result<RecordReader::Place> RecordReader::Find(uint32_t row) {
  constexpr uint64_t kHeaderBytesMax = 24;
  PIGMENT_ASSIGN_OR_RETURN(const ByteRange range, places_.Read(row, stream_.bytes()));
  std::array<std::byte, kHeaderBytesMax> bytes;
  const auto some = std::span(bytes).first(
      static_cast<size_t>(std::min(range.end - range.begin, kHeaderBytesMax)));
  PIGMENT_RETURN_IF_ERROR(stream_.CopyStream(range.begin, some));
  Place place{{}, range.begin, range.end};
  if (ReadHeader(some, place)) return place;
  return stream_.Damaged(
      Detail::kMiscounted,
      fmt::format("row {} has {} bytes, which its header is not of", row, range.end - range.begin));
}

Result<std::string_view> RecordReader::ReadBytes(uint64_t offset, uint32_t size, std::string& to) {
  to.clear();
  PIGMENT_RETURN_IF_ERROR(stream_.ReadStream(offset, size, to));
  return std::string_view(to);
}

Result<std::string_view> RecordReader::ReadMetadata(uint32_t row, const Place& place) {
  const uint64_t offset =
      place.begin + (root_->format == 1 ? uint64_t{place.header.document_bytes} : 0);
  const uint32_t size = place.header.metadata_bytes;
  if ((place.header.flags & kHasShortMetadata) == 0) return ReadBytes(offset, size, metadata_);
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view shortened,
                           stream_.ViewStream(offset, size, short_metadata_));
  metadata_.clear();
  if (LengthenMetadata(AsBytes(shortened), metadata_)) return std::string_view(metadata_);
  return stream_.Damaged(
      Detail::kMiscounted,
      fmt::format("{} bytes of row {} are no shortened metadata", size, row));
}

Result<RecordTexts> RecordReader::Read(uint32_t row, const Segment::Fields& fields) {
  PIGMENT_ASSIGN_OR_RETURN(const Place place, Find(row));
  const RecordHeader& header = place.header;
  RecordTexts texts;
  uint64_t offset = place.begin;
  if (root_->format == 1) {
    if (fields.document && header.flags & kHasDocument) {
      PIGMENT_ASSIGN_OR_RETURN(texts.document, ReadBytes(offset, header.document_bytes, document_));
    }
    offset += header.document_bytes;
  } else if (fields.document && header.flags & kHasDocument) {
    PIGMENT_ASSIGN_OR_RETURN(texts.document,
                             documents_.Read(header.document_offset, header.document_bytes));
  }
  if (fields.metadata && header.flags & kHasMetadata) {
    PIGMENT_ASSIGN_OR_RETURN(texts.metadata, ReadMetadata(row, place));
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
