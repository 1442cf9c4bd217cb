// SPDX-License-Identifier: Apache-2.0
//
// Clusters of vectors as a search reads them (an inverted file; SPANN, Chen et al., NeurIPS 2021):
// each vector in the cluster whose centroid is nearest, the vectors of a cluster as the links of
// nodes (graph_node.h) whose own vector is the centroid. Entries are the clusters, linked to as if
// from the centre of all, where the points' space begins.
//
// A cluster's bytes are its nodes one after the other: of kLinksPerNodeMax places while so many
// vectors are left, then one of as few places as the rest takes.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/vector/build_pause.h"
#include "engine/vector/graph_node.h"
#include "engine/vector/number_lists.h"
#include "engine/vector/vector_table.h"

namespace pigment {

// Where the nodes of a cluster of so many vectors lie among its bytes.
class ClusterShape {
 public:
  ClusterShape(uint32_t code_bits, uint32_t vectors) : code_bits_(code_bits), vectors_(vectors) {}

  uint32_t nodes() const { return (vectors_ + kLinksPerNodeMax - 1) / kLinksPerNodeMax; }
  uint32_t places(uint32_t node) const { return GraphNodePlaces(links(node)); }
  uint32_t links(uint32_t node) const {
    return std::min(kLinksPerNodeMax, vectors_ - node * kLinksPerNodeMax);
  }
  size_t offset(uint32_t node) const {
    return size_t{node} * GraphNodeBytes(code_bits_, kLinksPerNodeMax);
  }
  size_t node_bytes(uint32_t node) const { return GraphNodeBytes(code_bits_, places(node)); }
  size_t bytes() const { return nodes() == 0 ? 0 : offset(nodes() - 1) + node_bytes(nodes() - 1); }

 private:
  uint32_t code_bits_;
  uint32_t vectors_;
};

struct ClusterListOptions {
  // On average, of up to 100,000 vectors; of more it grows as the root of their number does, so
  // that neither the centroids nor the clusters near a query become many.
  uint32_t vectors_per_cluster = 100;
  uint32_t sample_each = 32;  // vectors a cluster that centroids are computed from
  uint32_t rounds = 5;        // of Lloyd's algorithm
  uint64_t seed = 1;
  uint32_t bits = 1;    // of a code, a dimension
  bool halves = false;  // centroids are rounded to what 16 bits hold, unless one is beyond it
  uint32_t threads = 1;
  MemoryBudget* budget = nullptr;  // may be null
  BuildPause pause = {};           // may be empty; asked by the caller's thread alone
};

class ClusterLists {
 public:
  // REQUIRES: points.count() > 0. Equal arguments give equal clusters on every machine, however
  // many threads share the work. Points are copied into codes and not kept.
  static Result<ClusterLists> Build(const VectorTable& points, const ClusterListOptions& options);
  // Memory that Build takes at most, and what it gives has.
  static uint64_t BuildBytes(uint32_t dimension, uint32_t count, const ClusterListOptions& options);

  uint32_t clusters() const { return centroids_.count(); }
  const VectorTable& centroids() const { return centroids_; }
  bool centroids_are_halves() const { return are_halves_; }
  // Ascending; never empty.
  std::span<const uint32_t> vectors(uint32_t cluster) const { return lists_.of(cluster); }
  ClusterShape shape(uint32_t cluster) const {
    return {code_bits(), static_cast<uint32_t>(vectors(cluster).size())};
  }
  std::span<const std::byte> bytes(uint32_t cluster) const {
    return std::span(nodes_).subspan(offsets_[cluster], shape(cluster).bytes());
  }
  uint32_t bits() const { return bits_; }  // a dimension
  uint32_t code_bits() const { return bits_ * centroids_.dimension(); }
  uint32_t entry_nodes() const { return (clusters() + kLinksPerNodeMax - 1) / kLinksPerNodeMax; }
  size_t entry_node_bytes() const { return GraphNodeBytes(code_bits(), kLinksPerNodeMax); }
  std::span<const std::byte> entry_node(uint32_t number) const {
    return std::span(entries_).subspan(number * entry_node_bytes(), entry_node_bytes());
  }

 private:
  ClusterLists(uint32_t dimension, uint32_t bits, MemoryBudget* budget)
      : centroids_(dimension, budget), bits_(bits), reservation_(budget) {}
  Status Assign(const VectorTable& points, const ClusterListOptions& options);
  void RoundCentroids();
  Status Encode(const VectorTable& points, const ClusterListOptions& options);

  VectorTable centroids_;
  uint32_t bits_;
  bool are_halves_ = false;
  Reservation reservation_;
  NumberLists lists_;
  std::vector<size_t> offsets_;  // of each cluster's bytes
  std::vector<std::byte> nodes_;
  std::vector<std::byte> entries_;
};

// Writes the node of a cluster that has these links. `vectors` as for EncodeGraphNode.
template <typename Vectors>
void EncodeClusterNode(std::span<const float> centroid, uint32_t bits,
                       std::span<const uint32_t> links, const Vectors& vectors, std::byte* out) {
  EncodeGraphNode(centroid, bits, links, GraphNodePlaces(static_cast<uint32_t>(links.size())),
                  vectors, out);
}

}  // namespace pigment
