// SPDX-License-Identifier: Apache-2.0
//
// From vectors to the parts of their index, and the head back: see the header.

#include "engine/segment/index_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/segment/part_reader.h"
#include "engine/segment/part_writer.h"
#include "engine/vector/cluster_reach.h"
#include "engine/vector/distance.h"
#include "engine/vector/graph_build.h"
#include "engine/vector/graph_encode.h"
#include "engine/vector/graph_reach.h"
#include "engine/vector/half.h"
#include "engine/vector/packed_vector.h"
#include "engine/vector/stand_in.h"

namespace pigment {
namespace {

struct StoredHead {
  uint64_t seed;
  float square_max;
  uint16_t places;
  uint8_t more_bits;  // beyond one
  uint8_t more_row_bits;
  uint32_t entries;
  float row_radius;
  decltype(ReachTable::values) reach;
};
static_assert(sizeof(StoredHead) == 168);

// Of an index that grows: room for so many, or for those that are expected, is addresses, whose
// memory comes with the vectors. It spares copying them into twice the room again and again.
constexpr uint32_t kFirstRoom = 1024;
constexpr uint64_t kFirstRoomBytesMax = uint64_t{1} << 30;
// The rest is for postings and pages.
constexpr uint64_t ShareOfIndex(uint64_t limit_bytes) { return limit_bytes / 4 * 3; }

// Codes of a graph over bits lose nothing (graph_space.h). Clusters' are around centroids, which
// are no bits.
bool HasExactCodes(const IndexBuild& build) {
  return build.index.kind == SegmentKind::kGraph && build.metric == Metric::kHamming &&
         build.vector_element == VectorElement::kBit;
}

std::string_view BytesOf(const void* bytes, size_t size) {
  return {static_cast<const char*>(bytes), size};
}

NodeCodes GraphCodesOf(const IndexBuild& build) {
  if (HasExactCodes(build)) return {.bits = 1, .are_exact = true};
  return {.bits = GraphCodeBits(GraphSpace::PointDimension(build.metric, build.dimension))};
}

// Parts of a graph whose vectors are in scratch (graph_parts.h): of fewer than the least so many
// would be needed that one segment is no better than several.
constexpr uint32_t kPartVectorsMin = 4096, kPartVectorsMax = 1 << 16;

GraphOptions GraphOptionsOf(const IndexBuild& build, uint32_t part_vectors_max = 0) {
  constexpr float kClustersMin = 4, kClustersMax = 200, kListMax = 256;
  const float effort = build.index.effort;
  GraphOptions options;
  options.degree_max =
      build.index.links_max != 0 ? build.index.links_max : GraphDegree(build.dimension);
  options.clusters_searched = static_cast<uint32_t>(std::clamp(
      static_cast<float>(options.clusters_searched) * effort, kClustersMin, kClustersMax));
  options.part_vectors_max = part_vectors_max;
  options.scratch = build.scratch;
  NeighborOptions& neighbors = options.neighbors;
  neighbors.list_max =
      static_cast<uint32_t>(std::clamp(static_cast<float>(neighbors.list_max) * effort,
                                       2.0f * static_cast<float>(options.degree_max), kListMax));
  neighbors.threads = build.threads;
  neighbors.pause = build.pause;
  return options;
}

ClusterListOptions ClusterOptionsOf(const IndexBuild& build) {
  ClusterListOptions options;
  options.vectors_per_cluster = build.index.vectors_per_cluster;
  options.bits = ClusterCodeBits(GraphSpace::PointDimension(build.metric, build.dimension));
  options.halves = build.vector_element != VectorElement::kF32;
  options.threads = build.threads;
  options.pause = build.pause;
  return options;
}

// What a visit of a node or a cluster costs beside their bytes (heap, picking links), in bytes that
// both wait for.
constexpr double kVisitBytes = 2500;
// What queries want that say nothing, nearly.
constexpr double kUsualRecall = 0.98;
constexpr size_t kUsualNeighbors = 10;
// Of fewer vectors graphs and clusters are searched in no time, and no sample is taken.
constexpr uint32_t kSampledFrom = 8192;
constexpr uint32_t kSampleMax = 16384;
// Each so manyth vector is of the sample; 1: all are. A sample takes no more memory than a part.
uint32_t StepOfSample(uint32_t count, uint32_t part_vectors_max) {
  const uint32_t most = part_vectors_max == 0 ? kSampleMax : std::min(kSampleMax, part_vectors_max);
  return count / most + (count % most != 0 ? 1 : 0);
}

uint64_t PointBytes(const IndexBuild& build, uint32_t count) {
  const uint32_t dimension = GraphSpace::PointDimension(build.metric, build.dimension);
  return uint64_t{count} * dimension * sizeof(float);
}

// Rounded up, so that no length is a greater part of it than 1.
float GreatestLength(const VectorTable& points) {
  float greatest = 0;
  for (uint32_t i = 0; i < points.count(); ++i) {
    const std::span<const float> point = points.vector(i);
    greatest = std::max(greatest, InnerProduct(point.data(), point.data(), point.size()));
  }
  return std::sqrt(greatest) * (1 + 0x1p-10f);
}

bool IsReach(const Reach& reach) { return reach.reach >= 0 && reach.visits >= 0; }

// Sizes of clusters, and from them where each begins.
Status ReadClusterSizes(BlockSource* source, const Root& root, IndexHead& head) {
  PartCursor part(source, &root, BlockKind::kClusterSizes);
  if (part.bytes() != head.entries * sizeof(uint32_t)) {
    return part.Damaged(Detail::kMiscounted,
                        fmt::format("{} bytes for {} clusters", part.bytes(), head.entries));
  }
  head.cluster_sizes.resize(head.entries);
  PIGMENT_RETURN_IF_ERROR(part.ReadElements(0, std::span(head.cluster_sizes)));
  uint64_t vectors = 0;
  uint64_t begin = 0;
  for (uint32_t cluster = 0; cluster < head.entries; ++cluster) {
    head.cluster_begins.push_back(begin);
    vectors += head.cluster_sizes[cluster];
    begin += head.cluster(cluster).bytes();
  }
  head.cluster_begins.push_back(begin);
  const PartCursor nodes(source, &root, BlockKind::kClusterNodes);
  if (vectors == root.info.vectors && begin == nodes.bytes()) return Status::Ok();
  return part.Damaged(Detail::kMiscounted,
                      fmt::format("{} vectors in {} bytes, the segment has {} in {}", vectors,
                                  begin, root.info.vectors, nodes.bytes()));
}

// What the part's bytes say; whether they are as many as they must be is checked by it.
VectorElement CentroidElement(BlockSource* source, const Root& root, uint64_t clusters,
                              uint32_t dimension) {
  const PartCursor part(source, &root, BlockKind::kCentroids);
  const uint64_t halves = clusters * VectorBytes(VectorElement::kF16, dimension);
  return part.bytes() == halves ? VectorElement::kF16 : VectorElement::kF32;
}

}  // namespace

uint64_t IndexWriter::BuildBytes(const IndexBuild& build) {
  return PointBytes(build, build.vectors) + ScratchBuildBytes(build, 0);
}

uint64_t IndexWriter::ScratchBuildBytes(const IndexBuild& build, uint32_t part_vectors_max) {
  const uint32_t point_dimension = GraphSpace::PointDimension(build.metric, build.dimension);
  const auto clusters = [&](uint32_t count) {
    return ClusterLists::BuildBytes(point_dimension, count, ClusterOptionsOf(build));
  };
  const uint64_t bits =
      HasExactCodes(build) ? 2 * VectorBytes(VectorElement::kBit, build.dimension) : 0;
  const uint64_t beside = build.vectors * (sizeof(float) + bits);
  if (build.index.kind == SegmentKind::kClusters) return beside + clusters(build.vectors);
  uint64_t most =
      GraphBuildBytes(point_dimension, build.vectors, GraphOptionsOf(build, part_vectors_max));
  if (build.index.may_be_clusters && build.vectors >= kSampledFrom) {
    // One after the other: of the sample, of all, or the graph.
    const uint32_t step = StepOfSample(build.vectors, part_vectors_max);
    const uint32_t sampled = build.vectors / step + 1;
    const uint64_t copied = step == 1 ? 0 : PointBytes(build, sampled) + sampled * sizeof(float);
    most = std::max({most, copied + clusters(sampled), clusters(build.vectors)});
  }
  return beside + most;
}

Result<std::unique_ptr<IndexWriter>> IndexWriter::Make(const IndexBuild& build) {
  std::unique_ptr<IndexWriter> writer(new IndexWriter(build));
  writer->build_.vectors = 0;
  if (!build.grows) {
    // All of a budget would be too much: the rest of a segment takes some, too.
    if (writer->has_limit() && BuildBytes(build) > writer->MemoryLeft() &&
        writer->MoveToScratch(build.vectors).ok())
      return writer;
    PIGMENT_RETURN_IF_ERROR(writer->Grow(build.vectors));
    return writer;
  }
  // The number is somebody's word. Where it is too large, memory may yet be enough for those that
  // come.
  static_cast<void>(writer->Take(std::min(build.vectors, build.expected)).ok());
  const uint64_t room =
      std::min<uint64_t>(writer->taken_, kFirstRoomBytesMax / PointBytes(build, 1));
  PIGMENT_RETURN_IF_ERROR(
      writer->Grow(std::min(build.vectors, std::max(static_cast<uint32_t>(room), kFirstRoom))));
  return writer;
}

uint32_t IndexWriter::VectorsWithin(const IndexBuild& build, uint64_t limit_bytes) {
  uint32_t fits = 0;
  for (uint32_t beyond = build.vectors; fits < beyond;) {
    IndexBuild tried = build;
    tried.vectors = fits + (beyond - fits + 1) / 2;
    const uint64_t bytes =
        build.scratch ? std::min(BuildBytes(tried), ScratchBuildBytes(tried, kPartVectorsMin))
                      : BuildBytes(tried);
    if (bytes <= ShareOfIndex(limit_bytes)) {
      fits = tried.vectors;
    } else {
      beyond = tried.vectors - 1;
    }
  }
  return fits;
}

Status IndexWriter::Take(uint32_t vectors) {
  if (vectors <= taken_) return Status::Ok();
  IndexBuild grown = build_;
  grown.vectors = vectors;
  const uint64_t before = reservation_.bytes();
  const uint64_t needed =
      is_scratch_ ? ScratchBuildBytes(grown, kPartVectorsMin) : BuildBytes(grown);
  const uint64_t bytes = std::max(needed, before);
  if (build_.grows && has_limit() && bytes > MemoryLeft()) {
    return ResourceExhausted(Detail::kMemory,
                             fmt::format("an index of {} vectors takes {} bytes", vectors, bytes));
  }
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow(bytes - before));
  taken_ = vectors;
  return Status::Ok();
}

