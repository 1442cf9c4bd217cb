// SPDX-License-Identifier: Apache-2.0
//
// A graph in memory that walks can search: built, rotated and encoded as a segment's is.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/vector/graph_build.h"
#include "engine/vector/graph_walk.h"
#include "engine/vector/rotation.h"

namespace pigment {

class MemoryGraph {
 public:
  // `vectors` is borrowed.
  MemoryGraph(const VectorTable& vectors, Graph graph)
      : vectors_(vectors), graph_(std::move(graph)), rotation_(vectors.dimension(), 7) {
    VectorTable rotated(rotation_.rotated_dimension(), nullptr);
    (void)rotated.Reserve(vectors.count());  // without a budget nothing refuses
    for (uint32_t i = 0; i < vectors.count(); ++i) rotated.Add(Rotated(vectors.vector(i)));
    node_stride_ = (GraphNodeBytes(rotated.dimension(), kLinksPerNodeMax) + 63) / 64 * 64;
    bytes_.reserve(node_stride_ * (vectors.count() + graph_.entries().size()));
    for (uint32_t i = 0; i < vectors.count(); ++i)
      AddNode(rotated, rotated.vector(i), graph_.links(i));
    centre_.resize(rotated.dimension());
    for (const uint32_t entry : graph_.entries()) {
      for (uint32_t d = 0; d < rotated.dimension(); ++d)
        centre_[d] += rotated.row(entry)[d] / static_cast<float>(graph_.entries().size());
    }
    const std::span<const uint32_t> entries = graph_.entries();
    for (size_t i = 0; i < entries.size(); i += kLinksPerNodeMax)
      AddNode(rotated, centre_,
              entries.subspan(i, std::min<size_t>(kLinksPerNodeMax, entries.size() - i)));
  }

  const Graph& graph() const { return graph_; }
  // Of all nodes, each as long as its links need.
  size_t node_bytes() const { return node_bytes_; }
  std::span<std::byte> bytes_of(uint32_t vector) {
    return std::span(bytes_).subspan(size_t{vector} * node_stride_, node_stride_);
  }
  std::vector<float> Rotated(std::span<const float> vector) const {
    std::vector<float> rotated(rotation_.rotated_dimension());
    rotation_.Apply(vector, rotated.data());
    return rotated;
  }

  Result<std::vector<Scored>> Search(std::span<const float> query, const GraphWalkOptions& options,
                                     GraphWalk& walk) {
    const std::vector<float> rotated = Rotated(query);
    Source source(*this, query,
                  Distance(Metric::kL2, rotated.data(), centre_.data(), rotated.size()));
    return walk.Search(source, SignCodeQuery(rotated), graph_.count(), options);
  }

 private:
  class Source final : public GraphSource {
   public:
    Source(MemoryGraph& graph, std::span<const float> query, float centre_distance)
        : graph_(graph), distance_(Metric::kL2, query), centre_distance_(centre_distance) {}
    uint32_t entry_nodes() const override {
      return static_cast<uint32_t>(graph_.bytes_.size() / graph_.node_stride_) -
             graph_.graph_.count();
    }
    Result<GraphNode> EntryNode(uint32_t number) override {
      return Node(graph_.graph_.count() + number);
    }
    float centre_distance() const override { return centre_distance_; }
    Result<GraphNode> Node(uint32_t vector) override {
      GraphNode node;
      if (!GraphNode::Read(graph_.bytes_of(vector), graph_.rotation_.rotated_dimension(), &node))
        return DataLoss(Detail::kMiscounted, "", -1, "a node is damaged");
      return node;
    }
    Result<float> Distance(uint32_t vector) override {
      return distance_(graph_.vectors_.row(vector));
    }
    void Expect(uint32_t vector) override {
      const std::span<const std::byte> bytes = graph_.bytes_of(vector);
      for (size_t i = 0; i < bytes.size(); i += 64) __builtin_prefetch(bytes.data() + i);
      graph_.vectors_.Expect(vector);
    }

   private:
    MemoryGraph& graph_;
    DistanceFunction distance_;
    const float centre_distance_;
  };

  void AddNode(const VectorTable& rotated, std::span<const float> centre,
               std::span<const uint32_t> links) {
    node_bytes_ += GraphNodeBytes(rotated.dimension(), links.size());
    const size_t begin = bytes_.size();
    bytes_.resize(begin + node_stride_);
    EncodeGraphNode(
        centre, links, [&](uint32_t link) { return rotated.vector(link); }, bytes_.data() + begin);
  }

  const VectorTable& vectors_;
  const Graph graph_;
  const Rotation rotation_;
  std::vector<float> centre_;  // of the entries, rotated
  size_t node_stride_ = 0;
  size_t node_bytes_ = 0;
  std::vector<std::byte> bytes_;  // nodes of the vectors, then of the entries
};

}  // namespace pigment
