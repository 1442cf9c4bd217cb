// SPDX-License-Identifier: Apache-2.0
//
// The index of a segment's vectors as bytes, a graph or clusters: built when the segment is
// finished, read back before a search. Two parts are of both. kIndex, a stream of what is to be
// known before a search:
//   offset  size          meaning
//   0       8             seed of the rotation; 0: points are bits less one half, codes exact
//   8       4             f32: of ip the largest square of a vector (graph_space.h); where another
//                         metric stands in, how many times as many neighbours are looked for by it
//                         (stand_in.h); 0 otherwise
//   12      2             places for links in every node; of clusters, in those of the entries
//   14      1             bits a dimension of the nodes' codes, less one
//   15      1             those of the row codes, less one
//   16      4             entries; of clusters, all of them
//   20      4             f32: with row codes, the greatest length of a point; 0 without
//   24      8 * 18        calibration: f32 reach, f32 visits, by neighbours, then by recall
//                         (reach_table.h)
//   168     4 * p         f32: the centre, with p = GraphSpace::PointDimension
// kEntries, nodes that link to the entries (graph_node.h), and kRowCodes, a code of each vector, in
// their order (row_code.h). Then, of a graph, kGraphNodes, a node for each vector. Of clusters
// (cluster_lists.h) kClusterSizes, u32, how many vectors each has; kCentroids, points in f32, or in
// f16, as those of f16 vectors are unless one is beyond it; kClusterNodes, the bytes of all, one
// after the other. Nodes and centroids are elements or streams of these (DenseElementBytes).

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/record/metric.h"
#include "engine/record/vector_element.h"
#include "engine/segment/kept_links.h"
#include "engine/segment/root.h"
#include "engine/vector/cluster_lists.h"
#include "engine/vector/graph.h"
#include "engine/vector/graph_encode.h"
#include "engine/vector/graph_node.h"
#include "engine/vector/graph_space.h"
#include "engine/vector/reach_table.h"
#include "engine/vector/row_code.h"

namespace pigment {

class BlockPacker;  // part_writer.h

struct IndexBuild {
  SegmentIndex index = {};
  Metric metric = Metric::kL2;
  uint32_t dimension = 0;
  VectorElement vector_element = VectorElement::kF32;
  uint32_t vectors = 0;  // at most so many
  // Takes memory as vectors come, up to three quarters of the budget's: nobody knows how many there
  // will be. Otherwise for all of them at once.
  bool grows = false;
  // Of one that grows: it begins by taking memory for so many, where there is so much; what others
  // take while they come is none of theirs.
  uint32_t expected = 0;
  uint32_t threads = 1;
  MemoryBudget* budget = nullptr;  // may be null
  // Where vectors lie that the budget has no room for, while the index is built; empty: nowhere.
  ScratchSource scratch = {};
  BuildPause pause = {};  // may be empty
};

// Collects the vectors of a segment and builds their index. One caller.
class IndexWriter {
 public:
  // Takes all the memory that the build will need from the budget at once: kResourceExhausted where
  // it has not so much. REQUIRES: dimension > 0, index.kind is not kFlat.
  static Result<std::unique_ptr<IndexWriter>> Make(const IndexBuild& build);
  // With all vectors in memory.
  static uint64_t BuildBytes(const IndexBuild& build);
  // With vectors in scratch, and graphs of at most `part_vectors_max` of them.
  static uint64_t ScratchBuildBytes(const IndexBuild& build, uint32_t part_vectors_max);
  // The most vectors, up to build.vectors, of which one that grows is built within a budget.
  static uint32_t VectorsWithin(const IndexBuild& build, uint64_t limit_bytes);

  // Makes room for one vector more; false: there is no memory for it, or it is beyond the most.
  bool MakeRoom();
  // REQUIRES: vector.size() == dimension, finite values. More than there is room for: kInternal.
  Status Add(std::span<const float> vector);

  // Of vectors that were added: a graph starts from them.
  void StartFrom(KeptLinks kept) { kept_ = std::move(kept); }
  uint32_t kept_vectors() const { return kept_.vectors; }

  // Clusters are to be built, whatever was asked for.
  void MakeClusters() { build_.index.kind = SegmentKind::kClusters; }

  struct Written {
    SegmentKind kind = SegmentKind::kFlat;  // these vectors have no index (GraphSpace::MakePoints)
    uint32_t clusters = 1;                  // of other kinds 1
  };
  // Builds, calibrates and writes the parts.
  Result<Written> Write(BlockPacker& packer);

