// SPDX-License-Identifier: Apache-2.0
//
// Top k per query over the walk of row_scan.h.

#include "engine/segment/flat_scan.h"

#include <fmt/format.h>

#include "engine/segment/row_scan.h"
#include "engine/vector/top_k.h"

namespace pigment {

Result<FlatScanResult> ScanFlat(const Segment& segment, uint32_t dimension, const FlatScan& scan) {
  const SegmentInfo& info = segment.info();
  FlatScanResult result;
  result.hits.resize(scan.query_count);
  if (info.vectors == 0) return result;
  if (dimension != info.dimension) {
    return InvalidArgument(Detail::kDimension,
                           fmt::format("dimension mismatch: segment {} has {}, got {}",
                                       info.segment, info.dimension, dimension));
  }
  std::vector<DistanceFunction> functions;
  functions.reserve(scan.query_count);
  for (size_t i = 0; i < scan.query_count; ++i) {
    functions.emplace_back(scan.metric, std::span(scan.queries + i * dimension, dimension));
  }
  std::vector<TopK> best(scan.query_count, TopK(scan.k));
  const auto is_allowed = [&](uint32_t row) {
    return scan.allowed_rows.empty() || (scan.allowed_rows[row / 64] >> (row % 64) & 1) != 0;
  };
  RowScan walk;
  walk.queries = functions;
  walk.allowed_rows = scan.allowed_rows;
  walk.control = scan.control;
  walk.visit = [&](const ScoredRows& scored) {
    TopK& top = best[scored.query];
    result.rows_scored += scored.count;
    for (size_t i = 0; i < scored.count; ++i) {
      if (!top.MayEnter(scored.distances[i])) continue;
      const uint32_t row = scored.row(i);
      if (is_allowed(row)) top.Offer(scored.distances[i], row);
    }
    return Status::Ok();
  };
  PIGMENT_RETURN_IF_ERROR(ScanRows(segment, walk));
  for (size_t i = 0; i < scan.query_count; ++i) {
    for (const Scored& scored : best[i].TakeSorted()) {
      result.hits[i].push_back({scored.distance, static_cast<uint32_t>(scored.tie)});
    }
  }
  return result;
}

}  // namespace pigment