Status IndexWriter::Grow(uint32_t room) {
  PIGMENT_RETURN_IF_ERROR(Take(room));
  PIGMENT_RETURN_IF_ERROR(points_.Reserve(room));
  build_.vectors = room;
  return Status::Ok();
}

bool IndexWriter::MakeRoom() {
  if (points_.count() < build_.vectors) return true;
  if (!build_.grows || build_.vectors >= most_) return false;
  const uint64_t room = build_.vectors;
  if (room < taken_ && Grow(static_cast<uint32_t>(std::min<uint64_t>(room * 2, taken_))).ok())
    return true;
  // What is left of the memory may be less than as much again.
  const auto grows_by_any = [&](const auto& grow) {
    return std::ranges::any_of(std::array{room, room / 2, room / 4, room / 8}, [&](uint64_t more) {
      return more != 0 && grow(static_cast<uint32_t>(std::min<uint64_t>(room + more, most_))).ok();
    });
  };
  return grows_by_any([this](uint32_t wanted) { return Grow(wanted); }) ||
         (!is_scratch_ && grows_by_any([this](uint32_t wanted) { return MoveToScratch(wanted); }));
}

// What was taken for vectors in memory is given back.
Status IndexWriter::MoveToScratch(uint32_t room) {
  IndexBuild moved = build_;
  moved.vectors = room;
  if (!build_.scratch || !has_limit() || ScratchBuildBytes(moved, kPartVectorsMin) > MemoryLeft()) {
    return ResourceExhausted(Detail::kMemory,
                             fmt::format("{} vectors of an index have no room", room));
  }
  PIGMENT_RETURN_IF_ERROR(points_.MoveToScratch(build_.scratch, room));
  is_scratch_ = true;
  reservation_ = Reservation(build_.budget);
  taken_ = 0;
  build_.vectors = room;
  return Take(room);
}

