// SPDX-License-Identifier: Apache-2.0
//
// Both steps: see the header.

#include "engine/vector/neighbors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "engine/vector/number_lists.h"
#include "engine/vector/products.h"
#include "engine/vector/shared_loop.h"

namespace pigment {

Status NeighborLists::Reserve(uint32_t count, uint32_t list_max) {
  const uint64_t places = uint64_t{count} * list_max;
  PIGMENT_RETURN_IF_ERROR(
      reservation_.Grow(places * sizeof(Neighbor) + uint64_t{count} * sizeof(uint32_t)));
  list_max_ = list_max;
  neighbors_.resize(places);
  counts_.resize(count);
  return Status::Ok();
}

float NeighborLists::Limit(uint32_t vector) const {
  return counts_[vector] < list_max_ ? std::numeric_limits<float>::infinity()
                                     : of(vector).back().distance;
}

void NeighborLists::Merge(uint32_t vector, std::span<const Neighbor> found,
                          std::vector<Neighbor>& merged) {
  const std::span<const Neighbor> kept = of(vector);
  merged.clear();
  size_t i = 0;
  size_t j = 0;
  while (merged.size() < list_max_ && (i < kept.size() || j < found.size())) {
    const bool takes_kept = j == found.size() || (i < kept.size() && !(found[j] < kept[i]));
    const Neighbor& next = takes_kept ? kept[i++] : found[j++];
    // One vector has one distance, so what is there twice comes twice in a row.
    if (merged.empty() || merged.back().vector != next.vector) merged.push_back(next);
  }
  std::copy(merged.begin(), merged.end(),
            neighbors_.begin() + static_cast<ptrdiff_t>(size_t{vector} * list_max_));
  counts_[vector] = static_cast<uint32_t>(merged.size());
}

namespace {

constexpr size_t kAhead = 2;  // vectors that are asked for before they are compared

// Distances by products are off by rounding that depends on nothing but the pair, so one vector has
// one distance to another however they meet.
float DistanceOf(float a_square, float b_square, float product) {
  return std::max(0.0f, (a_square + b_square) - 2 * product);
}

// For each vector its first `taken` neighbours, and up to as many vectors of whose first it is.
NumberLists NearInBothDirections(const NeighborLists& lists, uint32_t count, uint32_t taken) {
  const auto first_of = [&](uint32_t i) {
    return lists.of(i).first(std::min<size_t>(taken, lists.of(i).size()));
  };
  std::vector<uint32_t> others(count);  // as many as point here, bounded
  for (uint32_t i = 0; i < count; ++i) {
    for (const Neighbor& neighbor : first_of(i))
      others[neighbor.vector] = std::min(others[neighbor.vector] + 1, taken);
  }
  NumberLists near;
  near.begins.resize(size_t{count} + 1);
  for (uint32_t i = 0; i < count; ++i)
    near.begins[i + 1] = near.begins[i] + static_cast<uint32_t>(first_of(i).size()) + others[i];
  near.numbers.resize(near.begins.back());
  std::vector<uint32_t> next(near.begins.begin(), near.begins.end() - 1);
  const auto add = [&](uint32_t to, uint32_t vector) {
    if (next[to] < near.begins[to + 1]) near.numbers[next[to]++] = vector;
  };
  for (uint32_t i = 0; i < count; ++i) {
    for (const Neighbor& neighbor : first_of(i)) add(i, neighbor.vector);
  }
  for (uint32_t i = 0; i < count; ++i) {
    for (const Neighbor& neighbor : first_of(i)) add(neighbor.vector, i);
  }
  return near;
}

// What all threads share.
class Finder {
 public:
  Finder(const VectorTable& vectors, const Clustering& clustering, const NeighborOptions& options)
      : vectors_(vectors),
        clustering_(clustering),
        options_(options),
        reservation_(options.budget),
        lists_(options.budget) {}

  Result<NeighborLists> Run() {
    PIGMENT_RETURN_IF_ERROR(lists_.Reserve(vectors_.count(), options_.list_max));
    PIGMENT_RETURN_IF_ERROR(SearchClusters());
    if (options_.descent > 0) PIGMENT_RETURN_IF_ERROR(Descend());
    return std::move(lists_);
  }

 private:
  // What each has for itself.
  class ClusterWorker;
  class DescentWorker;

  Status SearchClusters();
  Status Descend();

  const VectorTable& vectors_;
  const Clustering& clustering_;
  const NeighborOptions& options_;
  Reservation reservation_;
  NeighborLists lists_;
  // A vector searches several clusters, each by any thread: its list is locked meanwhile. In which
  // order its clusters come makes no difference to what it has in the end.
  std::array<std::mutex, 1024> list_mutexes_;
};

// The `part`-th of `parts` pieces of nearly one size.
std::span<const uint32_t> PartOf(std::span<const uint32_t> numbers, size_t part, size_t parts) {
  const size_t begin = numbers.size() * part / parts;
  return numbers.subspan(begin, numbers.size() * (part + 1) / parts - begin);
}

class Finder::ClusterWorker {
 public:
  explicit ClusterWorker(Finder& finder)
      : finder_(finder), panels_(finder.vectors_.dimension(), finder.options_.budget) {}

  // Compares `searching` with `members`.
  Status Compare(std::span<const uint32_t> searching, std::span<const uint32_t> members,
                 const BuildPause& pause);

 private:
  void Visit(uint32_t vector, std::span<const uint32_t> members, const float* products);

