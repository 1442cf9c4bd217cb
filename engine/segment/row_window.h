// SPDX-License-Identifier: Apache-2.0
//
// Row pointers, or numbers of vectors, of a host's segment by ascending row, read a block at a
// time. One thread; the segment is borrowed.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/segment/part_reader.h"
#include "engine/segment/segment.h"

namespace pigment {

template <typename T, Status (Segment::*kRead)(uint32_t first, std::span<T> out) const>
class RowWindow {
 public:
  explicit RowWindow(const Segment* segment) : segment_(segment) {}

  // REQUIRES: row < rows of the segment.
  Result<T> Read(uint32_t row) {
    if (window_.empty() || row < first_ || row - first_ >= window_.size()) {
      first_ = row / kPerRead * kPerRead;
      window_.resize(std::min(kPerRead, segment_->info().rows - first_));
      const Status status = (segment_->*kRead)(first_, window_);
      if (!status.ok()) {
        window_.clear();
        return status;
      }
    }
    return window_[row - first_];
  }

 private:
  static constexpr uint32_t kPerRead = ElementsPerBlock(sizeof(T));
  const Segment* segment_;
  uint32_t first_ = 0;
  std::vector<T> window_;
};
using PointerWindow = RowWindow<uint64_t, &Segment::ReadRowPointers>;
using VectorWindow = RowWindow<uint32_t, &Segment::ReadRowVectors>;

}  // namespace pigment
