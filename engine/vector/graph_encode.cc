// SPDX-License-Identifier: Apache-2.0
//
// Nodes of entries, and those that are kept: see the header.

#include "engine/vector/graph_encode.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "engine/vector/shared_loop.h"

namespace pigment {
namespace {

// The same ones are visited again and again where there are few.
constexpr uint64_t kNodesKeptMin = 16 << 10;
constexpr uint32_t kNoPoint = std::numeric_limits<uint32_t>::max();

}  // namespace

void GraphEncoder::EncodeEntryNode(uint32_t number, std::byte* out) const {
  const std::span<const uint32_t> entries = graph_.entries();
  const size_t first = size_t{number} * places_;
  Encode(origin_, entries.subspan(first, std::min<size_t>(places_, entries.size() - first)), out);
}

GraphNodes::GraphNodes(const VectorTable& points, const Graph& graph, uint64_t bytes,
                       NodeCodes codes)
    : encoder_(points, graph, codes) {
  const uint64_t kept = std::max(bytes / encoder_.node_bytes(), kNodesKeptMin);
  holds_.assign(std::min<uint64_t>(kept, points.count()), kNoPoint);
  bytes_.resize(holds_.size() * encoder_.node_bytes());
}

Status GraphNodes::Fill(uint32_t threads, const BuildPause& pause) {
  const std::vector<uint32_t>& order = encoder_.graph().order();
  if (holds_.size() < order.size()) return Status::Ok();
  return ShareVectors(threads, order, pause,
                      [this] { return [this](uint32_t point) { Node(point); }; });
}

std::span<const std::byte> GraphNodes::Node(uint32_t point) {
  const size_t place = PlaceOf(point);
  const auto node = std::span(bytes_).subspan(place * encoder_.node_bytes(), encoder_.node_bytes());
  if (std::exchange(holds_[place], point) != point) encoder_.EncodeNode(point, node.data());
  return node;
}

}  // namespace pigment