 private:
  // Takes from the budget what the build of so many vectors needs.
  Status Take(uint32_t vectors);
  // The same, and makes room for them.
  Status Grow(uint32_t room);
  // Vectors go into scratch, for want of memory, with room for `room`.
  Status MoveToScratch(uint32_t room);
  bool has_limit() const { return build_.budget != nullptr && build_.budget->limit_bytes() != 0; }
  // Of the budget's share for indexes, what nobody else has taken. REQUIRES: has_limit().
  uint64_t MemoryLeft() const;
  // Takes as much of it as parts of a graph over vectors in scratch are the better for, and says
  // how many vectors they may have; 0: vectors are in memory.
  uint32_t TakeForParts();
  // Memory to keep the nodes of a graph in: what its build has given back, or of all nodes, where
  // there is as much. Calibration asks for those that have no place again and again.
  uint64_t TakeForNodes(const Graph& graph, uint64_t given_back);

  explicit IndexWriter(const IndexBuild& build)
      : build_(build),
        reservation_(build.budget),
        points_(GraphSpace::PointDimension(build.metric, build.dimension), nullptr),
        padded_(points_.dimension()) {}
  // In place of those that the graph was built of: points whose codes are exact.
  Result<GraphSpaceNumbers> MakePointsOfBits();
  // Whether clusters are likely to be the better index of the points. Where most come from a graph
  // they were not.
  Result<bool> AreClustersBetter(uint32_t part_vectors_max) const;
  // Of an average search for ten neighbours.
  struct Calibrated {
    ClusterLists lists;
    ReachTable reach;
  };
  // Of the points, or of a sample of them.
  Result<Calibrated> BuildClusters(const VectorTable& points) const;
  static double BytesOfProbe(const VectorTable& points, const Calibrated& clusters);
  double BytesOfWalk(uint32_t count) const;
  double BytesOfVisit() const;
  uint32_t CodeBits() const;  // of a link, if a graph is built
  struct RowCodes {
    float radius = 0;  // the greatest length of a point; 0: there are none
    uint32_t bits = 1;
  };
  struct HeadNumbers {
    uint32_t places;
    uint32_t bits;
    uint32_t entries;
    RowCodes row_codes;
  };
  RowCodes RowCodesOfPoints() const;
  Status WriteRowCodes(const RowCodes& codes, BlockPacker& packer) const;
  Status WriteHead(const GraphSpaceNumbers& space, const HeadNumbers& numbers,
                   const ReachTable& reach, BlockPacker& packer) const;
  Status WriteGraph(const GraphSpaceNumbers& space, GraphNodes& nodes, const ReachTable& reach,
                    BlockPacker& packer) const;
  Result<Written> WriteClusters(const GraphSpaceNumbers& space, const Calibrated& clusters,
                                BlockPacker& packer) const;

  IndexBuild build_;    // vectors: those that there is room for
  uint32_t taken_ = 0;  // those whose memory was taken
  KeptLinks kept_;
  const uint32_t most_ = build_.vectors;
  Reservation reservation_;
  VectorTable points_;
  bool is_scratch_ = false;
  std::vector<float> padded_;    // the vector that is being added, with zeros behind it
  float widening_ = 1;           // IndexHead::widening
  std::vector<std::byte> bits_;  // of all vectors, where codes are to be exact
};

// What a reader knows of an index before it reads a node. Immutable; any thread.
struct IndexHead {
  GraphSpace space;
  uint32_t places;
  uint32_t bits;  // of the nodes' codes, a dimension
  uint32_t entries;
  float row_radius;   // 0: there are no row codes
  uint32_t row_bits;  // of these, a dimension
  // Where another metric stands in: so many times as many neighbours are looked for by it.
  float widening;
  ReachTable reach;
  VectorElement centroid_element;  // of clusters
  // Of clusters: how many vectors each has, and where their bytes begin, then the end of the last.
  std::vector<uint32_t> cluster_sizes;
  std::vector<uint64_t> cluster_begins;

  uint32_t code_bits() const { return bits * space.point_dimension(); }
  size_t node_bytes() const { return GraphNodeBytes(code_bits(), places); }
  size_t row_code_bytes() const { return RowCodeBytes(space.point_dimension(), row_bits); }
  uint32_t entry_nodes() const { return (entries + places - 1) / places; }
  size_t centroid_bytes() const { return VectorBytes(centroid_element, space.point_dimension()); }
  ClusterShape cluster(uint32_t number) const { return {code_bits(), cluster_sizes[number]}; }
};

// Reads and checks kIndex, and the sizes of the others against it. REQUIRES: the segment has an
// index.
Result<std::unique_ptr<const IndexHead>> ReadIndexHead(BlockSource* source, const Root& root);

}  // namespace pigment
