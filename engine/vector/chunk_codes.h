// SPDX-License-Identifier: Apache-2.0
//
// Codes of the vectors of one full chunk of rows that are in no segment yet, as of a cluster
// (cluster_lists.h) whose centroid is the middle of the chunk, or of one before where that is as
// good: rows that come in no order have much the same middle everywhere, and a query compares it
// once. Made by the first searches that want them, so that writes which nobody searches cost
// nothing. Immutable; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/prefetch.h"
#include "engine/record/metric.h"
#include "engine/vector/cluster_lists.h"
#include "engine/vector/graph_space.h"

namespace pigment {

// Rows of a chunk.
inline constexpr uint32_t kChunkRows = 256;

// Metrics that chunks have codes for: the points of ip depend on all vectors, so there are none.
inline bool HasChunkCodes(Metric metric) { return IsSquare(metric) || IsCosine(metric); }
// The space of all codes of a dimension; its centre is the origin. REQUIRES: HasChunkCodes(metric).
std::shared_ptr<const GraphSpace> MakeChunkSpace(Metric metric, uint32_t dimension);
// Of a code of that space, a dimension.
inline uint32_t ChunkCodeBits(const GraphSpace& space) {
  return ClusterCodeBits(space.point_dimension());
}

class ChunkCodes {
 public:
  // The vector of a row of the chunk, of the space's dimension; valid until the next is asked for.
  using Vectors = std::function<std::span<const float>(uint32_t row)>;
  // Links are the rows' places in the chunk. `before` are codes of another chunk in the space, or
  // null. REQUIRES: finite values.
  ChunkCodes(std::shared_ptr<const GraphSpace> space, Metric metric, uint32_t dimension,
             uint32_t rows, const Vectors& vectors, const ChunkCodes* before = nullptr);

  bool IsFor(Metric metric, uint32_t dimension) const {
    return metric_ == metric && dimension_ == dimension;
  }
  // False: squares of these vectors have no room in f32, and there are no codes.
  bool is_usable() const { return !nodes_.empty(); }
  const std::shared_ptr<const GraphSpace>& space() const { return space_; }
  // Two chunks that share one have it in one place. REQUIRES: is_usable().
  std::span<const float> centroid() const { return *centroid_; }
  uint32_t nodes() const { return shape_.nodes(); }
  GraphNode node(uint32_t number) const;
  // The first of them is asked for from memory.
  void Expect() const { ExpectBytes(nodes_.data(), shape_.node_bytes(0)); }
  // What is shared counts for each.
  size_t bytes() const { return nodes_.size() + space_->point_dimension() * sizeof(float); }

 private:
  const std::shared_ptr<const GraphSpace> space_;
  const Metric metric_;
  const uint32_t dimension_;
  const ClusterShape shape_;
  std::shared_ptr<const std::vector<float>> centroid_;  // null: not usable
  std::vector<std::byte> nodes_;
};

}  // namespace pigment
