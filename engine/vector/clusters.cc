// SPDX-License-Identifier: Apache-2.0
//
// Lloyd's algorithm: see the header.

#include "engine/vector/clusters.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/vector/distance.h"
#include "engine/vector/member_codes.h"
#include "engine/vector/near_places.h"
#include "engine/vector/seeded_random.h"
#include "engine/vector/shared_loop.h"

namespace pigment {
namespace {

// `count` different numbers below `of`, in random order.
std::vector<uint32_t> Sample(uint32_t of, uint32_t count, SeededRandom& random) {
  std::vector<uint32_t> numbers(of);
  std::iota(numbers.begin(), numbers.end(), 0u);
  for (uint32_t i = 0; i < count; ++i) std::swap(numbers[i], numbers[i + random.Below(of - i)]);
  numbers.resize(count);
  return numbers;
}

// Keeps the `near` least of what is offered, ascending; equal ones in the order in which they came.
class Nearest {
 public:
  Nearest(uint32_t near, uint32_t* numbers, float* distances)
      : near_(near), numbers_(numbers), distances_(distances) {}

  void Offer(uint32_t number, float distance) {
    if (count_ == near_ && !(distance < distances_[count_ - 1])) return;
    if (count_ < near_) ++count_;
    uint32_t place = count_ - 1;
    for (; place > 0 && distance < distances_[place - 1]; --place) {
      distances_[place] = distances_[place - 1];
      numbers_[place] = numbers_[place - 1];
    }
    distances_[place] = distance;
    numbers_[place] = number;
  }

 private:
  const uint32_t near_;
  uint32_t* const numbers_;
  float* const distances_;
  uint32_t count_ = 0;
};

// Puts numbers of points in an order in which those that are near each other are mostly near the
// points that are near them: halves on either side of a plane between two points that are far
// apart, and so on within each.
void OrderByPlace(const VectorTable& points, std::span<uint32_t> numbers) {
  if (numbers.size() <= 2) return;
  const auto farthest = [&](uint32_t from) {
    return *std::ranges::max_element(
        numbers, {}, [&](uint32_t number) { return points.Distance(from, number); });
  };
  const uint32_t one = farthest(numbers.front());
  const uint32_t other = farthest(one);
  std::vector<std::pair<float, uint32_t>> sides;
  sides.reserve(numbers.size());
  for (const uint32_t number : numbers) {
    const float side = points.Distance(one, number) - points.Distance(other, number);
    sides.emplace_back(std::isfinite(side) ? side : 0, number);  // distances may be too large
  }
  const size_t half = numbers.size() / 2;
  std::nth_element(sides.begin(), sides.begin() + static_cast<ptrdiff_t>(half), sides.end());
  std::ranges::transform(sides, numbers.begin(), [](const auto& side) { return side.second; });
  sides = {};
  OrderByPlace(points, numbers.first(half));
  OrderByPlace(points, numbers.subspan(half));
}

}  // namespace

// Codes of the centroids tell which of them may be the nearest, and these are measured.
class Clusters::Finder {
 public:
  Finder(const Clusters& clusters, const VectorTable& vectors, uint32_t near, MemoryBudget* budget)
      : centroids_(clusters.centroids_),
        vectors_(vectors),
        near_(near),
        codes_(vectors.dimension(), budget) {}

  Status Pack() {
    std::vector<uint32_t> all(centroids_.count());
    std::iota(all.begin(), all.end(), 0u);
    return codes_.Pack(centroids_, all);
  }
  // Of each row at most `near` centroids, ascending. REQUIRES: at most kRowsPerPass rows.
  void Find(std::span<const uint32_t> rows, uint32_t* out, float* distances) {
    codes_.Estimate(vectors_, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      // Both the k-th and what may be nearer can be off.
      places_.FindNearest(codes_.distances(i), near_, 2 * codes_.ErrorOf(i));
      Nearest nearest(near_, out + i * near_, distances + i * near_);
      const float* const row = vectors_.row(rows[i]);
      const float square = vectors_.square(rows[i]);
      for (size_t place = 0; place < places_.count(); ++place) {
        const uint32_t c = places_.place(place);
        const float product = InnerProduct(row, centroids_.row(c), vectors_.dimension());
        nearest.Offer(c, square + (centroids_.square(c) - 2 * product));
      }
    }
  }

