// SPDX-License-Identifier: Apache-2.0
//
// Graph: for each vector of a table links to a few others, such that going from one to the nearest
// of its links, again and again, comes near to any vector. Made by BuildGraph (graph_build.h) by
// one thread, then read by any.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/memory_budget.h"

namespace pigment {

class Graph {
 public:
  explicit Graph(MemoryBudget* budget) : reservation_(budget) {}

  Status Reserve(uint32_t count, uint32_t degree_max);

  uint32_t count() const { return static_cast<uint32_t>(degrees_.size()); }
  uint32_t degree_max() const { return degree_max_; }
  uint64_t link_count() const;
  // What it takes, with an order.
  uint64_t bytes() const { return (links_.size() + 2 * degrees_.size()) * sizeof(uint32_t); }

  std::span<const uint32_t> links(uint32_t vector) const {
    return {links_.data() + size_t{vector} * degree_max_, degrees_[vector]};
  }
  void ClearLinks(uint32_t vector) { degrees_[vector] = 0; }
  // False: there is no room.
  bool AddLink(uint32_t vector, uint32_t to);

  // Where walks may begin: spread over the vectors, at least one.
  const std::vector<uint32_t>& entries() const { return entries_; }
  void SetEntries(std::vector<uint32_t> entries) { entries_ = std::move(entries); }

  // All vectors, mostly after others that are near them: whoever goes through them and their links
  // so finds in the caches what he met before.
  const std::vector<uint32_t>& order() const { return order_; }
  void SetOrder(std::vector<uint32_t> order) { order_ = std::move(order); }

 private:
  Reservation reservation_;
  uint32_t degree_max_ = 0;
  std::vector<uint32_t> links_;
  std::vector<uint32_t> degrees_;
  std::vector<uint32_t> entries_;
  std::vector<uint32_t> order_;
};

}  // namespace pigment
