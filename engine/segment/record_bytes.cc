// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing of the streams' contents.

#include "engine/segment/record_bytes.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>

#include "engine/base/bytes.h"

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

Status CheckPartBytes(const Record& record, size_t bytes, std::string_view what) {
  if (bytes <= std::numeric_limits<uint32_t>::max()) return Status::Ok();
  return ResourceExhausted(Detail::kLimit,
                           fmt::format("{} of \"{}\" has {} bytes, the most is {}", what, record.id,
                                       bytes, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

Result<std::string_view> IdReader::Read(uint32_t row) {
  PIGMENT_ASSIGN_OR_RETURN(const Range range, ReadRange(offsets_, row, ids_.bytes()));
  id_.clear();
  PIGMENT_RETURN_IF_ERROR(ids_.ReadStream(range.begin, range.end - range.begin, id_));
  return std::string_view(id_);
}

Status EncodeRecordBytes(const Record& record, std::string& out) {
  RecordHeader header{};
  const size_t start = out.size();
  out.append(sizeof header, '\0');
  if (record.document) {
    PIGMENT_RETURN_IF_ERROR(CheckPartBytes(record, record.document->size(), "document"));
    header.flags |= kHasDocument;
    header.document_bytes = static_cast<uint32_t>(record.document->size());
    out += *record.document;
  }
  if (record.metadata) {
    const size_t before = out.size();
    EncodeMetadata(*record.metadata, out);
    PIGMENT_RETURN_IF_ERROR(CheckPartBytes(record, out.size() - before, "metadata"));
    header.flags |= kHasMetadata;
    header.metadata_bytes = static_cast<uint32_t>(out.size() - before);
  }
  if (record.uri) {
    PIGMENT_RETURN_IF_ERROR(CheckPartBytes(record, record.uri->size(), "uri"));
    header.flags |= kHasUri;
    header.uri_bytes = static_cast<uint32_t>(record.uri->size());
    out += *record.uri;
  }
  std::memcpy(out.data() + start, &header, sizeof header);
  return Status::Ok();
}

Status ReadRecordBytes(BlockSource* source, const Root* root, uint32_t row,
                       const Segment::Fields& fields, Record& record) {
  PartCursor offsets(source, root, BlockKind::kRecordOffsets);
  PartCursor stream(source, root, BlockKind::kRecords);
  PIGMENT_ASSIGN_OR_RETURN(const Range range, ReadRange(offsets, row, stream.bytes()));
  std::string bytes;
  RecordHeader header;
  if (range.end - range.begin < sizeof header) {
    return stream.Damaged(Detail::kTruncated,
                          fmt::format("row {} has {} bytes", row, range.end - range.begin));
  }
  PIGMENT_RETURN_IF_ERROR(stream.ReadStream(range.begin, sizeof header, bytes));
  std::memcpy(&header, bytes.data(), sizeof header);
  const uint64_t sum =
      sizeof header + uint64_t{header.document_bytes} + header.metadata_bytes + header.uri_bytes;
  if (sum != range.end - range.begin) {
    return stream.Damaged(Detail::kMiscounted, fmt::format("row {} has {} bytes, its fields {}",
                                                           row, range.end - range.begin, sum));
  }
  uint64_t offset = range.begin + sizeof header;
  if (fields.document && header.flags & kHasDocument) {
    PIGMENT_RETURN_IF_ERROR(
        stream.ReadStream(offset, header.document_bytes, record.document.emplace()));
  }
  offset += header.document_bytes;
  if (fields.metadata && header.flags & kHasMetadata) {
    bytes.clear();
    PIGMENT_RETURN_IF_ERROR(stream.ReadStream(offset, header.metadata_bytes, bytes));
    Result<Metadata> metadata = DecodeMetadata(AsBytes(bytes));
    if (!metadata.ok()) {
      const Status status = metadata.status();
      return stream.Damaged(status.detail(),
                            fmt::format("metadata of row {}: {}", row, status.message()));
    }
    record.metadata = std::move(metadata).value();
  }
  offset += header.metadata_bytes;
  if (fields.uri && header.flags & kHasUri) {
    PIGMENT_RETURN_IF_ERROR(stream.ReadStream(offset, header.uri_bytes, record.uri.emplace()));
  }
  return Status::Ok();
}

}  // namespace pigment
