// SPDX-License-Identifier: Apache-2.0
//
// The first rows of a tail as what hangs on a graph (engine/segment/graft.h), dead ones included.
// The view is borrowed. One thread.

#pragma once

#include <cstdint>

#include "engine/base/prefetch.h"
#include "engine/collection/tail.h"
#include "engine/segment/graft.h"

namespace pigment {

class TailGraftRows final : public GraftRows {
 public:
  // REQUIRES: rows <= tail.rows.
  TailGraftRows(const TailView& tail, uint32_t rows) : tail_(tail), rows_(rows) {}

  uint32_t count() const override { return rows_; }
  Status Visit(const Segment::VectorVisitor& visit) override {
    for (uint32_t row = 0; row < rows_; ++row) {
      const std::vector<float>& vector = tail_.row(row).embedding;
      PIGMENT_RETURN_IF_ERROR(visit(row, vector.data(), vector.size(), 1));
    }
    return Status::Ok();
  }
  Result<const float*> Read(uint32_t row) override { return tail_.row(row).embedding.data(); }
  void Expect(uint32_t row) override {
    const std::vector<float>& vector = tail_.row(row).embedding;
    ExpectBytes(vector.data(), vector.size() * sizeof(float));
  }

 private:
  const TailView& tail_;
  const uint32_t rows_;
};

}  // namespace pigment
