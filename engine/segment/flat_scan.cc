// SPDX-License-Identifier: Apache-2.0
//
// Top k per query: by the walk of row_scan.h over full vectors, or over byte codes, whose bounds
// rule out all but a few vectors. Both give the same bits.

#include "engine/segment/flat_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <utility>

#include "engine/base/bits.h"
#include "engine/segment/row_scan.h"
#include "engine/segment/vector_reader.h"
#include "engine/vector/byte_code.h"
#include "engine/vector/top_k.h"

namespace pigment {

namespace {

// Bytes compared between two looks at the clock: far less than a millisecond on any machine.
constexpr uint64_t kBytesPerCheck = uint64_t{1} << 21;
// What one read takes besides its bytes: short vectors are read one by one as well.
constexpr uint64_t kBytesPerRead = 512;
// Of so many rows the nearest are read before the scan goes on: few enough to find the others'
// limit early, enough that most of them are never read.
constexpr size_t kGatheredOfQueryMax = 512;

// Where at most one of so many rows is allowed, looking up each takes less time than going through
// the blocks of all.
constexpr uint32_t kFewOfVectors = 8;
constexpr uint32_t kFewOfCodes = 32;

class FlatScanner {
 public:
  FlatScanner(const Segment& segment, const FlatScan& scan)
      : segment_(segment),
        scan_(scan),
        dimension_(segment.info().dimension),
        vectors_(segment.NewVectorReader()) {
    functions_.reserve(scan.query_count);
    best_.reserve(scan.query_count);
    for (size_t i = 0; i < scan.query_count; ++i) {
      functions_.emplace_back(scan.metric, Query(i));
      best_.emplace_back(scan.k, scan.limit(i));
    }
  }

  Result<FlatScanResult> Run();

 private:
  std::span<const float> Query(size_t i) const {
    return {scan_.queries + i * dimension_, dimension_};
  }
  // Codes help where rows and vectors are numbered alike and the metric has a bound.
  bool CanUseCodes() const {
    return segment_.has_codes() && is_identity() && HasByteCodeBound(scan_.metric);
  }
  bool is_identity() const { return segment_.info().rows == segment_.info().vectors; }
  // Whether so few rows are allowed that each is looked up.
  bool AreFewAllowed() const;
  Status ScanAllowed();
  Status ScanVectors();
  Status ScanCodes();
  // Notes the rows of a run of codes that may be among the nearest of one query.
  void Gather(size_t query, uint32_t first, std::span<const float> bounds);
  // Reads the vectors of what was gathered, the most promising first, until no bound lets in more.
  Status Rerank(size_t query);
  Status Pace(uint64_t bytes);

  struct Gathered {
    float bound;
    uint32_t row;
    friend auto operator<=>(const Gathered&, const Gathered&) = default;
  };

