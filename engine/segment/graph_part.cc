// SPDX-License-Identifier: Apache-2.0
//
// From vectors to the parts of a graph, and the head back: see the header.

#include "engine/segment/graph_part.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "engine/segment/part_reader.h"
#include "engine/segment/part_writer.h"
#include "engine/vector/graph_build.h"
#include "engine/vector/graph_encode.h"
#include "engine/vector/graph_node.h"

namespace pigment {
namespace {

struct StoredHead {
  uint64_t seed;
  float square_max;
  uint32_t places;
  uint32_t entries;
  uint32_t reserved;
  decltype(ReachTable::values) reach;
};
static_assert(sizeof(StoredHead) == 168);

std::string_view BytesOf(const void* bytes, size_t size) {
  return {static_cast<const char*>(bytes), size};
}

bool IsReach(const Reach& reach) { return reach.reach >= 0 && reach.visits >= 0; }

}  // namespace

uint64_t GraphWriter::BuildBytes(Metric metric, uint32_t dimension, uint32_t vectors,
                                 uint32_t threads) {
  const uint32_t point_dimension = GraphSpace::PointDimension(metric, dimension);
  return uint64_t{vectors} * point_dimension * sizeof(float) +
         GraphBuildBytes(point_dimension, vectors, threads);
}

Result<std::unique_ptr<GraphWriter>> GraphWriter::Make(Metric metric, uint32_t dimension,
                                                       uint32_t vectors, uint32_t threads,
                                                       MemoryBudget* budget, BuildPause pause) {
  std::unique_ptr<GraphWriter> writer(
      new GraphWriter(metric, dimension, vectors, threads, budget, std::move(pause)));
  PIGMENT_RETURN_IF_ERROR(
      writer->reservation_.Grow(BuildBytes(metric, dimension, vectors, threads)));
  PIGMENT_RETURN_IF_ERROR(writer->points_.Reserve(vectors));
  return writer;
}

Status GraphWriter::Add(std::span<const float> vector) {
  if (points_.count() == vectors_max_)
    return Internal(fmt::format("more than {} vectors were added to a graph", vectors_max_));
  std::copy(vector.begin(), vector.end(), padded_.begin());
  points_.Add(padded_);
  return Status::Ok();
}

Result<bool> GraphWriter::Write(BlockPacker& packer) {
  if (points_.count() == 0) return false;
  GraphSpaceNumbers space;
  PIGMENT_ASSIGN_OR_RETURN(const bool is_useful,
                           GraphSpace::MakePoints(metric_, dimension_, pause_, points_, space));
  if (!is_useful) return false;
  GraphOptions options;
  options.degree_max = GraphDegree(dimension_);
  options.neighbors.threads = threads_;
  options.neighbors.pause = pause_;
  PIGMENT_ASSIGN_OR_RETURN(const Graph graph, BuildGraph(points_, options));
  PIGMENT_ASSIGN_OR_RETURN(const ReachTable reach,
                           CalibrateReach(points_, graph, {.pause = pause_}));
  const GraphEncoder encoder(points_, graph);
  const StoredHead head{.seed = space.seed,
                        .square_max = space.square_max,
                        .places = encoder.places(),
                        .entries = static_cast<uint32_t>(graph.entries().size()),
                        .reserved = 0,
                        .reach = reach.values};
  PartWriter* part = packer.Part(BlockKind::kGraph, 0);
  PIGMENT_RETURN_IF_ERROR(part->AddStream(BytesOf(&head, sizeof head)));
  PIGMENT_RETURN_IF_ERROR(
      part->AddStream(BytesOf(space.centre.data(), space.centre.size() * sizeof(float))));
  std::vector<std::byte> node(encoder.node_bytes());
  const uint32_t element_bytes = DenseElementBytes(node.size());
  part = packer.Part(BlockKind::kGraphEntries, element_bytes);
  for (uint32_t i = 0; i < encoder.entry_nodes(); ++i) {
    encoder.EncodeEntryNode(i, node.data());
    PIGMENT_RETURN_IF_ERROR(part->AddDense(node.data(), node.size()));
  }
  part = packer.Part(BlockKind::kGraphNodes, element_bytes);
  for (uint32_t i = 0; i < points_.count(); ++i) {
    if (pause_) PIGMENT_RETURN_IF_ERROR(pause_());
    encoder.EncodeNode(i, node.data());
    PIGMENT_RETURN_IF_ERROR(part->AddDense(node.data(), node.size()));
  }
  return true;
}

Result<std::unique_ptr<const GraphHead>> ReadGraphHead(BlockSource* source, const Root& root) {
  const SegmentInfo& info = root.info;
  PartCursor part(source, &root, BlockKind::kGraph);
  const uint32_t point_dimension = GraphSpace::PointDimension(info.metric, info.dimension);
  StoredHead head;
  if (part.bytes() != sizeof head + size_t{point_dimension} * sizeof(float)) {
    return part.Damaged(Detail::kMiscounted,
                        fmt::format("{} bytes for points of {}", part.bytes(), point_dimension));
  }
  PIGMENT_RETURN_IF_ERROR(part.CopyStream(0, std::as_writable_bytes(std::span(&head, 1))));
  GraphSpaceNumbers space{.seed = head.seed,
                          .square_max = head.square_max,
                          .centre = std::vector<float>(point_dimension)};
  PIGMENT_RETURN_IF_ERROR(
      part.CopyStream(sizeof head, std::as_writable_bytes(std::span(space.centre))));
  size_t bad = 0;
  bool is_sound = head.places % 8 == 0 && head.places > 0 && head.places <= kLinksPerNodeMax &&
                  head.entries > 0 && head.entries <= info.vectors && head.square_max >= 0 &&
                  std::isfinite(head.square_max) && head.reserved == 0 &&
                  AllFinite(space.centre.data(), space.centre.size(), &bad);
  for (const auto& row : head.reach) {
    for (const Reach& reach : row) is_sound = is_sound && IsReach(reach);
  }
  if (!is_sound) {
    return part.Damaged(Detail::kMiscounted,
                        fmt::format("{} places, {} entries, square {}", head.places, head.entries,
                                    head.square_max));
  }
  auto read = std::make_unique<GraphHead>(
      GraphHead{.space = GraphSpace(info.metric, info.dimension, std::move(space)),
                .places = head.places,
                .entries = head.entries,
                .reach = {.values = head.reach}});
  const auto check_size = [&](BlockKind kind, uint64_t nodes) {
    const PartCursor nodes_part(source, &root, kind);
    const uint32_t element_bytes = DenseElementBytes(read->node_bytes());
    if (nodes_part.bytes() == nodes * read->node_bytes() &&
        nodes_part.element_bytes() == element_bytes) {
      return Status::Ok();
    }
    return nodes_part.Damaged(
        Detail::kMiscounted,
        fmt::format("{} bytes for {} nodes of {}", nodes_part.bytes(), nodes, read->node_bytes()));
  };
  PIGMENT_RETURN_IF_ERROR(check_size(BlockKind::kGraphEntries, read->entry_nodes()));
  PIGMENT_RETURN_IF_ERROR(check_size(BlockKind::kGraphNodes, info.vectors));
  return std::unique_ptr<const GraphHead>(std::move(read));
}

}  // namespace pigment
