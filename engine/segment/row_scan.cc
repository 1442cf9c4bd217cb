// SPDX-License-Identifier: Apache-2.0
//
// The walk: one run of vectors (a block's) at a time, while it is in the nearest cache, against
// every query.

#include "engine/segment/row_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace pigment {

namespace {

// Floats compared between two looks at the clock: far less than a millisecond on any machine.
constexpr uint64_t kFloatsPerCheck = uint64_t{1} << 19;
constexpr uint32_t kRowsPerRead = 1024;

class Walk {
 public:
  Walk(const Segment& segment, const RowScan& scan)
      : segment_(segment),
        scan_(scan),
        is_identity_(segment.info().rows == segment.info().vectors) {}

  Status Run();

 private:
  Status VisitRun(uint32_t first, const float* vectors, size_t stride, size_t count);
  // Rows up to the last that owns a vector below `end`, as (row, vector) in own_rows_; rows without
  // a vector are handed on.
  Status CollectRows(uint32_t end);
  Status FlushWithout();
  Status Pace(uint64_t floats);

  const Segment& segment_;
  const RowScan& scan_;
  const bool is_identity_;
  uint64_t floats_ = 0;
  std::vector<float> distances_;
  std::vector<float> row_distances_;

  // Only where rows and vectors differ: a window of the row-to-vector map.
  uint32_t next_row_ = 0;
  uint32_t window_first_ = 0;
  std::vector<uint32_t> window_;
  std::vector<uint32_t> own_rows_;
  std::vector<uint32_t> own_vectors_;
  std::vector<uint32_t> without_;
};

Status Walk::Pace(uint64_t floats) {
  floats_ += floats;
  if (floats_ < kFloatsPerCheck) return Status::Ok();
  floats_ = 0;
  return scan_.control != nullptr ? scan_.control->Check() : Status::Ok();
}

Status Walk::FlushWithout() {
  if (without_.empty()) return Status::Ok();
  Status status = scan_.visit_without_vector ? scan_.visit_without_vector(without_) : Status::Ok();
  without_.clear();
  return status;
}

Status Walk::CollectRows(uint32_t end) {
  own_rows_.clear();
  own_vectors_.clear();
  const uint32_t rows = segment_.info().rows;
  while (next_row_ < rows) {
    if (next_row_ >= window_first_ + window_.size()) {
      PIGMENT_RETURN_IF_ERROR(FlushWithout());
      PIGMENT_RETURN_IF_ERROR(Pace(kRowsPerRead));
      window_first_ = next_row_;
      window_.resize(std::min(kRowsPerRead, rows - next_row_));
      PIGMENT_RETURN_IF_ERROR(segment_.ReadRowVectors(window_first_, window_));
    }
    const uint32_t vector = window_[next_row_ - window_first_];
    if (vector == kNoVector) {
      without_.push_back(next_row_);
    } else if (vector < end) {
      own_rows_.push_back(next_row_);
      own_vectors_.push_back(vector);
    } else {
      break;
    }
    ++next_row_;
  }
  return Status::Ok();
}

Status Walk::VisitRun(uint32_t first, const float* vectors, size_t stride, size_t count) {
  ScoredRows scored;
  scored.first_row = first;
  scored.count = count;
  if (!is_identity_) {
    PIGMENT_RETURN_IF_ERROR(CollectRows(first + static_cast<uint32_t>(count)));
    for (const uint32_t vector : own_vectors_) {
      if (vector < first) {  // Verify() says the same in more words
        return DataLoss(
            Detail::kMiscounted, "", -1,
            fmt::format("segment {}: rows do not follow the order of their vectors at vector {}",
                        segment_.info().segment, vector));
      }
    }
    scored.rows = own_rows_.data();
    scored.count = own_rows_.size();
    row_distances_.resize(scored.count);
  }
  distances_.resize(std::max(distances_.size(), count));
  for (size_t query = 0; query < scan_.queries.size(); ++query) {
    PIGMENT_RETURN_IF_ERROR(Pace(count * stride));
    scan_.queries[query].Many(vectors, stride, count, distances_.data());
    scored.distances = distances_.data();
    if (!is_identity_) {
      for (size_t i = 0; i < scored.count; ++i)
        row_distances_[i] = distances_[own_vectors_[i] - first];
      scored.distances = row_distances_.data();
    }
    scored.query = query;
    PIGMENT_RETURN_IF_ERROR(scan_.visit(scored));
  }
  return Status::Ok();
}

Status Walk::Run() {
  if (!scan_.queries.empty()) {
    // Which rows own a vector is known before it is read only where both are numbered alike.
    Segment::VectorFilter wants;
    if (is_identity_ && !scan_.allowed_rows.empty()) {
      wants = [this](uint32_t first, size_t count) {
        return AnyAllowed(scan_.allowed_rows, first, count);
      };
    }
    PIGMENT_RETURN_IF_ERROR(segment_.VisitVectors(
        [&](uint32_t first, const float* vectors, size_t stride, size_t count) {
          if (!wants) return VisitRun(first, vectors, stride, count);
          return ForEachAllowedRun(scan_.allowed_rows, first, count,
                                   [&](size_t begin, size_t some) {
                                     return VisitRun(first + static_cast<uint32_t>(begin),
                                                     vectors + begin * stride, stride, some);
                                   });
        },
        wants));
  }
  if (is_identity_ || !scan_.visit_without_vector) return Status::Ok();
  while (next_row_ < segment_.info().rows) {
    // No vector has such a number: this takes all rows that are left.
    PIGMENT_RETURN_IF_ERROR(CollectRows(kNoVector));
  }
  return FlushWithout();
}

}  // namespace

Status ScanRows(const Segment& segment, const RowScan& scan) { return Walk(segment, scan).Run(); }

}  // namespace pigment