 private:
  const VectorTable& centroids_;
  const VectorTable& vectors_;
  const uint32_t near_;
  MemberCodes codes_;
  NearPlaces places_;
};

Status Clusters::FindNearest(const VectorTable& vectors, std::span<const uint32_t> rows,
                             uint32_t near, uint32_t* out, float* distances,
                             const ClusterOptions& options) const {
  constexpr uint32_t kPass = MemberCodes::kRowsPerPass;
  const auto make_body = [&]() -> LoopBody {
    auto finder = std::make_shared<Finder>(*this, vectors, near, options.budget);
    return [&, finder, is_packed = false, kept = std::vector<float>(size_t{kPass} * near)](
               uint32_t begin, uint32_t end, const BuildPause& pause) mutable -> Status {
      if (!is_packed) PIGMENT_RETURN_IF_ERROR(finder->Pack());
      is_packed = true;
      for (uint32_t first = begin; first < end; first += kPass) {
        if (pause) PIGMENT_RETURN_IF_ERROR(pause());
        const size_t place = size_t{first} * near;
        finder->Find(rows.subspan(first, std::min(kPass, end - first)), out + place,
                     distances != nullptr ? distances + place : kept.data());
      }
      return Status::Ok();
    };
  };
  return ShareLoop(options.threads, static_cast<uint32_t>(rows.size()), 64 * kPass, options.pause,
                   make_body);
}

Status Clusters::Improve(const VectorTable& vectors, std::span<const uint32_t> sample,
                         const ClusterOptions& options) {
  std::vector<uint32_t> nearest(sample.size());
  PIGMENT_RETURN_IF_ERROR(FindNearest(vectors, sample, 1, nearest.data(), nullptr, options));
  const uint32_t dimension = vectors.dimension();
  std::vector<float> sums(size_t{centroids_.count()} * dimension);
  std::vector<uint32_t> counts(centroids_.count());
  for (size_t i = 0; i < sample.size(); ++i) {
    float* const sum = sums.data() + size_t{nearest[i]} * dimension;
    const float* row = vectors.row(sample[i]);
    for (uint32_t d = 0; d < dimension; ++d) sum[d] += row[d];
    ++counts[nearest[i]];
  }
  for (uint32_t c = 0; c < centroids_.count(); ++c) {
    if (counts[c] == 0) continue;  // it stays: the vector that it began as is its own
    const std::span<float> sum(sums.data() + size_t{c} * dimension, dimension);
    for (float& value : sum) value /= static_cast<float>(counts[c]);
    centroids_.Set(c, sum);
  }
  return Status::Ok();
}

Result<Clusters> Clusters::Make(const VectorTable& vectors, const ClusterOptions& options) {
  const uint32_t count = std::min(options.clusters, vectors.count());
  const auto sampled = static_cast<uint32_t>(
      std::min<uint64_t>(vectors.count(), uint64_t{count} * options.sample_each));
  SeededRandom random(options.seed);
  Reservation reservation(options.budget);
  PIGMENT_RETURN_IF_ERROR(reservation.Grow(uint64_t{vectors.count()} * sizeof(uint32_t)));
  const std::vector<uint32_t> sample = Sample(vectors.count(), std::max(sampled, count), random);
  Clusters clusters(VectorTable(vectors.dimension(), options.budget));
  PIGMENT_RETURN_IF_ERROR(clusters.centroids_.Reserve(count));
  for (uint32_t c = 0; c < count; ++c) clusters.centroids_.Add(vectors.vector(sample[c]));
  // The first rounds move centroids far, whatever the sample: a part of it tells as much.
  constexpr uint32_t kWholeRounds = 2;
  constexpr size_t kPartOf = 2;
  const std::span<const uint32_t> all(sample);
  const std::span<const uint32_t> part = all.first(std::max<size_t>(all.size() / kPartOf, count));
  for (uint32_t round = 0; round < options.rounds && count < vectors.count(); ++round) {
    const bool is_early = round + kWholeRounds < options.rounds;
    PIGMENT_RETURN_IF_ERROR(clusters.Improve(vectors, is_early ? part : all, options));
  }
  return clusters;
}

Result<Clustering> Clustering::Make(const VectorTable& vectors, uint32_t vectors_per_cluster,
                                    uint32_t near, ClusterOptions options) {
  options.clusters = vectors.count() / vectors_per_cluster + 1;
  PIGMENT_ASSIGN_OR_RETURN(const Clusters clusters, Clusters::Make(vectors, options));
  Clustering clustering(options.budget);
  clustering.clusters_ = clusters.centroids().count();
  clustering.near_ = std::min(near, clustering.clusters_);
  const uint64_t places = uint64_t{vectors.count()} * clustering.near_;
  PIGMENT_RETURN_IF_ERROR(
      clustering.reservation_.Grow((places + vectors.count()) * sizeof(uint32_t)));
  Reservation reservation(options.budget);
  PIGMENT_RETURN_IF_ERROR(reservation.Grow((places - vectors.count()) * sizeof(float)));
  clustering.nearest_.resize(places);
  std::vector<float> distances(places);
  std::vector<uint32_t> rows(vectors.count());
  std::iota(rows.begin(), rows.end(), 0u);
  PIGMENT_RETURN_IF_ERROR(clusters.FindNearest(
      vectors, rows, clustering.near_, clustering.nearest_.data(), distances.data(), options));
  std::vector<uint32_t> order(clustering.clusters_);
  std::iota(order.begin(), order.end(), 0u);
  OrderByPlace(clusters.centroids(), order);
  std::vector<uint32_t> numbers(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) numbers[order[i]] = i;
  for (uint32_t& cluster : clustering.nearest_) cluster = numbers[cluster];
  clustering.distances_.reserve(vectors.count());
  for (size_t i = 0; i < places; i += clustering.near_)
    clustering.distances_.push_back(distances[i]);
  return clustering;
}

std::vector<uint32_t> Clustering::Middles() const {
  constexpr uint32_t kNobody = 0xFFFFFFFF;
  std::vector<uint32_t> middles(clusters_, kNobody);
  for (uint32_t i = 0; i < nearest_.size() / near_; ++i) {
    uint32_t& middle = middles[of(i)[0]];
    if (middle == kNobody || distances_[i] < distances_[middle]) middle = i;
  }
  std::erase(middles, kNobody);
  return middles;
}

}  // namespace pigment
