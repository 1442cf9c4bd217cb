// SPDX-License-Identifier: Apache-2.0
//
// Centroids of a sample, every vector to its nearest, then codes: see the header.

#include "engine/vector/cluster_lists.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/vector/clusters.h"
#include "engine/vector/half.h"
#include "engine/vector/member_codes.h"
#include "engine/vector/shared_loop.h"

namespace pigment {
namespace {

constexpr double kVectorsOfFullSize = 100'000;  // beyond these clusters grow

uint32_t ClustersOf(uint32_t count, uint32_t vectors_per_cluster) {
  const double growth = std::sqrt(std::max(count / kVectorsOfFullSize, 1.0));
  return static_cast<uint32_t>(count / (growth * vectors_per_cluster)) + 1;
}

}  // namespace

uint64_t ClusterLists::BuildBytes(uint32_t dimension, uint32_t count,
                                  const ClusterListOptions& options) {
  const uint64_t clusters = ClustersOf(count, options.vectors_per_cluster);
  // Codes, with at most 7 empty places for each cluster; centroids, and the sums that become the
  // next ones; codes of these for each thread; numbers and lists.
  const uint32_t code_bits = options.bits * dimension;
  const uint64_t codes = (count + 8 * clusters) * (GraphNodeBytes(code_bits, 8) / 8 + 1);
  const uint64_t centroids = clusters * dimension * sizeof(float) * 2 +
                             options.threads * MemberCodes::Bytes(dimension, clusters);
  return codes + centroids + uint64_t{count} * 4 * sizeof(uint32_t) +
         clusters * (GraphNodeBytes(code_bits, kLinksPerNodeMax) / kLinksPerNodeMax + 64);
}

Status ClusterLists::Assign(const VectorTable& points, const ClusterListOptions& options) {
  const ClusterOptions clusters{.clusters = ClustersOf(points.count(), options.vectors_per_cluster),
                                .sample_each = options.sample_each,
                                .rounds = options.rounds,
                                .seed = options.seed,
                                .threads = options.threads,
                                .budget = options.budget,
                                .pause = options.pause};
  PIGMENT_ASSIGN_OR_RETURN(const Clusters made, Clusters::Make(points, clusters));
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow(uint64_t{points.count()} * 3 * sizeof(uint32_t)));
  std::vector<uint32_t> all(points.count());
  std::iota(all.begin(), all.end(), 0u);
  std::vector<uint32_t> nearest(points.count());
  PIGMENT_RETURN_IF_ERROR(made.FindNearest(points, all, 1, nearest.data(), nullptr, clusters));
  // Centroids that are nobody's nearest are left out.
  const VectorTable& centroids = made.centroids();
  std::vector<uint32_t> sizes(centroids.count());
  for (const uint32_t cluster : nearest) ++sizes[cluster];
  std::vector<uint32_t> numbers(centroids.count());
  PIGMENT_RETURN_IF_ERROR(centroids_.Reserve(centroids.count()));
  for (uint32_t cluster = 0; cluster < centroids.count(); ++cluster) {
    numbers[cluster] = centroids_.count();
    if (sizes[cluster] != 0) centroids_.Add(centroids.vector(cluster));
  }
  for (uint32_t& cluster : nearest) cluster = numbers[cluster];
  lists_ = Invert(centroids_.count(), points.count(),
                  [&](uint32_t i) { return std::span(nearest).subspan(i, 1); });
  if (options.halves) RoundCentroids();
  return Status::Ok();
}

// Before anything is encoded, so that codes are relative to what is kept.
void ClusterLists::RoundCentroids() {
  const auto fits = [](float value) { return std::abs(value) <= kHalfMax; };
  for (uint32_t i = 0; i < clusters(); ++i)
    if (!std::ranges::all_of(centroids_.vector(i), fits)) return;
  are_halves_ = true;
  std::vector<float> rounded(centroids_.dimension());
  for (uint32_t i = 0; i < clusters(); ++i) {
    std::ranges::transform(centroids_.vector(i), rounded.begin(),
                           [](float value) { return FloatOfHalf(HalfOf(value)); });
    centroids_.Set(i, rounded);
  }
}

Status ClusterLists::Encode(const VectorTable& points, const ClusterListOptions& options) {
  constexpr uint32_t kPiece = 16;
  size_t bytes = 0;
  for (uint32_t cluster = 0; cluster < clusters(); ++cluster) {
    offsets_.push_back(bytes);
    bytes += shape(cluster).bytes();
  }
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow(bytes + entry_nodes() * entry_node_bytes()));
  nodes_.resize(bytes);
  entries_.resize(entry_nodes() * entry_node_bytes());
  const auto make_body = [&]() -> LoopBody {
    return [&](uint32_t begin, uint32_t end, const BuildPause& pause) -> Status {
      for (uint32_t cluster = begin; cluster < end; ++cluster) {
        if (pause) PIGMENT_RETURN_IF_ERROR(pause());
        std::span<const uint32_t> left = vectors(cluster);
        const ClusterShape nodes = shape(cluster);
        for (uint32_t i = 0; i < nodes.nodes(); ++i) {
          EncodeClusterNode(
              centroids_.vector(cluster), bits_, left.first(nodes.links(i)),
              [&](uint32_t vector) { return points.vector(vector); },
              nodes_.data() + offsets_[cluster] + nodes.offset(i));
          left = left.subspan(nodes.links(i));
        }
      }
      return Status::Ok();
    };
  };
  PIGMENT_RETURN_IF_ERROR(ShareLoop(options.threads, clusters(), kPiece, options.pause, make_body));
  const std::vector<float> origin(points.dimension());
  std::vector<uint32_t> numbers(clusters());
  std::iota(numbers.begin(), numbers.end(), 0u);
  for (uint32_t i = 0; i < entry_nodes(); ++i) {
    const size_t first = size_t{i} * kLinksPerNodeMax;
    EncodeGraphNode(
        origin, bits_,
        std::span(numbers).subspan(first, std::min<size_t>(kLinksPerNodeMax, clusters() - first)),
        kLinksPerNodeMax, [&](uint32_t cluster) { return centroids_.vector(cluster); },
        entries_.data() + i * entry_node_bytes());
  }
  return Status::Ok();
}

Result<ClusterLists> ClusterLists::Build(const VectorTable& points,
                                         const ClusterListOptions& options) {
  ClusterLists lists(points.dimension(), options.bits, options.budget);
  PIGMENT_RETURN_IF_ERROR(lists.Assign(points, options));
  PIGMENT_RETURN_IF_ERROR(lists.Encode(points, options));
  return lists;
}

}  // namespace pigment