  Finder& finder_;
  VectorPanels panels_;
  std::vector<float> squares_;  // of the members
  NearPlaces near_;
  std::vector<Neighbor> found_;
  std::vector<Neighbor> merged_;
};

Status Finder::ClusterWorker::Compare(std::span<const uint32_t> searching,
                                      std::span<const uint32_t> members, const BuildPause& pause) {
  const VectorTable& vectors = finder_.vectors_;
  std::vector<const float*> rows(members.size());
  squares_.assign(VectorPanels::StrideOf(members.size()), 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = vectors.row(members[i]);
    squares_[i] = vectors.square(members[i]);
  }
  PIGMENT_RETURN_IF_ERROR(panels_.Pack(rows));
  return MultiplyRows(panels_, vectors, searching, pause, [&](size_t i, const float* products) {
    Visit(searching[i], members, products);
  });
}

void Finder::ClusterWorker::Visit(uint32_t vector, std::span<const uint32_t> members,
                                  const float* products) {
  const size_t list_max = finder_.options_.list_max;
  const std::lock_guard lock(finder_.list_mutexes_[vector % finder_.list_mutexes_.size()]);
  near_.Find(products, squares_.data(), members.size(), finder_.vectors_.square(vector),
             finder_.lists_.Limit(vector));
  found_.clear();
  for (size_t i = 0; i < near_.count(); ++i) {
    const uint32_t other = members[near_.place(i)];
    if (other != vector) found_.push_back({near_.distance(i), other});
  }
  if (found_.size() > list_max) {
    const auto end = found_.begin() + static_cast<ptrdiff_t>(list_max);
    std::nth_element(found_.begin(), end, found_.end());
    found_.erase(end, found_.end());
  }
  std::sort(found_.begin(), found_.end());
  finder_.lists_.Merge(vector, found_, merged_);
}

Status Finder::SearchClusters() {
  const uint32_t near = clustering_.near();
  const uint32_t joined = std::min(near, options_.clusters_joined);
  PIGMENT_RETURN_IF_ERROR(
      reservation_.Grow(uint64_t{vectors_.count()} * (near + joined) * sizeof(uint32_t)));
  const NumberLists searching = clustering_.Members(near);
  const NumberLists members = clustering_.Members(joined);
  return ShareLoop(options_.threads, clustering_.clusters(), 1, options_.pause, [&]() -> LoopBody {
    auto worker = std::make_shared<ClusterWorker>(*this);
    return [&, worker](uint32_t cluster, uint32_t, const BuildPause& pause) -> Status {
      const std::span<const uint32_t> all = members.of(cluster);
      const std::span<const uint32_t> by = searching.of(cluster);
      const size_t parts = (all.size() + kClusterMembersMax - 1) / kClusterMembersMax;
      for (size_t part = 0; part < parts; ++part) {
        PIGMENT_RETURN_IF_ERROR(
            worker->Compare(PartOf(by, part, parts), PartOf(all, part, parts), pause));
      }
      return Status::Ok();
    };
  });
}

class Finder::DescentWorker {
 public:
  DescentWorker(Finder& finder, const NumberLists& near)
      : finder_(finder), near_(near), seen_by_(finder.vectors_.count()) {}

  // The list of `vector`, bettered by the neighbours of its neighbours.
  void Better(uint32_t vector);

 private:
  Finder& finder_;
  const NumberLists& near_;
  std::vector<Neighbor> found_;
  std::vector<Neighbor> merged_;
  std::vector<uint32_t> others_;
  std::vector<uint32_t> seen_by_;  // the last vector, plus one, that was compared with each
};

void Finder::DescentWorker::Better(uint32_t vector) {
  const VectorTable& vectors = finder_.vectors_;
  const uint32_t mark = vector + 1;
  seen_by_[vector] = mark;
  for (const Neighbor& neighbor : finder_.lists_.of(vector)) seen_by_[neighbor.vector] = mark;
  others_.clear();
  const auto look_at = [&](uint32_t other) {
    if (std::exchange(seen_by_[other], mark) != mark) others_.push_back(other);
  };
  for (const uint32_t neighbor : near_.of(vector)) {
    look_at(neighbor);
    for (const uint32_t other : near_.of(neighbor)) look_at(other);
  }
  const float limit = finder_.lists_.Limit(vector);
  found_.clear();
  for (size_t i = 0; i < others_.size(); ++i) {
    if (i + kAhead < others_.size()) vectors.Expect(others_[i + kAhead]);
    const uint32_t other = others_[i];
    const float product =
        InnerProduct(vectors.row(vector), vectors.row(other), vectors.dimension());
    const float distance = DistanceOf(vectors.square(vector), vectors.square(other), product);
    if (distance < limit) found_.push_back({distance, other});
  }
  std::sort(found_.begin(), found_.end());
  finder_.lists_.Merge(vector, found_, merged_);
}

Status Finder::Descend() {
  constexpr uint32_t kPiece = 256;
  const uint32_t count = vectors_.count();
  const uint32_t taken = std::min(options_.descent, options_.list_max);
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow(
      uint64_t{count} * (2 * uint64_t{taken} + 3 + options_.threads) * sizeof(uint32_t)));
  const NumberLists near = NearInBothDirections(lists_, count, taken);
  const std::vector<uint32_t> order = clustering_.Members(1).numbers;
  return ShareLoop(options_.threads, count, kPiece, options_.pause, [&]() -> LoopBody {
    auto worker = std::make_shared<DescentWorker>(*this, near);
    return [worker, &order](uint32_t begin, uint32_t end, const BuildPause& pause) -> Status {
      for (uint32_t i = begin; i < end; ++i) {
        if (pause) PIGMENT_RETURN_IF_ERROR(pause());
        worker->Better(order[i]);
      }
      return Status::Ok();
    };
  });
}

}  // namespace

Result<NeighborLists> FindNeighbors(const VectorTable& vectors, const Clustering& clustering,
                                    const NeighborOptions& options) {
  return Finder(vectors, clustering, options).Run();
}

}  // namespace pigment
