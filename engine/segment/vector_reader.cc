// SPDX-License-Identifier: Apache-2.0
//
// Where a vector lies: see the header.

#include "engine/segment/vector_reader.h"

#include "engine/segment/row_reader.h"
#include "engine/vector/packed_vector.h"

namespace pigment {

VectorReader::VectorReader(BlockSource* source, const Root* root)
    : root_(root), vectors_(source, root, BlockKind::kVectors), vector_(root->info.dimension) {}

Result<const float*> VectorReader::Read(uint32_t vector) {
  const PartCursor::ElementRun run = vectors_.RunFrom(vector, root_->info.vector_bytes());
  if (run.count == 0) {
    PIGMENT_RETURN_IF_ERROR(ReadVectorFrom(vectors_, *root_, vector, vector_));
    return vector_.data();
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload, vectors_.Block(run.block));
  if (root_->info.vector_element == VectorElement::kF32)
    return reinterpret_cast<const float*>(payload + run.within);
  UnpackVector(root_->info.vector_element, payload + run.within, vector_);
  return vector_.data();
}

}  // namespace pigment
