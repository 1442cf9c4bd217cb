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
//   16     8    where the document begins among the documents (see documents.h)
//   24     …    metadata as EncodeMetadata writes it, then the uri
// In version 1 there is no offset: document, metadata and uri follow at 16.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/segment/documents.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/segment.h"

namespace pigment {

inline constexpr uint32_t kHasDocument = 1;
inline constexpr uint32_t kHasMetadata = 2;
inline constexpr uint32_t kHasUri = 4;
inline constexpr size_t kRecordHeaderBytes1 = 16;  // of version 1: without the last member

struct RecordHeader {
  uint32_t flags;
  uint32_t document_bytes;
  uint32_t metadata_bytes;
  uint32_t uri_bytes;
  uint64_t document_offset;
};
static_assert(sizeof(RecordHeader) == 24);

class IdReader {
 public:
  IdReader(BlockSource* source, const Root* root)
      : offsets_(source, root, BlockKind::kIdOffsets), ids_(source, root, BlockKind::kIds) {}

  // The id of a row; a view that the next call ends.
  Result<std::string_view> Read(uint32_t row);
  // It is likely to be read soon.
  void Expect(uint32_t row) { offsets_.ExpectElement(row, sizeof(uint64_t)); }

 private:
  PartCursor offsets_;
  PartCursor ids_;
  std::string id_;
};

// What a record holds besides id, ordinal and embedding; metadata as EncodeMetadata writes it.
struct RecordTexts {
  std::optional<std::string_view> document;
  std::optional<std::string_view> metadata;
  std::optional<std::string_view> uri;
};

// Appends header and texts to the part; the document goes to `documents`. A text of 4 GiB or more:
// kResourceExhausted, Detail::kLimit, naming the id.
Status WriteRecordTexts(std::string_view id, const RecordTexts& texts, PartWriter* records,
                        DocumentWriter* documents);

class RecordReader {
 public:
  RecordReader(BlockSource* source, const Root* root)
      : root_(root),
        offsets_(source, root, BlockKind::kRecordOffsets),
        stream_(source, root, BlockKind::kRecords),
        documents_(source, root) {}

  // The texts that are asked for, reading no bytes of the others; views that the next call ends.
  Result<RecordTexts> Read(uint32_t row, const Segment::Fields& fields);
  // As Read, decoded into `record`.
  Status ReadInto(uint32_t row, const Segment::Fields& fields, Record& record);
  // Metadata as Read gave it as JSON; what is wrong with it is damage of the row.
  Status AppendMetadataJson(uint32_t row, std::string_view stored, std::string& out) const;
  // The header and where its bytes begin and end in the stream, checked against each other.
  struct Place {
    RecordHeader header;
    uint64_t begin;  // of what follows the header
    uint64_t end;
  };
  Result<Place> Find(uint32_t row);

 private:
  Result<std::string_view> ReadBytes(uint64_t offset, uint32_t size, std::string& to);
  Status DamagedMetadata(uint32_t row, const Status& status) const;

  const Root* const root_;
  PartCursor offsets_;
  PartCursor stream_;
  DocumentReader documents_;
  std::string document_;  // of version 1
  std::string metadata_;
  std::string uri_;
};

}  // namespace pigment