uint64_t IndexWriter::MemoryLeft() const {
  const uint64_t of_others = build_.budget->used_bytes() - reservation_.bytes();
  const uint64_t share = ShareOfIndex(build_.budget->limit_bytes());
  return share - std::min(share, of_others);
}

uint32_t IndexWriter::TakeForParts() {
  if (!is_scratch_) return 0;
  IndexBuild built = build_;
  built.vectors = points_.count();
  const uint64_t left = MemoryLeft();
  const auto fits = [&](uint32_t part) { return ScratchBuildBytes(built, part) <= left; };
  uint32_t part = kPartVectorsMin;
  if (fits(points_.count())) {
    part = points_.count();
  } else {
    for (uint32_t step = kPartVectorsMax / 2; step > 0; step /= 2)
      if (part + step <= kPartVectorsMax && fits(part + step)) part += step;
  }
  const uint64_t bytes = ScratchBuildBytes(built, part);
  if (bytes <= reservation_.bytes() || reservation_.Grow(bytes - reservation_.bytes()).ok())
    return part;
  return kPartVectorsMin;  // others were faster
}

uint64_t IndexWriter::TakeForNodes(const Graph& graph, uint64_t given_back) {
  const uint64_t all =
      graph.count() * GraphNodeBytes(CodeBits(), GraphNodePlaces(graph.degree_max()));
  const uint64_t more = all - std::min(all, given_back);
  const bool is_there = !has_limit() || reservation_.bytes() + more <= MemoryLeft();
  return is_there && reservation_.Grow(more).ok() ? all : given_back;
}

