// SPDX-License-Identifier: Apache-2.0
//
// Ranks of neighbours, counted over all vectors: see the header.

#include "engine/vector/stand_in.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "engine/vector/distance.h"
#include "engine/vector/seeded_random.h"
#include "engine/vector/top_k.h"

namespace pigment {
namespace {

constexpr std::array<float, 9> kWidenings = {1, 1.5f, 2, 3, 4, 6, 8, 12, 16};
// Of the neighbours; what a search by the other metric misses comes on top.
constexpr double kPart = 0.995;
constexpr std::array<size_t, 2> kNeighbors = {10, 100};
constexpr uint32_t kAtOnce = 256;  // vectors that are compared between two pauses

// What was found of neighbours by each widening, summed over queries.
struct Sums {
  std::array<std::array<double, kWidenings.size()>, kNeighbors.size()> found{};
  double queries = 0;
};

// Distances of one vector to all, by both metrics.
class Ranks {
 public:
  Ranks(const VectorTable& vectors, Metric metric) : vectors_(vectors), metric_(metric) {}

  Status Add(uint32_t query, const BuildPause& pause, Sums& sums) {
    TopK nearest(kNeighbors.back());
    PIGMENT_RETURN_IF_ERROR(Compare(query, pause, nearest));
    // Places of the neighbours, nearest first, among all by the other metric; what is as far as one
    // may come before it.
    std::vector<float> sorted = others_;
    std::sort(sorted.begin(), sorted.end());
    std::vector<size_t> places;
    for (const Scored& scored : nearest.TakeSorted()) {
      const auto end = std::upper_bound(sorted.begin(), sorted.end(), others_[scored.tie]);
      places.push_back(static_cast<size_t>(end - sorted.begin()));
    }
    for (size_t row = 0; row < kNeighbors.size(); ++row) {
      const auto of_row = std::span(places).first(std::min(kNeighbors[row], places.size()));
      if (of_row.empty()) continue;
      const auto wanted = static_cast<float>(std::max(of_row.size(), kNeighbors[0]));
      for (size_t i = 0; i < kWidenings.size(); ++i) {
        const auto most = static_cast<size_t>(std::ceil(kWidenings[i] * wanted));
        const auto found = std::ranges::count_if(of_row, [&](size_t at) { return at <= most; });
        sums.found[row][i] += static_cast<double>(found) / static_cast<double>(of_row.size());
      }
    }
    ++sums.queries;
    return Status::Ok();
  }

 private:
  Status Compare(uint32_t query, const BuildPause& pause, TopK& nearest) {
    const DistanceFunction distance(metric_, vectors_.vector(query));
    const DistanceFunction other(SearchedBy(metric_), vectors_.vector(query));
    const uint32_t dimension = vectors_.dimension();
    others_.resize(vectors_.count());
    std::array<float, kAtOnce> distances;
    for (uint32_t first = 0; first < vectors_.count(); first += kAtOnce) {
      if (pause) PIGMENT_RETURN_IF_ERROR(pause());
      const uint32_t some = std::min(kAtOnce, vectors_.count() - first);
      distance.Many(vectors_.row(first), dimension, some, distances.data());
      other.Many(vectors_.row(first), dimension, some, others_.data() + first);
      for (uint32_t i = 0; i < some; ++i) {
        if (first + i != query && nearest.MayEnter(distances[i]))
          nearest.Offer(distances[i], first + i);
      }
    }
    others_[query] = std::numeric_limits<float>::infinity();  // a query is no neighbour of its own
    return Status::Ok();
  }

  const VectorTable& vectors_;
  const Metric metric_;
  std::vector<float> others_;
};

}  // namespace

Result<std::optional<float>> FindWidening(const VectorTable& vectors, Metric metric,
                                          const BuildPause& pause) {
  constexpr uint32_t kQueriesMin = 16, kQueriesMax = 48, kCompared = 5'000'000;
  if (!HasStandIn(metric)) return std::optional<float>(1);
  SeededRandom random(1);
  Ranks ranks(vectors, metric);
  Sums sums;
  const uint32_t queries = std::clamp(kCompared / vectors.count(), kQueriesMin, kQueriesMax);
  for (uint32_t i = 0; i < queries; ++i)
    PIGMENT_RETURN_IF_ERROR(ranks.Add(random.Below(vectors.count()), pause, sums));
  for (size_t i = 0; i < kWidenings.size(); ++i) {
    const auto finds = [&](const auto& found) { return found[i] >= kPart * sums.queries; };
    if (std::ranges::all_of(sums.found, finds)) return std::optional<float>(kWidenings[i]);
  }
  return std::optional<float>();
}

}  // namespace pigment
