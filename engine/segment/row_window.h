// SPDX-License-Identifier: Apache-2.0
//
// Row pointers, and vectors, of a host's segment by ascending row, read a block at a time. One
// thread; the segment is borrowed.

#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/segment/part_reader.h"
#include "engine/segment/segment.h"
#include "engine/segment/vector_reader.h"

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

class RowVectors {
 public:
  explicit RowVectors(const Segment* segment)
      : info_(segment->info()),
        is_identity_(info_.rows == info_.vectors),
        numbers_(segment),
        vectors_(segment->NewVectorReader()) {}

  // The number of a row's vector, or kNoVector. REQUIRES: row < rows of the segment.
  Result<uint32_t> Number(uint32_t row) {
    if (info_.vectors == 0) return kNoVector;
    if (is_identity_) return row;
    PIGMENT_ASSIGN_OR_RETURN(const uint32_t number, numbers_.Read(row));
    if (number == kNoVector || number < info_.vectors) return number;
    return DataLoss(Detail::kMiscounted, "", -1,
                    fmt::format("segment {}: row {} names vector {} of {}", info_.segment, row,
                                number, info_.vectors));
  }
  // The vector itself, valid until the next call. REQUIRES: what Number gave, and not kNoVector.
  Result<const float*> Read(uint32_t number) { return vectors_->Read(number); }
  // The same of any number that Number gave: of kNoVector it is empty.
  Result<std::span<const float>> ReadIfAny(uint32_t number) {
    if (number == kNoVector) return std::span<const float>();
    PIGMENT_ASSIGN_OR_RETURN(const float* const values, Read(number));
    return std::span(values, info_.dimension);
  }

 private:
  const SegmentInfo& info_;
  const bool is_identity_;
  VectorWindow numbers_;
  const std::unique_ptr<VectorReader> vectors_;
};

}  // namespace pigment
