// SPDX-License-Identifier: Apache-2.0
//
// Reads rows of one segment one after the other: its cursors stay on their blocks and the last
// chunk of documents stays inflated, so that neighbours cost next to nothing. For scans, reads of
// many rows, and for copying rows into another segment. One thread; the segment must outlive it. At
// most one block of each part is pinned.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/segment/id_index.h"
#include "engine/segment/record_bytes.h"
#include "engine/segment/segment.h"

namespace pigment {

// A whole row as it is stored. What it points to is valid until the reader's next call.
struct RowView {
  std::string_view id;
  uint64_t ordinal = 0;
  std::span<const float> embedding;
  std::span<const std::byte> code;  // of the embedding; empty where the segment has none
  RecordTexts texts;
};

class RowReader {
 public:
  RowReader(BlockSource* source, const Root* root);

  Result<std::optional<uint32_t>> FindRow(std::string_view id) { return finder_.Find(id); }
  // By the hash of the id for this segment's owner.
  Result<std::optional<uint32_t>> FindRow(std::string_view id, const IdHash& hash) {
    return finder_.Find(id, hash);
  }
  // REQUIRES of all that follow: row < rows.
  Result<std::string_view> ReadId(uint32_t row) { return ids_.Read(row); }
  Result<uint64_t> ReadOrdinal(uint32_t row) { return ordinals_.Read(row); }
  // The row's id and ordinal are likely to be read soon.
  void Expect(uint32_t row) {
    ordinals_.Expect(row);
    ids_.Expect(row);
  }
  // Id, ordinal and the fields that are asked for; the others are made empty.
  Status ReadRecord(uint32_t row, const Segment::Fields& fields, Record* record);
  // The same without id and ordinal, which stay as they are.
  Status ReadFields(uint32_t row, const Segment::Fields& fields, Record* record);
  Result<RowView> ReadView(uint32_t row);
  // The texts that are asked for, and the vector (empty where the row has none); what they point to
  // is valid until the reader's next call of the same name.
  Result<RecordTexts> ReadTexts(uint32_t row, const Segment::Fields& fields) {
    return records_.Read(row, fields);
  }
  // Where the document of a row lies among the documents: those of rows lie in their order, and
  // without gaps. For segments with a CellReader.
  struct DocumentPlace {
    uint64_t begin = 0;
    uint32_t bytes = 0;
    bool exists = false;
  };
  Result<DocumentPlace> FindDocument(uint32_t row) {
    PIGMENT_ASSIGN_OR_RETURN(const RecordReader::Place place, records_.Find(row));
    const RecordHeader& header = place.header;
    return DocumentPlace{header.document_offset, header.document_bytes,
                         (header.flags & kHasDocument) != 0};
  }
  Result<std::string_view> ViewDocuments(uint64_t begin, uint32_t bytes) {
    return records_.ViewDocuments(begin, bytes);
  }
  // They are likely to be viewed soon.
  void ExpectDocuments(uint64_t begin, uint32_t bytes) { records_.ExpectDocuments(begin, bytes); }
  Result<std::span<const float>> ReadVector(uint32_t row) {
    PIGMENT_RETURN_IF_ERROR(ReadEmbedding(row).status());
    return std::span<const float>(vector_);
  }
  // Appends the metadata of a row, as ReadTexts gave it, as JSON.
  Status AppendMetadataJson(uint32_t row, std::string_view stored, std::string& out) const {
    return records_.AppendMetadataJson(row, stored, out);
  }

 private:
  // Leaves the vector in vector_, empty where the row has none; returns its number or kNoVector.
  Result<uint32_t> ReadEmbedding(uint32_t row);

  const Root* const root_;
  IdFinder finder_;
  IdReader ids_;
  OrdinalReader ordinals_;
  PartCursor row_vectors_;
  PartCursor vectors_;
  PartCursor codes_;
  RecordReader records_;
  std::vector<float> vector_;
};

// Vector numbers of rows first .. as Segment::ReadRowVectors.
Status ReadRowVectorsFrom(PartCursor& row_vectors, const Root& root, uint32_t first,
                          std::span<uint32_t> out);
// One vector, as Segment::ReadVector.
Status ReadVectorFrom(PartCursor& vectors, const Root& root, uint32_t vector, std::span<float> out);

}  // namespace pigment