  const Segment& segment_;
  const FlatScan& scan_;
  const uint32_t dimension_;
  std::vector<DistanceFunction> functions_;
  std::vector<TopK> best_;
  // By query; not more than kGatheredOfQueryMax and a run.
  std::vector<std::vector<Gathered>> gathered_;
  const std::unique_ptr<VectorReader> vectors_;
  uint64_t unpaced_bytes_ = kBytesPerCheck;  // the first look comes at once
  FlatScanResult result_;
};

Status FlatScanner::Pace(uint64_t bytes) {
  result_.bytes_scored += bytes;
  unpaced_bytes_ += bytes + kBytesPerRead;
  if (unpaced_bytes_ < kBytesPerCheck) return Status::Ok();
  unpaced_bytes_ = 0;
  return scan_.control != nullptr ? scan_.control->Check() : Status::Ok();
}

bool FlatScanner::AreFewAllowed() const {
  if (scan_.allowed_rows.empty() || !is_identity()) return false;
  const uint64_t few = segment_.info().rows / (CanUseCodes() ? kFewOfCodes : kFewOfVectors);
  return CountSetBits(scan_.allowed_rows) <= few;
}

Status FlatScanner::ScanAllowed() {
  constexpr uint32_t kAhead = 8;
  const uint32_t rows = segment_.info().rows;
  const auto next = [&](uint32_t from) { return NextSetBit(scan_.allowed_rows, from, rows); };
  // Goes before the row that is compared, and asks for what it comes to.
  uint32_t ahead = next(0);
  const auto go_ahead = [&] {
    if (ahead >= rows) return;
    vectors_->Expect(ahead);
    ahead = next(ahead + 1);
  };
  for (uint32_t i = 0; i < kAhead; ++i) go_ahead();
  for (uint32_t row = next(0); row < rows; row = next(row + 1)) {
    go_ahead();
    PIGMENT_ASSIGN_OR_RETURN(const float* const vector, vectors_->Read(row));
    for (size_t query = 0; query < scan_.query_count; ++query) {
      const float distance = functions_[query](vector);
      if (best_[query].MayEnter(distance)) best_[query].Offer(distance, row);
    }
    result_.rows_scored += scan_.query_count;
    PIGMENT_RETURN_IF_ERROR(Pace(scan_.query_count * uint64_t{segment_.info().vector_bytes()}));
  }
  return Status::Ok();
}

Status FlatScanner::ScanVectors() {
  RowScan walk;
  walk.queries = functions_;
  walk.allowed_rows = scan_.allowed_rows;
  walk.control = scan_.control;
  walk.visit = [&](const ScoredRows& scored) {
    TopK& top = best_[scored.query];
    result_.rows_scored += scored.count;
    result_.bytes_scored += scored.count * uint64_t{segment_.info().vector_bytes()};
    for (size_t i = 0; i < scored.count; ++i) {
      if (!top.MayEnter(scored.distances[i])) continue;
      const uint32_t row = scored.row(i);
      if (IsAllowed(scan_.allowed_rows, row)) top.Offer(scored.distances[i], row);
    }
    return Status::Ok();
  };
  return ScanRows(segment_, walk);
}

void FlatScanner::Gather(size_t query, uint32_t first, std::span<const float> bounds) {
  const TopK& top = best_[query];
  for (size_t i = 0; i < bounds.size(); ++i) {
    const uint32_t row = first + static_cast<uint32_t>(i);
    if (!top.MayEnter(bounds[i]) || !IsAllowed(scan_.allowed_rows, row)) continue;
    // A bound that says nothing (NaN) rules nothing out.
    const float bound = std::isnan(bounds[i]) ? -std::numeric_limits<float>::infinity() : bounds[i];
    gathered_[query].push_back({bound, row});
  }
}

Status FlatScanner::Rerank(size_t query) {
  TopK& top = best_[query];
  std::vector<Gathered>& gathered = gathered_[query];
  std::sort(gathered.begin(), gathered.end());
  for (const Gathered& candidate : gathered) {
    if (!top.MayEnter(candidate.bound)) break;
    PIGMENT_ASSIGN_OR_RETURN(const float* const vector, vectors_->Read(candidate.row));
    PIGMENT_RETURN_IF_ERROR(Pace(segment_.info().vector_bytes()));
    top.Offer(functions_[query](vector), candidate.row);
  }
  gathered.clear();
  return Status::Ok();
}

Status FlatScanner::ScanCodes() {
  std::vector<ByteCodeQuery> queries;
  queries.reserve(scan_.query_count);
  for (size_t i = 0; i < scan_.query_count; ++i) queries.emplace_back(scan_.metric, Query(i));
  gathered_.resize(queries.size());
  std::vector<float> bounds;
  const auto visit_run = [&](uint32_t first, const std::byte* codes, size_t count) -> Status {
    bounds.resize(count);
    for (size_t query = 0; query < queries.size(); ++query) {
      queries[query].LowerBounds(codes, count, bounds.data());
      result_.rows_scored += count;
      PIGMENT_RETURN_IF_ERROR(Pace(count * ByteCodeBytes(dimension_)));
      Gather(query, first, bounds);
      if (gathered_[query].size() >= kGatheredOfQueryMax) PIGMENT_RETURN_IF_ERROR(Rerank(query));
    }
    return Status::Ok();
  };
  const auto visit = [&](uint32_t first, const std::byte* codes, size_t count) {
    return ForEachAllowedRun(scan_.allowed_rows, first, count, [&](size_t begin, size_t some) {
      return visit_run(first + static_cast<uint32_t>(begin),
                       codes + begin * ByteCodeBytes(dimension_), some);
    });
  };
  PIGMENT_RETURN_IF_ERROR(segment_.VisitCodes(visit, [this](uint32_t first, size_t count) {
    return AnyAllowed(scan_.allowed_rows, first, count);
  }));
  for (size_t query = 0; query < queries.size(); ++query) PIGMENT_RETURN_IF_ERROR(Rerank(query));
  return Status::Ok();
}

Result<FlatScanResult> FlatScanner::Run() {
  PIGMENT_RETURN_IF_ERROR(AreFewAllowed() ? ScanAllowed()
                          : CanUseCodes() ? ScanCodes()
                                          : ScanVectors());
  result_.hits.resize(scan_.query_count);
  for (size_t i = 0; i < scan_.query_count; ++i) {
    for (const Scored& scored : best_[i].TakeSorted()) {
      result_.hits[i].push_back({scored.distance, static_cast<uint32_t>(scored.tie)});
    }
  }
  return std::move(result_);
}

}  // namespace

Result<FlatScanResult> ScanFlat(const Segment& segment, uint32_t dimension, const FlatScan& scan) {
  const SegmentInfo& info = segment.info();
  if (info.vectors == 0) {
    FlatScanResult nothing;
    nothing.hits.resize(scan.query_count);
    return nothing;
  }
  if (dimension != info.dimension) {
    return InvalidArgument(Detail::kDimension,
                           fmt::format("dimension mismatch: segment {} has {}, got {}",
                                       info.segment, info.dimension, dimension));
  }
  return FlatScanner(segment, scan).Run();
}

}  // namespace pigment