Status IndexWriter::Add(std::span<const float> vector) {
  if (!MakeRoom()) {
    return Internal(fmt::format("more than {} vectors were added to an index", build_.vectors));
  }
  std::copy(vector.begin(), vector.end(), padded_.begin());
  points_.Add(padded_);
  if (HasExactCodes(build_)) {
    const size_t begin = bits_.size();
    bits_.resize(begin + VectorBytes(VectorElement::kBit, vector.size()));
    PackVector(VectorElement::kBit, vector, bits_.data() + begin);
  }
  return Status::Ok();
}

Result<IndexWriter::Written> IndexWriter::Write(BlockPacker& packer) {
  if (points_.count() == 0) return Written();
  // While points are still vectors.
  PIGMENT_ASSIGN_OR_RETURN(const std::optional<float> widening,
                           FindWidening(points_, build_.metric, build_.pause));
  if (!widening) return Written();
  widening_ = *widening;
  GraphSpaceNumbers space;
  PIGMENT_ASSIGN_OR_RETURN(
      const bool is_useful,
      GraphSpace::MakePoints(build_.metric, build_.dimension, build_.pause, points_, space));
  if (!is_useful) return Written();
  const uint32_t part_vectors_max = TakeForParts();
  const bool is_graph = build_.index.kind == SegmentKind::kGraph;
  bool are_clusters_better = !is_graph;
  if (is_graph && build_.index.may_be_clusters) {
    PIGMENT_ASSIGN_OR_RETURN(are_clusters_better, AreClustersBetter(part_vectors_max));
  }
  double probe_bytes = std::numeric_limits<double>::infinity();
  if (are_clusters_better) {
    PIGMENT_ASSIGN_OR_RETURN(const Calibrated clusters, BuildClusters(points_));
    // A sample may have told too much.
    probe_bytes = BytesOfProbe(points_, clusters);
    if (!is_graph || probe_bytes < BytesOfWalk(points_.count()))
      return WriteClusters(space, clusters, packer);
  }
  GraphOptions options = GraphOptionsOf(build_, part_vectors_max);
  kept_.links.FillUpTo(points_.count());
  options.neighbors.known = &kept_.links;
  if (HasExactCodes(build_)) {
    PIGMENT_ASSIGN_OR_RETURN(space, MakePointsOfBits());
  }
  PIGMENT_ASSIGN_OR_RETURN(const Graph graph, BuildGraph(points_, options));
  const uint64_t given_back =
      GraphBuildBytes(points_.dimension(), points_.count(), options) - graph.bytes();
  GraphNodes nodes(points_, graph, TakeForNodes(graph, given_back), GraphCodesOf(build_));
  PIGMENT_RETURN_IF_ERROR(nodes.Fill(build_.threads, build_.pause));
  PIGMENT_ASSIGN_OR_RETURN(
      const ReachTable reach,
      CalibrateReach(nodes, {.crosses = HasExactCodes(build_), .pause = build_.pause}));
  // What walks really take may still be more: of rows of very different length, for example. Built
  // again, because both together have no room in what was reserved. Exact codes leave nothing to be
  // surprised by.
  if (!HasExactCodes(build_) &&
      probe_bytes < reach.For(kUsualNeighbors, kUsualRecall).visits * BytesOfVisit()) {
    PIGMENT_ASSIGN_OR_RETURN(const Calibrated clusters, BuildClusters(points_));
    return WriteClusters(space, clusters, packer);
  }
  PIGMENT_RETURN_IF_ERROR(WriteGraph(space, nodes, reach, packer));
  return Written{.kind = SegmentKind::kGraph, .clusters = 1};
}

