// SPDX-License-Identifier: Apache-2.0
//
// How many rows are within a distance, from some of them.

#include <algorithm>
#include <bit>

#include "engine/segment/host_search.h"
#include "engine/segment/row_window.h"

namespace pigment {

Status HostSearch::SampleSegment(const SegmentSource& source, Sampling* sampling) const {
  RowVectors vectors(source.segment);
  uint64_t& next = sampling->next;
  const auto look = [&](uint32_t row) -> Status {
    ++sampling->sample.rows;
    next += 1 + sampling->random.Next() % (2 * sampling->step - 1);
    PIGMENT_ASSIGN_OR_RETURN(const uint32_t vector, vectors.Number(row));
    if (vector == kNoVector) return Status::Ok();
    PIGMENT_ASSIGN_OR_RETURN(const float* const numbers, vectors.Read(vector));
    if (query_.front()(numbers) <= options_.max_distance) ++sampling->sample.within;
    return Status::Ok();
  };
  if (source.live.empty()) {
    while (next < source.live_rows) PIGMENT_RETURN_IF_ERROR(look(static_cast<uint32_t>(next)));
  }
  uint64_t before = 0;  // live rows of words before this one
  for (size_t i = 0; i < source.live.size(); ++i) {
    uint64_t bits = source.live[i];
    const uint64_t end = before + static_cast<uint64_t>(std::popcount(bits));
    for (; next < end; ++before, bits &= bits - 1) {
      if (before == next)
        PIGMENT_RETURN_IF_ERROR(
            look(static_cast<uint32_t>(i * 64) + static_cast<uint32_t>(std::countr_zero(bits))));
    }
    before = end;
  }
  next -= source.live_rows;
  return Status::Ok();
}

Result<HostSearch::Sample> HostSearch::SampleWithin(uint64_t rows) const {
  if (query_.empty() || !HasMaxDistance())
    return InvalidArgument("a sample needs a query and a greatest distance");
  Sampling sampling;
  sampling.step = std::max<uint64_t>(segment_rows() / std::max<uint64_t>(rows, 1), 1);
  sampling.next = sampling.random.Next() % sampling.step;
  for (const SegmentSource& source : segments_)
    PIGMENT_RETURN_IF_ERROR(SampleSegment(source, &sampling));
  return sampling.sample;
}

}  // namespace pigment
