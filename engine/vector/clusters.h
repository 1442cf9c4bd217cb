// SPDX-License-Identifier: Apache-2.0
//
// Clusters: centroids by Lloyd's algorithm over a sample, and the centroids that are nearest to
// each vector. One caller builds; any may ask afterwards. Equal arguments give equal clusters on
// every machine, however many threads share the work.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/base/prefetch.h"
#include "engine/vector/build_pause.h"
#include "engine/vector/number_lists.h"
#include "engine/vector/vector_table.h"

namespace pigment {

struct ClusterOptions {
  uint32_t clusters = 1;      // wanted: 1 or more; there are never more than vectors
  uint32_t sample_each = 64;  // vectors a cluster that the centroids are computed from
  uint32_t rounds = 5;
  uint64_t seed = 1;
  uint32_t threads = 1;
  MemoryBudget* budget = nullptr;  // may be null
  BuildPause pause;                // may be empty; asked by the caller's thread alone
};

class Clusters {
 public:
  // REQUIRES: vectors.count() > 0.
  static Result<Clusters> Make(const VectorTable& vectors, const ClusterOptions& options);

  const VectorTable& centroids() const { return centroids_; }

  // The `near` centroids that are nearest to each of `rows` (the vectors' numbers), ascending by
  // squared distance: out[i * near + j], and the distances unless `distances` is null. Nearly all:
  // one that an error of five standard ones hides is missed. REQUIRES: near <= the number of
  // centroids.
  Status FindNearest(const VectorTable& vectors, std::span<const uint32_t> rows, uint32_t near,
                     uint32_t* out, float* distances, const ClusterOptions& options) const;

 private:
  class Finder;

  explicit Clusters(VectorTable centroids) : centroids_(std::move(centroids)) {}
  // One round of Lloyd's algorithm over the sample.
  Status Improve(const VectorTable& vectors, std::span<const uint32_t> sample,
                 const ClusterOptions& options);

  VectorTable centroids_;
};

// A table's vectors, each with the clusters around it. Clusters that are near each other have near
// numbers, mostly: what goes through them finds in the caches what it met in the last ones.
class Clustering {
 public:
  // Clusters of about `vectors_per_cluster`; `near` of them are kept for each vector, fewer where
  // there are fewer. `options.clusters` counts for nothing.
  static Result<Clustering> Make(const VectorTable& vectors, uint32_t vectors_per_cluster,
                                 uint32_t near, ClusterOptions options);

  uint32_t clusters() const { return clusters_; }
  uint32_t near() const { return near_; }
  // The nearest clusters of a vector, ascending by distance: near() of them.
  std::span<const uint32_t> of(uint32_t vector) const {
    return std::span(nearest_).subspan(size_t{vector} * near_, near_);
  }
  // The clusters of a vector are likely to be asked for soon.
  void Expect(uint32_t vector) const {
    ExpectBytes(of(vector).data(), 1);
    ExpectBytes(&of(vector).back(), 1);
  }
  // Vectors by cluster, each in those of the clusters around it that are from the begin-th to
  // before the end-th. REQUIRES begin < end <= near(). Of the first alone, `numbers` has each
  // vector once, and what goes through them finds what is near to the last one in the caches.
  NumberLists Members(uint32_t begin, uint32_t end) const {
    return Members(begin, end, [](uint32_t) { return true; });
  }
  // The same of those vectors alone that is_wanted(vector) is true of.
  template <typename IsWanted>
  NumberLists Members(uint32_t begin, uint32_t end, const IsWanted& is_wanted) const {
    const auto count = static_cast<uint32_t>(nearest_.size() / near_);
    return Invert(clusters_, count, [&](uint32_t vector) {
      return is_wanted(vector) ? of(vector).subspan(begin, end - begin)
                               : std::span<const uint32_t>();
    });
  }
  // Of each cluster that is the nearest of some vector, the vector that is nearest to its centroid.
  std::vector<uint32_t> Middles() const;

 private:
  explicit Clustering(MemoryBudget* budget) : reservation_(budget) {}

  Reservation reservation_;
  uint32_t clusters_ = 0;
  uint32_t near_ = 0;
  std::vector<uint32_t> nearest_;
  std::vector<float> distances_;  // to the nearest one
};

}  // namespace pigment