Result<GraphSpaceNumbers> IndexWriter::MakePointsOfBits() {
  GraphSpaceNumbers numbers = GraphSpace::NumbersOfBits(build_.dimension);
  const GraphSpace space(build_.metric, build_.dimension, numbers);
  const size_t bytes = VectorBytes(VectorElement::kBit, build_.dimension);
  std::vector<float> vector(build_.dimension);
  std::vector<float> point(points_.dimension());
  for (uint32_t i = 0; i < points_.count(); ++i) {
    if (build_.pause) PIGMENT_RETURN_IF_ERROR(build_.pause());
    UnpackVector(VectorElement::kBit, bits_.data() + i * bytes, vector);
    space.MakePoint(vector, point.data());
    points_.Set(i, point);
  }
  return numbers;
}

Result<bool> IndexWriter::AreClustersBetter(uint32_t part_vectors_max) const {
  constexpr double kMuchLess = 0.5;  // more vectors take more probes
  if (points_.count() < kSampledFrom || kept_.vectors >= points_.count() / 2) return false;
  const uint32_t step = StepOfSample(points_.count(), part_vectors_max);
  const auto are_better = [&](const VectorTable& sample) -> Result<bool> {
    PIGMENT_ASSIGN_OR_RETURN(const Calibrated clusters, BuildClusters(sample));
    return BytesOfProbe(sample, clusters) < kMuchLess * BytesOfWalk(sample.count());
  };
  if (step == 1) return are_better(points_);
  VectorTable sample(points_.dimension(), nullptr);
  PIGMENT_RETURN_IF_ERROR(sample.Reserve(points_.count() / step + 1));
  for (uint32_t i = 0; i < points_.count(); i += step) sample.Add(points_.vector(i));
  return are_better(sample);
}

// Bytes that come from memory, and what is done meanwhile: as segment_search.cc has them.
double IndexWriter::BytesOfProbe(const VectorTable& points, const Calibrated& clusters) {
  const double count = clusters.lists.clusters();
  const double code_bytes =
      static_cast<double>(clusters.lists.entry_node_bytes()) / kLinksPerNodeMax;
  const double centroid_bytes = points.dimension() * double{sizeof(float)};
  return count * code_bytes +
         clusters.reach.For(kUsualNeighbors, kUsualRecall).visits *
             (points.count() / count * code_bytes + centroid_bytes + kVisitBytes);
}

