// SPDX-License-Identifier: Apache-2.0
//
// All links of the old graph, then those of each vector that stays: see the header.

#include "engine/segment/kept_links.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/segment/index_reader.h"
#include "engine/vector/entry_source.h"
#include "engine/vector/graph_node.h"

namespace pigment {
namespace {

// Links of one vector: its own, and some of those that go.
constexpr size_t kKeptMax = 2 * size_t{kLinksPerNodeMax};

// False: there is no room. An eighth of a budget is left for postings and pages.
bool Take(const MemoryBudget* budget, uint64_t bytes, Reservation& reservation) {
  if (budget != nullptr && budget->limit_bytes() != 0 &&
      budget->used_bytes() + bytes > budget->limit_bytes() / 8 * 7)
    return false;
  return reservation.Grow(bytes).ok();
}

Result<NumberLists> ReadLinks(const Segment& graph, const IndexHead& head,
                              const BuildPause& pause) {
  const std::unique_ptr<IndexReader> reader = graph.NewIndexReader(head);
  const uint32_t vectors = graph.info().vectors;
  NumberLists links;
  links.begins.reserve(size_t{vectors} + 1);
  links.numbers.reserve(size_t{vectors} * head.places);
  for (uint32_t vector = 0; vector < vectors; ++vector) {
    if (pause) PIGMENT_RETURN_IF_ERROR(pause());
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, reader->Node(vector));
    for (uint32_t i = 0; i < node.links(); ++i) {
      if (node.link(i) >= vectors) return LinkBeyondTheEnd(node.link(i), vectors);
      links.numbers.push_back(node.link(i));
    }
    links.begins.push_back(static_cast<uint32_t>(links.numbers.size()));
  }
  return links;
}

// The new links of old vectors.
class Keeper {
 public:
  Keeper(const NumberLists& old_links, std::span<const uint32_t> to)
      : old_links_(old_links), to_(to) {}

  // Of one that stays; valid until the next call.
  std::span<const uint32_t> LinksOf(uint32_t vector) {
    kept_.clear();
    for (const uint32_t link : old_links_.of(vector)) Add(vector, link);
    for (const uint32_t link : old_links_.of(vector)) {
      if (to_[link] != kVectorIsGone) continue;
      for (const uint32_t other : old_links_.of(link)) Add(vector, other);
    }
    return kept_;
  }

 private:
  void Add(uint32_t vector, uint32_t link) {
    const uint32_t to = to_[link];
    if (to == kVectorIsGone || link == vector || kept_.size() == kKeptMax) return;
    if (std::ranges::find(kept_, to) == kept_.end()) kept_.push_back(to);
  }

  const NumberLists& old_links_;
  const std::span<const uint32_t> to_;
  std::vector<uint32_t> kept_;
};

Result<std::optional<KeptLinks>> Keep(const Segment& graph, std::span<const uint32_t> to,
                                      MemoryBudget* budget, const BuildPause& pause) {
  PIGMENT_ASSIGN_OR_RETURN(const IndexHead* const head, graph.Index());
  const uint64_t read_bytes =
      uint64_t{graph.info().vectors} * (head->places + 1) * sizeof(uint32_t);
  Reservation reading(budget);
  if (!Take(budget, read_bytes, reading)) return std::optional<KeptLinks>();
  PIGMENT_ASSIGN_OR_RETURN(const NumberLists old_links, ReadLinks(graph, *head, pause));
  Keeper keeper(old_links, to);
  const auto for_each_kept = [&](const auto& visit) {
    for (uint32_t vector = 0; vector < to.size(); ++vector) {
      if (to[vector] != kVectorIsGone) visit(vector, to[vector]);
    }
  };
  size_t lists = 0;
  size_t numbers = 0;
  for_each_kept([&](uint32_t vector, uint32_t kept) {
    lists = kept + 1;
    numbers += keeper.LinksOf(vector).size();
  });
  const uint64_t kept_bytes = (lists + 1 + numbers) * sizeof(uint32_t);
  KeptLinks kept;
  kept.reservation = Reservation(budget);
  if (!Take(budget, kept_bytes, kept.reservation)) return std::optional<KeptLinks>();
  kept.links.begins.reserve(lists + 1);
  kept.links.numbers.reserve(numbers);
  for_each_kept([&](uint32_t vector, uint32_t number) {
    kept.links.FillUpTo(number);
    kept.links.Add(keeper.LinksOf(vector));
    ++kept.vectors;
  });
  return std::optional(std::move(kept));
}

}  // namespace

Result<std::optional<KeptLinks>> KeepLinks(const Segment& graph, std::span<const uint32_t> to,
                                           MemoryBudget* budget, const BuildPause& pause) {
  Result<std::optional<KeptLinks>> kept = Keep(graph, to, budget, pause);
  if (kept.status().code() == Code::kDataLoss) return std::optional<KeptLinks>();
  return kept;
}

}  // namespace pigment
