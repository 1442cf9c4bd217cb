// SPDX-License-Identifier: Apache-2.0
//
// Clusters in memory as a probe reads them: calibration probes what it has just built. One thread.

#pragma once

#include <cstdint>
#include <span>

#include "engine/base/prefetch.h"
#include "engine/vector/cluster_lists.h"
#include "engine/vector/cluster_probe.h"
#include "engine/vector/distance.h"
#include "engine/vector/vector_table.h"

namespace pigment {

class ClusterTableSource final : public ClusterSource {
 public:
  // `lists` are those of `points`; the query is a point. All are borrowed.
  ClusterTableSource(const VectorTable& points, const ClusterLists& lists,
                     std::span<const float> query)
      : points_(points),
        lists_(lists),
        distance_(Metric::kL2, query),
        centre_square_(InnerProduct(query.data(), query.data(), query.size())) {}

  uint32_t clusters() const override { return lists_.clusters(); }
  uint32_t entry_nodes() const override { return lists_.entry_nodes(); }
  Result<GraphNode> EntryNode(uint32_t number) override {
    return Read(lists_.entry_node(number), kLinksPerNodeMax);
  }
  float centre_square() const override { return centre_square_; }
  Result<float> Distance(uint32_t vector) override { return distance_(points_.row(vector)); }
  float SquareOf(float distance) const override { return distance; }
  void Expect(uint32_t vector) override { points_.Expect(vector); }
  Result<float> CentroidSquare(uint32_t cluster) override {
    return distance_(lists_.centroids().row(cluster));
  }
  void ExpectCentroid(uint32_t cluster) override { lists_.centroids().Expect(cluster); }
  void ExpectCluster(uint32_t cluster) override {
    ExpectBytes(lists_.bytes(cluster).data(), lists_.shape(cluster).node_bytes(0));
  }
  Result<uint32_t> Go(uint32_t cluster) override {
    cluster_ = cluster;
    return lists_.shape(cluster).nodes();
  }
  Result<GraphNode> Node(uint32_t number) override {
    const ClusterShape shape = lists_.shape(cluster_);
    return Read(lists_.bytes(cluster_).subspan(shape.offset(number)), shape.places(number));
  }

 private:
  Result<GraphNode> Read(std::span<const std::byte> bytes, uint32_t places) const {
    GraphNode node;
    if (!GraphNode::Read(bytes, lists_.code_bits(), places, &node))
      return Internal("a node that was just encoded is none");
    return node;
  }

  const VectorTable& points_;
  const ClusterLists& lists_;
  const DistanceFunction distance_;
  const float centre_square_;
  uint32_t cluster_ = 0;
};

}  // namespace pigment