double IndexWriter::BytesOfWalk(uint32_t count) const {
  // As many visits as 100,000 passages of 384 dimensions take. Codes of fewer bits say less, and of
  // more vectors more are near: a million of 128 dimensions in clusters took 400.
  constexpr double kVisitsUsual = 60, kBitsUsual = 384, kCountUsual = 100'000;
  const double visits = kVisitsUsual * std::sqrt(std::clamp(kBitsUsual / CodeBits(), 1.0, 4.0)) *
                        std::sqrt(std::max(count / kCountUsual, 1.0));
  return visits * BytesOfVisit();
}

uint32_t IndexWriter::CodeBits() const { return GraphCodesOf(build_).bits * points_.dimension(); }

double IndexWriter::BytesOfVisit() const {
  const uint32_t places = GraphNodePlaces(GraphOptionsOf(build_).degree_max);
  return static_cast<double>(GraphNodeBytes(CodeBits(), places)) +
         points_.dimension() * double{sizeof(float)} + kVisitBytes;
}

Result<IndexWriter::Calibrated> IndexWriter::BuildClusters(const VectorTable& points) const {
  // Small segments are many, and made while somebody waits.
  constexpr uint32_t kQueriesMin = 25, kQueriesMax = 100, kRowsPerQuery = 600;
  PIGMENT_ASSIGN_OR_RETURN(ClusterLists lists,
                           ClusterLists::Build(points, ClusterOptionsOf(build_)));
  const uint32_t queries = std::clamp(points.count() / kRowsPerQuery, kQueriesMin, kQueriesMax);
  PIGMENT_ASSIGN_OR_RETURN(
      const ReachTable reach,
      CalibrateReach(points, lists, {.queries = queries, .pause = build_.pause}));
  return Calibrated{std::move(lists), reach};
}

Status IndexWriter::WriteHead(const GraphSpaceNumbers& space, const HeadNumbers& numbers,
                              const ReachTable& reach, BlockPacker& packer) const {
  const StoredHead head{.seed = space.seed,
                        .square_max = HasStandIn(build_.metric) ? widening_ : space.square_max,
                        .places = static_cast<uint16_t>(numbers.places),
                        .more_bits = static_cast<uint8_t>(numbers.bits - 1),
                        .more_row_bits = static_cast<uint8_t>(numbers.row_codes.bits - 1),
                        .entries = numbers.entries,
                        .row_radius = numbers.row_codes.radius,
                        .reach = reach.values};
  PartWriter* const part = packer.Part(BlockKind::kIndex, 0);
  PIGMENT_RETURN_IF_ERROR(part->AddStream(BytesOf(&head, sizeof head)));
  return part->AddStream(BytesOf(space.centre.data(), space.centre.size() * sizeof(float)));
}

Status IndexWriter::WriteGraph(const GraphSpaceNumbers& space, GraphNodes& nodes,
                               const ReachTable& reach, BlockPacker& packer) const {
  const GraphEncoder& encoder = nodes.encoder();
  const RowCodes row_codes = RowCodesOfPoints();
  PIGMENT_RETURN_IF_ERROR(
      WriteHead(space,
                {.places = encoder.places(),
                 .bits = encoder.codes().bits,
                 .entries = static_cast<uint32_t>(encoder.graph().entries().size()),
                 .row_codes = row_codes},
                reach, packer));
  std::vector<std::byte> node(encoder.node_bytes());
  const uint32_t element_bytes = DenseElementBytes(node.size());
  PartWriter* part = packer.Part(BlockKind::kEntries, element_bytes);
  for (uint32_t i = 0; i < encoder.entry_nodes(); ++i) {
    encoder.EncodeEntryNode(i, node.data());
    PIGMENT_RETURN_IF_ERROR(part->AddDense(node.data(), node.size()));
  }
  part = packer.Part(BlockKind::kGraphNodes, element_bytes);
  for (uint32_t i = 0; i < points_.count(); ++i) {
    if (build_.pause) PIGMENT_RETURN_IF_ERROR(build_.pause());
    PIGMENT_RETURN_IF_ERROR(part->AddDense(nodes.Node(i).data(), node.size()));
  }
  return WriteRowCodes(row_codes, packer);
}

