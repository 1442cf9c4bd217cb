// SPDX-License-Identifier: Apache-2.0
//
// Ids and records inside a segment's byte streams. One thread each.
//
// A record in the kRecords stream:
//   offset size meaning
//   0      4    flags: 1 it has a document, 2 metadata, 4 a uri
//   4      4    bytes of the document
//   8      4    bytes of the metadata
//   12     4    bytes of the uri
//   16     …    the three, in this order; metadata as EncodeMetadata writes it

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/record/record.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/segment.h"

namespace pigment {

inline constexpr uint32_t kHasDocument = 1;
inline constexpr uint32_t kHasMetadata = 2;
inline constexpr uint32_t kHasUri = 4;

struct RecordHeader {
  uint32_t flags;
  uint32_t document_bytes;
  uint32_t metadata_bytes;
  uint32_t uri_bytes;
};
static_assert(sizeof(RecordHeader) == 16);

class IdReader {
 public:
  IdReader(BlockSource* source, const Root* root)
      : offsets_(source, root, BlockKind::kIdOffsets), ids_(source, root, BlockKind::kIds) {}

  // The id of a row; a view that the next call ends.
  Result<std::string_view> Read(uint32_t row);

 private:
  PartCursor offsets_;
  PartCursor ids_;
  std::string id_;
};

// Appends to `out`. A part of 4 GiB or more: kResourceExhausted, Detail::kLimit, naming the id.
Status EncodeRecordBytes(const Record& record, std::string& out);

// Fills the fields of `record` that are asked for, reading no bytes of the others.
Status ReadRecordBytes(BlockSource* source, const Root* root, uint32_t row,
                       const Segment::Fields& fields, Record& record);

}  // namespace pigment
