// SPDX-License-Identifier: Apache-2.0
//
// Ids and records inside a segment's byte streams. One thread each.
//
// A record in the kRecords stream:
//   u8      flags: 1 it has a document, 2 metadata, 4 a uri, 8 the metadata is shortened; 128
//   with a document:
//     varint  its bytes
//     varint  where it begins among the documents (see documents.h)
//   with metadata and a uri:
//     varint  bytes of the metadata
//   metadata as EncodeMetadata writes it, or as ShortenMetadata makes it, then the uri
// Where the first byte has no 128, a header of fixed size precedes metadata and uri: u32 flags, u32
// bytes of the document, of the metadata and of the uri, u64 where the document begins. In version
// 1 there is no such place: document, metadata and uri follow one another.
//
// Where ids and records lie is said for 16 rows together (RowPlaces). Before 0.2 was released there
// was a u64 for each row instead, and one for the end of the last; these are read.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/segment/documents.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/segment.h"

namespace pigment {

inline constexpr uint32_t kHasDocument = 1;
inline constexpr uint32_t kHasMetadata = 2;
inline constexpr uint32_t kHasUri = 4;
inline constexpr uint32_t kHasShortMetadata = 8;

// An element of kIdOffsets and kRecordOffsets: where the first of some rows begins in the stream,
// and how many bytes each has; the next begins where one ends.
inline constexpr uint32_t kRowsPerPlaces = 16;
struct RowPlaces {
  uint64_t begin;
  std::array<uint32_t, kRowsPerPlaces> sizes;
};
static_assert(sizeof(RowPlaces) == 72);
constexpr uint64_t RowPlacesOf(uint64_t rows) {
  return (rows + kRowsPerPlaces - 1) / kRowsPerPlaces;
}

// Notes where each row's bytes lie in a stream.
class PlaceWriter {
 public:
  // The next row's, which `stream` ends with; `places` is the part of the elements. A row of 4 GiB
  // or more: kResourceExhausted, Detail::kLimit.
  Status Add(const PartWriter& stream, PartWriter* places);
  // Of the last rows.
  Status Finish(PartWriter* places) { return rows_ == 0 ? Status::Ok() : Put(places); }

 private:
  Status Put(PartWriter* places);

  RowPlaces open_{};
  uint32_t rows_ = 0;  // in it
  uint64_t end_ = 0;   // of the row before
};

// Where a row's bytes lie.
struct ByteRange {
  uint64_t begin;
  uint64_t end;
};

class PlaceReader {
 public:
  PlaceReader(BlockSource* source, const Root* root, BlockKind kind)
      : part_(source, root, kind), are_offsets_(part_.element_bytes() == sizeof(uint64_t)) {}

  // Within a stream of so many bytes.
  Result<ByteRange> Read(uint32_t row, uint64_t stream_bytes);
  // It is likely to be read soon.
  void Expect(uint32_t row) {
    are_offsets_ ? part_.ExpectElement(row, sizeof(uint64_t))
                 : part_.ExpectElement(row / kRowsPerPlaces, sizeof(RowPlaces));
  }
  // Rows follow one another without gaps, and the last ends where the stream does.
  Status Verify(uint32_t rows, uint64_t stream_bytes);

 private:
  PartCursor part_;
  const bool are_offsets_;
};

// A header as it is read.
struct RecordHeader {
  uint32_t flags;
  uint32_t document_bytes;
  uint32_t metadata_bytes;
  uint32_t uri_bytes;
  uint64_t document_offset;  // means something where there is a document
};

// Ordinals of rows: all of them, or, where each is one more than the one before, the first alone.
class OrdinalReader {
 public:
  OrdinalReader(BlockSource* source, const Root* root)
      : part_(source, root, BlockKind::kOrdinals),
        are_in_a_row_(part_.bytes() == sizeof(uint64_t)) {}

  const PartCursor& part() const { return part_; }
  // REQUIRES: row < rows.
  Result<uint64_t> Read(uint32_t row);
  // Those of rows from `first` on. REQUIRES: first + out.size() <= rows.
  Status ReadMany(uint32_t first, std::span<uint64_t> out);
  // It is likely to be read soon.
  void Expect(uint32_t row) {
    if (!are_in_a_row_) part_.ExpectElement(row, sizeof(uint64_t));
  }

 private:
  PartCursor part_;
  const bool are_in_a_row_;
};

class IdReader {
 public:
  IdReader(BlockSource* source, const Root* root)
      : places_(source, root, BlockKind::kIdOffsets), ids_(source, root, BlockKind::kIds) {}

  // The id of a row; a view that the next call ends.
  Result<std::string_view> Read(uint32_t row);
  // It is likely to be read soon.
  void Expect(uint32_t row) { places_.Expect(row); }
  Status VerifyPlaces(uint32_t rows) { return places_.Verify(rows, ids_.bytes()); }

 private:
  PlaceReader places_;
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
        places_(source, root, BlockKind::kRecordOffsets),
        stream_(source, root, BlockKind::kRecords),
        documents_(source, root) {}

  // The texts that are asked for, reading no bytes of the others; views that the next call ends.
  Result<RecordTexts> Read(uint32_t row, const Segment::Fields& fields);
  // As Read, decoded into `record`.
  Status ReadInto(uint32_t row, const Segment::Fields& fields, Record& record);
  // Metadata as Read gave it as JSON; what is wrong with it is damage of the row.
  Status AppendMetadataJson(uint32_t row, std::string_view stored, std::string& out) const;
  // Documents as the stream has them, from where one begins; a view that the next call ends.
  // REQUIRES: not version 1.
  Result<std::string_view> ViewDocuments(uint64_t offset, uint32_t size) {
    return documents_.Read(offset, size);
  }
  void ExpectDocuments(uint64_t offset, uint32_t size) { documents_.Expect(offset, size); }
  // The header and where its bytes begin and end in the stream, checked against each other.
  struct Place {
    RecordHeader header;
    uint64_t begin;  // of what follows the header
    uint64_t end;
  };
  Result<Place> Find(uint32_t row);
  Status VerifyPlaces(uint32_t rows) { return places_.Verify(rows, stream_.bytes()); }

 private:
  Result<std::string_view> ReadMetadata(uint32_t row, const Place& place);
  // Of a record within `range` of the stream that begins with `bytes`; false: it is none.
  bool ReadHeader(std::span<const std::byte> bytes, Place& place) const;
  Result<std::string_view> ReadBytes(uint64_t offset, uint32_t size, std::string& to);
  Status DamagedMetadata(uint32_t row, const Status& status) const;

  const Root* const root_;
  PlaceReader places_;
  PartCursor stream_;
  DocumentReader documents_;
  std::string document_;        // of version 1
  std::string short_metadata_;  // that lies in two blocks
  std::string metadata_;
  std::string uri_;
};

}  // namespace pigment