// Codes of rows bound the distance of the index's space, not one that another stands in for. Who
// asks for clusters wants few bytes.
IndexWriter::RowCodes IndexWriter::RowCodesOfPoints() const {
  if (HasStandIn(build_.metric) || build_.index.kind != SegmentKind::kGraph) return {};
  return {.radius = GreatestLength(points_),
          .bits = HasExactCodes(build_) ? 1 : RowCodeBits(points_.dimension())};
}

Status IndexWriter::WriteRowCodes(const RowCodes& codes, BlockPacker& packer) const {
  if (codes.radius == 0) return Status::Ok();
  std::vector<std::byte> code(RowCodeBytes(points_.dimension(), codes.bits));
  PartWriter* const part = packer.Part(BlockKind::kRowCodes, DenseElementBytes(code.size()));
  for (uint32_t i = 0; i < points_.count(); ++i) {
    EncodeRowCode(points_.vector(i), codes.bits, codes.radius, code.data());
    PIGMENT_RETURN_IF_ERROR(part->AddDense(code.data(), code.size()));
  }
  return Status::Ok();
}

Result<IndexWriter::Written> IndexWriter::WriteClusters(const GraphSpaceNumbers& space,
                                                        const Calibrated& clusters,
                                                        BlockPacker& packer) const {
  const ClusterLists& lists = clusters.lists;
  const RowCodes row_codes = RowCodesOfPoints();
  PIGMENT_RETURN_IF_ERROR(WriteHead(space,
                                    {.places = kLinksPerNodeMax,
                                     .bits = lists.bits(),
                                     .entries = lists.clusters(),
                                     .row_codes = row_codes},
                                    clusters.reach, packer));
  PartWriter* const entries =
      packer.Part(BlockKind::kEntries, DenseElementBytes(lists.entry_node_bytes()));
  for (uint32_t i = 0; i < lists.entry_nodes(); ++i)
    PIGMENT_RETURN_IF_ERROR(
        entries->AddDense(lists.entry_node(i).data(), lists.entry_node_bytes()));
  const VectorElement element =
      lists.centroids_are_halves() ? VectorElement::kF16 : VectorElement::kF32;
  const size_t centroid_bytes = VectorBytes(element, points_.dimension());
  std::vector<std::byte> halves(centroid_bytes);
  PartWriter* const sizes = packer.Part(BlockKind::kClusterSizes, sizeof(uint32_t));
  PartWriter* const centroids =
      packer.Part(BlockKind::kCentroids, DenseElementBytes(centroid_bytes));
  PartWriter* const nodes = packer.Part(BlockKind::kClusterNodes, 0);
  for (uint32_t i = 0; i < lists.clusters(); ++i) {
    if (build_.pause) PIGMENT_RETURN_IF_ERROR(build_.pause());
    PIGMENT_RETURN_IF_ERROR(sizes->Add(static_cast<uint32_t>(lists.vectors(i).size())));
    const void* centroid = lists.centroids().row(i);
    if (element == VectorElement::kF16) {
      NarrowToHalves(lists.centroids().vector(i), halves.data());
      centroid = halves.data();
    }
    PIGMENT_RETURN_IF_ERROR(centroids->AddDense(centroid, centroid_bytes));
    PIGMENT_RETURN_IF_ERROR(
        nodes->AddStream(BytesOf(lists.bytes(i).data(), lists.bytes(i).size())));
  }
  PIGMENT_RETURN_IF_ERROR(WriteRowCodes(row_codes, packer));
  return Written{.kind = SegmentKind::kClusters, .clusters = lists.clusters()};
}

