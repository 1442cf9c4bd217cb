// SPDX-License-Identifier: Apache-2.0
//
// Neighbours: for each new vector of a table a list of others near to it, nearly always the
// nearest, from which a graph is made. Two steps: within clusters by blocked matrix products, every
// vector with the members of the clusters around it; then among the neighbours of neighbours
// (NN-descent; Dong, Moses and Li, WWW 2011). Equal arguments give equal lists on every machine,
// however many threads share the work.

#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/large_pages.h"
#include "engine/base/memory_budget.h"
#include "engine/base/prefetch.h"
#include "engine/vector/clusters.h"
#include "engine/vector/number_lists.h"
#include "engine/vector/pair_codes.h"
#include "engine/vector/vector_table.h"

namespace pigment {

struct Neighbor {
  float distance = 0;  // squared: 0 or more
  uint32_t vector = 0;

  // By distance, then by number: one comparison, because such floats ascend with their bits.
  friend bool operator<(const Neighbor& a, const Neighbor& b) { return a.Key() < b.Key(); }
  bool operator==(const Neighbor&) const = default;

 private:
  uint64_t Key() const { return uint64_t{std::bit_cast<uint32_t>(distance)} << 32 | vector; }
};

// Up to `list_max` neighbours of each of `count` vectors, ascending, nobody twice, never itself.
class NeighborLists {
 public:
  explicit NeighborLists(MemoryBudget* budget) : reservation_(budget) {}
  Status Reserve(uint32_t count, uint32_t list_max);

  uint32_t list_max() const { return list_max_; }
  std::span<const Neighbor> of(uint32_t vector) const {
    return {neighbors_.data() + size_t{vector} * list_max_, counts_[vector]};
  }
  // Merges `found` (ascending, in any case without `vector` itself) into its list. Lists of
  // different vectors may be changed side by side, each with memory of its caller's.
  void Merge(uint32_t vector, std::span<const Neighbor> found, std::vector<Neighbor>& behind);
  // Computes the distances of its list, and sorts it. Lists of different vectors may be changed
  // side by side.
  void Measure(uint32_t vector, const VectorTable& vectors);
  // What a neighbour must be nearer than to enter; infinite while there is room.
  float Limit(uint32_t vector) const { return limits_[vector]; }
  // It is likely to be asked for soon.
  void ExpectLimit(uint32_t vector) const {
    ExpectBytes(&limits_[vector], sizeof(float));
    ExpectBytes(&counts_[vector], sizeof(uint32_t));
  }

 private:
  Reservation reservation_;
  uint32_t list_max_ = 0;
  std::vector<Neighbor, LargePageAllocator<Neighbor>> neighbors_;
  std::vector<uint32_t> counts_;
  std::vector<float> limits_;  // side by side, because they are asked for more often than lists
};

struct NeighborOptions {
  uint32_t list_max = 64;
  uint32_t clusters_joined = 2;  // a vector is a member of its first clusters, and searches all
  uint32_t descent = 8;          // neighbours whose neighbours are looked at; 0: no second step
  // Of each vector some that are known to be near it, the nearest first; of new ones none. Only
  // these get lists. Null: all are new.
  const NumberLists* known = nullptr;
  uint32_t threads = 1;
  MemoryBudget* budget = nullptr;  // may be null
  BuildPause pause;                // may be empty; asked by the caller's thread alone

  bool is_new(uint32_t vector) const { return known == nullptr || known->of(vector).empty(); }
};

// A vector is compared with at most so many members of each cluster: where duplicates make one
// huge, with a part of them.
inline constexpr size_t kClusterMembersMax = 4096;

// REQUIRES: `clustering` and `codes` are of `vectors`; options.list_max > 0.
Result<NeighborLists> FindNeighbors(const VectorTable& vectors, const Clustering& clustering,
                                    const PairCodes& codes, const NeighborOptions& options);

}  // namespace pigment
