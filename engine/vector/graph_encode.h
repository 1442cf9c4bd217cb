// SPDX-License-Identifier: Apache-2.0
//
// Nodes of a whole graph (graph_node.h), encoded from the points that it was built over: one for
// each point, and those that link to the entries, as if from the centre of all, where the points'
// space begins. Both classes borrow points and graph.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/large_pages.h"
#include "engine/base/prefetch.h"
#include "engine/base/status.h"
#include "engine/vector/build_pause.h"
#include "engine/vector/graph.h"
#include "engine/vector/graph_node.h"
#include "engine/vector/vector_table.h"

namespace pigment {

struct NodeCodes {
  uint32_t bits = 1;       // a dimension
  bool are_exact = false;  // (graph_space.h): those of all nodes are around the centre
};

// Any number of threads, each with bytes of its own.
class GraphEncoder {
 public:
  // REQUIRES: graph.count() == points.count(), graph.degree_max() <= kLinksPerNodeMax.
  GraphEncoder(const VectorTable& points, const Graph& graph, NodeCodes codes = {})
      : points_(points),
        graph_(graph),
        places_(GraphNodePlaces(graph.degree_max())),
        codes_(codes),
        origin_(points.dimension()) {}

  const VectorTable& points() const { return points_; }
  const Graph& graph() const { return graph_; }
  uint32_t places() const { return places_; }
  const NodeCodes& codes() const { return codes_; }
  uint32_t code_bits() const { return codes_.bits * points_.dimension(); }
  size_t node_bytes() const { return GraphNodeBytes(code_bits(), places_); }
  uint32_t entry_nodes() const {
    return (static_cast<uint32_t>(graph_.entries().size()) + places_ - 1) / places_;
  }
  // Both write node_bytes() bytes.
  void EncodeNode(uint32_t point, std::byte* out) const {
    Encode(codes_.are_exact ? origin_ : points_.vector(point), graph_.links(point), out);
  }
  void EncodeEntryNode(uint32_t number, std::byte* out) const;

 private:
  void Encode(std::span<const float> centre, std::span<const uint32_t> links,
              std::byte* out) const {
    size_t next = 0;
    const auto point = [&](uint32_t link) {
      if (++next < links.size()) points_.Expect(links[next]);
      return points_.vector(link);
    };
    EncodeGraphNode(centre, codes_.bits, links, places_, point, out);
  }

  const VectorTable& points_;
  const Graph& graph_;
  const uint32_t places_;
  const NodeCodes codes_;
  const std::vector<float> origin_;
};

// Nodes that are encoded when they are asked for, and kept: a build's calibration walks over many
// of those that are written behind it. One caller's.
class GraphNodes {
 public:
  // Keeps as many as have room in `bytes`, and some in any case.
  GraphNodes(const VectorTable& points, const Graph& graph, uint64_t bytes = 0,
             NodeCodes codes = {});

  const GraphEncoder& encoder() const { return encoder_; }
  // Encodes all nodes, on some threads and in the order of the graph, so that links of one are in
  // the caches for the next. Does nothing where not all are kept.
  Status Fill(uint32_t threads, const BuildPause& pause);
  // Valid until the next call.
  std::span<const std::byte> Node(uint32_t point);
  // It is likely to be read soon.
  void Expect(uint32_t point) const {
    ExpectBytes(bytes_.data() + PlaceOf(point) * encoder_.node_bytes(), encoder_.node_bytes());
  }

 private:
  size_t PlaceOf(uint32_t point) const { return point % holds_.size(); }

  const GraphEncoder encoder_;
  std::vector<uint32_t> holds_;  // of each place the point whose node is there
  std::vector<std::byte, LargePageAllocator<std::byte>> bytes_;
};

}  // namespace pigment
