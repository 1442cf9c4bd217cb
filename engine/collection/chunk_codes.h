// SPDX-License-Identifier: Apache-2.0
//
// Codes of the vectors of one full chunk of the tail, as of a cluster
// (engine/vector/cluster_lists.h) whose centroid is the middle of the chunk. Made by the first
// search that wants them, so that writes which nobody searches cost nothing. Immutable; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/record/record.h"
#include "engine/vector/cluster_lists.h"
#include "engine/vector/graph_space.h"

namespace pigment {

// Metrics that chunks have codes for: the points of ip depend on all vectors, so there are none.
inline bool HasChunkCodes(Metric metric) {
  return metric == Metric::kL2 || metric == Metric::kCosine;
}
// The space of all codes of a dimension; its centre is the origin. REQUIRES: HasChunkCodes(metric).
std::shared_ptr<const GraphSpace> MakeChunkSpace(Metric metric, uint32_t dimension);

class ChunkCodes {
 public:
  // Links are the records' places in `rows`. REQUIRES: all have vectors of the space's dimension.
  ChunkCodes(std::shared_ptr<const GraphSpace> space, Metric metric, uint32_t dimension,
             std::span<const std::shared_ptr<const Record>> rows);

  bool IsFor(Metric metric, uint32_t dimension) const {
    return metric_ == metric && dimension_ == dimension;
  }
  // False: squares of these vectors have no room in f32, and there are no codes.
  bool is_usable() const { return !nodes_.empty(); }
  const std::shared_ptr<const GraphSpace>& space() const { return space_; }
  std::span<const float> centroid() const { return centroid_; }
  uint32_t nodes() const { return shape_.nodes(); }
  GraphNode node(uint32_t number) const;

 private:
  const std::shared_ptr<const GraphSpace> space_;
  const Metric metric_;
  const uint32_t dimension_;
  const ClusterShape shape_;
  std::vector<float> centroid_;
  std::vector<std::byte> nodes_;
};

}  // namespace pigment
