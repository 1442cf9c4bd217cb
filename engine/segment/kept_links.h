// SPDX-License-Identifier: Apache-2.0
//
// What a merge keeps of a graph: the links of the vectors that stay, by their numbers in the new
// segment, whose graph starts from them (graph_build.h). A vector that has links to some that go
// gets those of theirs besides, as much as there is room for (as FreshDiskANN consolidates
// deletions; Singh et al., arXiv 2105.09613, 2021).

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/base/memory_budget.h"
#include "engine/segment/segment.h"
#include "engine/vector/build_pause.h"
#include "engine/vector/number_lists.h"

namespace pigment {

inline constexpr uint32_t kVectorIsGone = 0xFFFFFFFF;

struct KeptLinks {
  uint32_t vectors = 0;  // that have some
  NumberLists links;     // of each vector of the new segment up to the last of these
  Reservation reservation;
};

// `to[i]` is the number of vector i of `graph`, a segment with a graph, in the new segment, or
// kVectorIsGone; the others ascend. nullopt: the budget (may be null) has no room for them beside
// what a segment needs, or nodes are damaged, and vectors are all that a new graph has to have.
// `pause` (may be empty) is asked before each vector; its error is given.
Result<std::optional<KeptLinks>> KeepLinks(const Segment& graph, std::span<const uint32_t> to,
                                           MemoryBudget* budget, const BuildPause& pause);

}  // namespace pigment