Result<std::unique_ptr<const IndexHead>> ReadIndexHead(BlockSource* source, const Root& root) {
  const SegmentInfo& info = root.info;
  PartCursor part(source, &root, BlockKind::kIndex);
  const uint32_t point_dimension = GraphSpace::PointDimension(info.metric, info.dimension);
  StoredHead head;
  if (part.bytes() != sizeof head + size_t{point_dimension} * sizeof(float)) {
    return part.Damaged(Detail::kMiscounted,
                        fmt::format("{} bytes for points of {}", part.bytes(), point_dimension));
  }
  PIGMENT_RETURN_IF_ERROR(part.CopyStream(0, std::as_writable_bytes(std::span(&head, 1))));
  const bool has_stand_in = HasStandIn(info.metric);
  GraphSpaceNumbers space{.seed = head.seed,
                          .square_max = has_stand_in ? 0 : head.square_max,
                          .centre = std::vector<float>(point_dimension)};
  PIGMENT_RETURN_IF_ERROR(
      part.CopyStream(sizeof head, std::as_writable_bytes(std::span(space.centre))));
  size_t bad = 0;
  const uint32_t bits = head.more_bits + 1u;
  const uint32_t row_bits = head.more_row_bits + 1u;
  const auto are_bits = [&](uint32_t some) {
    return some == 1 || (some <= kLevelBitsMax && point_dimension <= kLevelDimensionMax);
  };
  bool is_sound = head.places % 8 == 0 && head.places > 0 && head.places <= kLinksPerNodeMax &&
                  are_bits(bits) && are_bits(row_bits) && head.entries > 0 &&
                  head.entries <= info.vectors && head.square_max >= 0 &&
                  (head.seed != 0 || info.metric == Metric::kHamming) &&
                  (!has_stand_in || head.square_max >= 1) && std::isfinite(head.square_max) &&
                  head.row_radius >= 0 && std::isfinite(head.row_radius) &&
                  AllFinite(space.centre.data(), space.centre.size(), &bad);
  for (const auto& row : head.reach) {
    for (const Reach& reach : row) is_sound = is_sound && IsReach(reach);
  }
  if (!is_sound) {
    return part.Damaged(
        Detail::kMiscounted,
        fmt::format("{} places, {} and {} bits, {} entries, square {}, radius {}", head.places,
                    bits, row_bits, head.entries, head.square_max, head.row_radius));
  }
  auto read = std::make_unique<IndexHead>(
      IndexHead{.space = GraphSpace(info.metric, info.dimension, std::move(space)),
                .places = head.places,
                .bits = bits,
                .entries = head.entries,
                .row_radius = head.row_radius,
                .row_bits = row_bits,
                .widening = has_stand_in ? head.square_max : 1,
                .reach = {.values = head.reach},
                .centroid_element = CentroidElement(source, root, head.entries, point_dimension),
                .cluster_sizes = {},
                .cluster_begins = {}});
  const auto check_size = [&](BlockKind kind, uint64_t elements, uint64_t bytes) {
    const PartCursor checked(source, &root, kind);
    if (checked.bytes() == elements * bytes && checked.element_bytes() == DenseElementBytes(bytes))
      return Status::Ok();
    return checked.Damaged(Detail::kMiscounted, fmt::format("{} bytes for {} elements of {}",
                                                            checked.bytes(), elements, bytes));
  };
  PIGMENT_RETURN_IF_ERROR(check_size(BlockKind::kEntries, read->entry_nodes(), read->node_bytes()));
  if (head.row_radius != 0) {
    PIGMENT_RETURN_IF_ERROR(check_size(BlockKind::kRowCodes, info.vectors, read->row_code_bytes()));
  }
  if (info.kind == SegmentKind::kGraph) {
    PIGMENT_RETURN_IF_ERROR(check_size(BlockKind::kGraphNodes, info.vectors, read->node_bytes()));
    return std::unique_ptr<const IndexHead>(std::move(read));
  }
  if (head.entries != info.clusters || head.places != kLinksPerNodeMax) {
    return part.Damaged(Detail::kMiscounted,
                        fmt::format("{} clusters in nodes of {}, the root says {}", head.entries,
                                    head.places, info.clusters));
  }
  PIGMENT_RETURN_IF_ERROR(check_size(BlockKind::kCentroids, head.entries, read->centroid_bytes()));
  PIGMENT_RETURN_IF_ERROR(ReadClusterSizes(source, root, *read));
  return std::unique_ptr<const IndexHead>(std::move(read));
}

}  // namespace pigment
