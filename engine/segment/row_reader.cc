// SPDX-License-Identifier: Apache-2.0
//
// Rows through cursors that are kept.

#include "engine/segment/row_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/vector/byte_code.h"
#include "engine/vector/packed_vector.h"

namespace pigment {

Status ReadRowVectorsFrom(PartCursor& row_vectors, const Root& root, uint32_t first,
                          std::span<uint32_t> out) {
  if (uint64_t{first} + out.size() > root.info.rows) {
    return row_vectors.Damaged(Detail::kMiscounted, fmt::format("{} rows from {} lie beyond its {}",
                                                                out.size(), first, root.info.rows));
  }
  if (!row_vectors.exists()) {  // as many rows as vectors: each has its own, in order
    for (size_t i = 0; i < out.size(); ++i) out[i] = first + static_cast<uint32_t>(i);
    return Status::Ok();
  }
  PIGMENT_RETURN_IF_ERROR(row_vectors.ReadElements(first, out));
  for (const uint32_t vector : out) {
    if (vector != kNoVector && vector >= root.info.vectors) {
      return row_vectors.Damaged(Detail::kMiscounted,
                                 fmt::format("names vector {} of {}", vector, root.info.vectors));
    }
  }
  return Status::Ok();
}

namespace {

// Numbers that lie in a stream from `offset` on. None is cut by the end of a block.
Status ReadDense(PartCursor& part, VectorElement element, uint64_t offset, std::span<float> out) {
  static_assert(kBlockPayloadBytes % sizeof(float) == 0);
  while (!out.empty()) {
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload,
                             part.Block(static_cast<uint32_t>(offset / kBlockPayloadBytes)));
    const auto within = static_cast<size_t>(offset % kBlockPayloadBytes);
    const size_t some =
        std::min(out.size(), (kBlockPayloadBytes - within) * 8 / VectorElementBits(element));
    UnpackVector(element, payload + within, out.first(some));
    out = out.subspan(some);
    offset += VectorBytes(element, some);
  }
  return Status::Ok();
}

}  // namespace

Status ReadVectorFrom(PartCursor& vectors, const Root& root, uint32_t vector,
                      std::span<float> out) {
  if (vector >= root.info.vector_slots || out.size() != root.info.dimension) {
    return vectors.Damaged(Detail::kMiscounted, fmt::format("vector {} of {} is asked for", vector,
                                                            root.info.vector_slots));
  }
  const VectorElement element = root.info.vector_element;
  const uint32_t bytes = root.info.vector_bytes();
  if (vectors.element_bytes() == 0)
    return ReadDense(vectors, element, uint64_t{vector} * bytes, out);
  if (const uint32_t per_block = ElementsPerBlock(bytes); per_block != 0) {
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload, vectors.Block(vector / per_block));
    UnpackVector(element, payload + size_t{vector % per_block} * bytes, out);
    return Status::Ok();
  }
  const uint32_t blocks = BlocksPerElement(bytes);
  const size_t per_block = kBlockPayloadBytes * 8 / VectorElementBits(element);  // numbers
  static_assert(kBlockPayloadBytes % sizeof(float) == 0);
  for (uint32_t i = 0; i < blocks; ++i) {
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload, vectors.Block(vector * blocks + i));
    const size_t first = i * per_block;
    UnpackVector(element, payload, out.subspan(first, std::min(per_block, out.size() - first)));
  }
  return Status::Ok();
}

RowReader::RowReader(BlockSource* source, const Root* root)
    : root_(root),
      finder_(source, root),
      ids_(source, root),
      ordinals_(source, root),
      row_vectors_(source, root, BlockKind::kRowVectors),
      vectors_(source, root, BlockKind::kVectors),
      codes_(source, root, BlockKind::kCodes),
      records_(source, root) {}

Result<uint32_t> RowReader::ReadEmbedding(uint32_t row) {
  uint32_t vector = kNoVector;
  if (root_->info.vectors != 0) {
    PIGMENT_RETURN_IF_ERROR(
        ReadRowVectorsFrom(row_vectors_, *root_, row, std::span<uint32_t>(&vector, 1)));
  }
  vector_.resize(vector == kNoVector ? 0 : root_->info.dimension);
  if (vector != kNoVector)
    PIGMENT_RETURN_IF_ERROR(ReadVectorFrom(vectors_, *root_, vector, vector_));
  return vector;
}

Status RowReader::ReadRecord(uint32_t row, const Segment::Fields& fields, Record* record) {
  PIGMENT_ASSIGN_OR_RETURN(record->id, ReadId(row));
  PIGMENT_ASSIGN_OR_RETURN(record->ordinal, ReadOrdinal(row));
  return ReadFields(row, fields, record);
}

Status RowReader::ReadFields(uint32_t row, const Segment::Fields& fields, Record* record) {
  record->embedding.clear();
  record->document.reset();
  record->metadata.reset();
  record->uri.reset();
  if (fields.embedding) {
    PIGMENT_RETURN_IF_ERROR(ReadEmbedding(row).status());
    record->embedding = vector_;
  }
  if (!fields.document && !fields.metadata && !fields.uri) return Status::Ok();
  return records_.ReadInto(row, fields, *record);
}

Result<RowView> RowReader::ReadView(uint32_t row) {
  RowView view;
  PIGMENT_ASSIGN_OR_RETURN(view.id, ReadId(row));
  PIGMENT_ASSIGN_OR_RETURN(view.ordinal, ReadOrdinal(row));
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t vector, ReadEmbedding(row));
  view.embedding = vector_;
  if (vector != kNoVector && codes_.exists()) {
    const auto bytes = static_cast<uint32_t>(ByteCodeBytes(root_->info.dimension));
    const uint32_t per_block = ElementsPerBlock(bytes);
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload, codes_.Block(vector / per_block));
    view.code = {payload + size_t{vector % per_block} * bytes, bytes};
  }
  PIGMENT_ASSIGN_OR_RETURN(
      view.texts,
      records_.Read(row, {.embedding = false, .document = true, .metadata = true, .uri = true}));
  return view;
}

}  // namespace pigment
