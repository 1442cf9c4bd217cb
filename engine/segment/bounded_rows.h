// SPDX-License-Identifier: Apache-2.0
//
// BoundedRows: of rows whose distances codes have bounded the nearest, by vectors. What the bounds
// do not rule out is gathered; now and then the most promising are compared, for a limit that rules
// out others, and in the end all that no limit has. One thread; everything is borrowed.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/segment/flat_scan.h"
#include "engine/vector/distance.h"
#include "engine/vector/graph_space.h"
#include "engine/vector/top_k.h"

namespace pigment {

class BoundedRows {
 public:
  // The k nearest within `wanted` (NaN: there is no such distance). `query` is `distance`'s as a
  // point of the space in which squares are bounded; `control` may be null.
  BoundedRows(const DistanceFunction& distance, const GraphQuery& query, size_t k, float wanted,
              const CallControl* control)
      : distance_(distance),
        query_(query),
        control_(control),
        nearest_(k, wanted),
        limit_(query.SquareOf(wanted)) {}

  // `bounds` are those of the squares of as many rows.
  void Gather(std::span<const uint32_t> rows, std::span<const float> bounds) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (bounds[i] > limit_) continue;
      // A bound that says nothing (NaN) rules nothing out.
      const float bound =
          std::isnan(bounds[i]) ? -std::numeric_limits<float>::infinity() : bounds[i];
      gathered_.push_back(PromiseOf(bound, rows[i]));
    }
  }
  size_t gathered() const { return gathered_.size(); }

  // Compares some of what was gathered, enough for a limit, and drops what is beyond it. All that
  // are within the limit of the moment would be several times what the last one lets in.
  // `expect(row)` asks for a vector ahead, `read(row)` gives it.
  template <typename Expect, typename Read>
  Status Narrow(const Expect& expect, const Read& read) {
    constexpr size_t kSome = 16;
    const size_t some = limit_ != limit_ ? nearest_.k() + kSome : kSome;
    PIGMENT_RETURN_IF_ERROR(CompareFirst(std::min(some, gathered_.size()), expect, read));
    std::erase_if(gathered_, [this](uint64_t promise) { return BoundOf(promise) > limit_; });
    return Status::Ok();
  }
  // Compares what is left; as Narrow().
  template <typename Expect, typename Read>
  Status Compare(const Expect& expect, const Read& read) {
    return CompareFirst(gathered_.size(), expect, read);
  }

  uint64_t compared() const { return compared_; }
  // Ascending by (distance, row).
  std::vector<RowHit> TakeHits() {
    std::vector<RowHit> hits;
    for (const Scored& scored : nearest_.TakeSorted())
      hits.push_back({scored.distance, static_cast<uint32_t>(scored.tie)});
    return hits;
  }

 private:
  static float BoundOf(uint64_t promise) {
    return DistanceOfKey(static_cast<uint32_t>(promise >> 32));
  }

  // The `count` most promising go.
  template <typename Expect, typename Read>
  Status CompareFirst(size_t count, const Expect& expect, const Read& read) {
    constexpr size_t kAhead = 4;
    constexpr size_t kRowsPerCheck = 64;
    const auto end = gathered_.begin() + static_cast<ptrdiff_t>(count);
    if (end != gathered_.end()) std::nth_element(gathered_.begin(), end, gathered_.end());
    std::sort(gathered_.begin(), end);
    for (size_t i = 0; i < std::min(kAhead, count); ++i)
      expect(static_cast<uint32_t>(gathered_[i]));
    for (size_t i = 0; i < count; ++i) {
      if (BoundOf(gathered_[i]) > limit_) break;
      if (i % kRowsPerCheck == 0 && control_ != nullptr) PIGMENT_RETURN_IF_ERROR(control_->Check());
      if (i + kAhead < count) expect(static_cast<uint32_t>(gathered_[i + kAhead]));
      const auto row = static_cast<uint32_t>(gathered_[i]);
      PIGMENT_ASSIGN_OR_RETURN(const float* const vector, read(row));
      ++compared_;
      const float distance = distance_(vector);
      if (!nearest_.MayEnter(distance)) continue;
      nearest_.Offer(distance, row);
      limit_ = query_.SquareOf(nearest_.worst());
    }
    gathered_.erase(gathered_.begin(), end);
    return Status::Ok();
  }

  const DistanceFunction& distance_;
  const GraphQuery& query_;
  const CallControl* const control_;
  TopK nearest_;
  float limit_;                     // the square of the k-th nearest so far; NaN: there are fewer
  std::vector<uint64_t> gathered_;  // PromiseOf bound and row
  uint64_t compared_ = 0;
};

}  // namespace pigment
