// SPDX-License-Identifier: Apache-2.0
//
// The first rows of a tail as what hangs on a segment (engine/segment/graft.h), dead ones included.
// One thread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/prefetch.h"
#include "engine/collection/tail.h"
#include "engine/segment/graft.h"

namespace pigment {

// The vectors of the first `rows`, which live as long as the view's chunks. REQUIRES: rows <=
// tail.rows.
inline std::vector<const float*> VectorsOf(const TailView& tail, uint32_t rows) {
  std::vector<const float*> vectors(rows);
  for (uint32_t row = 0; row < rows; ++row) vectors[row] = tail.row(row).embedding.data();
  return vectors;
}

class TailGraftRows final : public GraftRows {
 public:
  // Borrows what VectorsOf gave.
  TailGraftRows(std::span<const float* const> vectors, uint32_t dimension)
      : vectors_(vectors), dimension_(dimension) {}

  uint32_t count() const override { return static_cast<uint32_t>(vectors_.size()); }
  Status Visit(const Segment::VectorVisitor& visit) override {
    for (uint32_t row = 0; row < count(); ++row)
      PIGMENT_RETURN_IF_ERROR(visit(row, vectors_[row], dimension_, 1));
    return Status::Ok();
  }
  Result<const float*> Read(uint32_t row) override { return vectors_[row]; }
  void Expect(uint32_t row) override { ExpectBytes(vectors_[row], dimension_ * sizeof(float)); }

 private:
  const std::span<const float* const> vectors_;
  const uint32_t dimension_;
};

}  // namespace pigment
