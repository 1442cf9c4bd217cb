// SPDX-License-Identifier: Apache-2.0
//
// The graph of a segment as bytes: built when a segment is finished, read back before a search.
// Three parts. kGraph, a stream of what is to be known before a walk:
//   offset  size          meaning
//   0       8             seed of the rotation
//   8       4             f32: of ip the largest square of a vector (graph_space.h); 0 otherwise
//   12      4             places for links in every node
//   16      4             entries
//   20      4             reserved, zero
//   24      8 * 18        calibration: f32 reach, f32 visits, by neighbours, then by recall
//                         (graph_reach.h)
//   168     4 * p         f32: the centre, with p = GraphSpace::PointDimension
// kGraphEntries, nodes that link to the entries, and kGraphNodes, a node for each vector, in their
// order (graph_node.h); all of one size, as elements or streams of these (DenseElementBytes).

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/record/metric.h"
#include "engine/segment/root.h"
#include "engine/vector/graph_node.h"
#include "engine/vector/graph_reach.h"
#include "engine/vector/graph_space.h"

namespace pigment {

class BlockPacker;  // part_writer.h

// Collects the vectors of a segment and builds their graph. One caller.
class GraphWriter {
 public:
  // For at most `vectors` vectors. Takes all the memory that the build will need from `budget` (may
  // be null) at once: kResourceExhausted where it has not so much. REQUIRES:
  // HasGraphSpace(metric), dimension > 0.
  static Result<std::unique_ptr<GraphWriter>> Make(Metric metric, uint32_t dimension,
                                                   uint32_t vectors, uint32_t threads,
                                                   MemoryBudget* budget, BuildPause pause);
  static uint64_t BuildBytes(Metric metric, uint32_t dimension, uint32_t vectors, uint32_t threads);

  // REQUIRES: vector.size() == dimension, finite values. More than `vectors`: kInternal.
  Status Add(std::span<const float> vector);

  // Builds, calibrates and writes the parts. False, with nothing written: these vectors have no
  // graph (GraphSpace::MakePoints).
  Result<bool> Write(BlockPacker& packer);

 private:
  GraphWriter(Metric metric, uint32_t dimension, uint32_t vectors, uint32_t threads,
              MemoryBudget* budget, BuildPause pause)
      : metric_(metric),
        dimension_(dimension),
        vectors_max_(vectors),
        threads_(threads),
        reservation_(budget),
        pause_(std::move(pause)),
        points_(GraphSpace::PointDimension(metric, dimension), nullptr),
        padded_(points_.dimension()) {}

  const Metric metric_;
  const uint32_t dimension_;
  const uint32_t vectors_max_;
  const uint32_t threads_;
  Reservation reservation_;
  const BuildPause pause_;
  VectorTable points_;
  std::vector<float> padded_;  // the vector that is being added, with zeros behind it
};

// What a reader knows of a graph before it reads a node. Immutable; any thread.
struct GraphHead {
  GraphSpace space;
  uint32_t places;
  uint32_t entries;
  ReachTable reach;

  size_t node_bytes() const { return GraphNodeBytes(space.point_dimension(), places); }
  uint32_t entry_nodes() const { return (entries + places - 1) / places; }
};

// Reads and checks kGraph, and the sizes of the others against it. REQUIRES: the segment has these
// parts.
Result<std::unique_ptr<const GraphHead>> ReadGraphHead(BlockSource* source, const Root& root);

}  // namespace pigment
