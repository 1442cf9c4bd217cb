// SPDX-License-Identifier: Apache-2.0
//
// A graph in memory that walks can search by l2: built and encoded as a segment's is.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/prefetch.h"
#include "engine/vector/graph_build.h"
#include "engine/vector/graph_encode.h"
#include "engine/vector/graph_space.h"
#include "engine/vector/graph_walk.h"

namespace pigment {

class MemoryGraph {
 public:
  // `vectors` is borrowed.
  MemoryGraph(const VectorTable& vectors, Graph graph)
      : vectors_(vectors), graph_(std::move(graph)), space_(MakeSpace(vectors, points_)) {
    bits_ = GraphCodeBits(points_.dimension());
    const GraphEncoder encoder(points_, graph_, {.bits = bits_});
    places_ = encoder.places();
    node_bytes_ = encoder.node_bytes();
    entry_nodes_ = encoder.entry_nodes();
    node_stride_ = (node_bytes_ + 63) / 64 * 64;
    bytes_.resize(node_stride_ * (vectors.count() + entry_nodes_));
    for (uint32_t i = 0; i < vectors.count(); ++i) encoder.EncodeNode(i, bytes_of(i).data());
    for (uint32_t i = 0; i < entry_nodes_; ++i)
      encoder.EncodeEntryNode(i, bytes_of(vectors.count() + i).data());
  }

  const Graph& graph() const { return graph_; }
  const VectorTable& points() const { return points_; }
  // Of one node.
  size_t node_bytes() const { return node_bytes_; }
  // Of a node: those of the entries follow those of the vectors.
  std::span<std::byte> bytes_of(uint32_t number) {
    return std::span(bytes_).subspan(size_t{number} * node_stride_, node_stride_);
  }

  Result<std::vector<Scored>> Search(std::span<const float> vector, const GraphWalkOptions& options,
                                     GraphWalk& walk) {
    const GraphQuery query(space_, vector);
    Source source(*this, vector, query);
    return walk.Search(source, SignCodeQuery(query.point(), bits_), graph_.count(), options);
  }

 private:
  class Source final : public GraphSource {
   public:
    Source(MemoryGraph& graph, std::span<const float> vector, const GraphQuery& query)
        : graph_(graph), distance_(Metric::kL2, vector), query_(query) {}
    uint32_t entry_nodes() const override { return graph_.entry_nodes_; }
    Result<GraphNode> EntryNode(uint32_t number) override {
      return Node(graph_.graph_.count() + number);
    }
    float centre_square() const override { return query_.centre_square(); }
    Result<GraphNode> Node(uint32_t vector) override {
      GraphNode node;
      if (!GraphNode::Read(graph_.bytes_of(vector), graph_.bits_ * graph_.points_.dimension(),
                           graph_.places_, &node)) {
        return DataLoss(Detail::kMiscounted, "", -1, "a node is damaged");
      }
      return node;
    }
    Result<float> Distance(uint32_t vector) override {
      return distance_(graph_.vectors_.row(vector));
    }
    float SquareOf(float distance) const override { return query_.SquareOf(distance); }
    void Expect(uint32_t vector) override {
      const std::span<const std::byte> bytes = graph_.bytes_of(vector);
      ExpectBytes(bytes.data(), bytes.size());
      graph_.vectors_.Expect(vector);
    }

   private:
    MemoryGraph& graph_;
    const DistanceFunction distance_;
    const GraphQuery& query_;
  };

  static GraphSpace MakeSpace(const VectorTable& vectors, VectorTable& points) {
    points = VectorTable(GraphSpace::PointDimension(Metric::kL2, vectors.dimension()), nullptr);
    (void)points.Reserve(vectors.count());  // without a budget nothing refuses
    std::vector<float> padded(points.dimension());
    for (uint32_t i = 0; i < vectors.count(); ++i) {
      std::copy_n(vectors.row(i), vectors.dimension(), padded.begin());
      points.Add(padded);
    }
    GraphSpaceNumbers numbers;
    (void)GraphSpace::MakePoints(Metric::kL2, vectors.dimension(), {}, points, numbers);
    return GraphSpace(Metric::kL2, vectors.dimension(), std::move(numbers));
  }

  const VectorTable& vectors_;
  const Graph graph_;
  VectorTable points_{0, nullptr};
  const GraphSpace space_;
  uint32_t bits_ = 1;    // of a code, a dimension
  uint32_t places_ = 0;  // of a node
  uint32_t entry_nodes_ = 0;
  size_t node_bytes_ = 0;
  size_t node_stride_ = 0;
  std::vector<std::byte> bytes_;  // nodes of the vectors, then of the entries
};

}  // namespace pigment
