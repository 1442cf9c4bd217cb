// SPDX-License-Identifier: Apache-2.0
//
// The walk: see the header.

#include "engine/vector/graph_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace pigment {
namespace {

constexpr uint32_t kNobody = 0xFFFFFFFF;

bool IsAllowed(std::span<const uint64_t> allowed, uint32_t vector) {
  return allowed.empty() || (allowed[vector / 64] >> (vector % 64) & 1) != 0;
}

}  // namespace

void GraphWalk::Begin(size_t width) {
  width_ = width;
  promises_.clear();
  promises_.reserve(width + 1);
  next_ = 0;
  // Some three in four of the promises of a walk are visited, and few besides.
  const size_t places = std::bit_ceil(std::max<size_t>(64, 4 * width));
  visited_.assign(std::max(places, visited_.size()), kNobody);
  visited_count_ = 0;
  nodes_visited_ = 0;
  links_estimated_ = 0;
}

size_t GraphWalk::PlaceOf(uint32_t vector) const {
  const size_t mask = visited_.size() - 1;
  size_t place = (vector * uint64_t{0x9E3779B97F4A7C15} >> 32) & mask;
  while (visited_[place] != kNobody && visited_[place] != vector) place = (place + 1) & mask;
  return place;
}

void GraphWalk::GrowVisited() {
  const std::vector<uint32_t> before =
      std::exchange(visited_, std::vector<uint32_t>(visited_.size() * 2, kNobody));
  for (const uint32_t vector : before) {
    if (vector != kNobody) visited_[PlaceOf(vector)] = vector;
  }
}

bool GraphWalk::Visits(uint32_t vector) {
  uint32_t& place = visited_[PlaceOf(vector)];
  if (place == vector) return false;
  place = vector;
  if (++visited_count_ * 2 > visited_.size()) GrowVisited();
  return true;
}

bool GraphWalk::Next(uint32_t* vector) {
  while (next_ < promises_.size()) {
    uint32_t& promised = promises_[next_++].vector;
    if ((promised & kVisited) != 0) continue;
    *vector = std::exchange(promised, promised | kVisited);
    if (Visits(*vector)) return true;
  }
  return false;
}

// Without branches: whether a step goes up or down is anybody's guess.
size_t GraphWalk::PlaceFor(float estimate) const {
  const Promise* begin = promises_.data();
  for (size_t count = promises_.size(); count > 0;) {
    const size_t half = (count + 1) / 2;
    begin += begin[half - 1].estimate <= estimate ? half : 0;
    count -= half;
  }
  return static_cast<size_t>(begin - promises_.data());
}

float GraphWalk::Limit() const {
  return promises_.size() < width_ ? std::numeric_limits<float>::quiet_NaN()
                                   : promises_.back().estimate;
}

void GraphWalk::Note(float estimate, uint32_t vector) {
  // Of numbers beyond f32 nothing is known: such a vector is looked at last.
  if (std::isnan(estimate)) estimate = std::numeric_limits<float>::infinity();
  if (promises_.size() == width_) promises_.pop_back();
  const size_t place = PlaceFor(estimate);
  promises_.insert(promises_.begin() + static_cast<ptrdiff_t>(place), {estimate, vector});
  next_ = std::min(next_, place);
}

Status GraphWalk::NoteLinks(const GraphNode& node, const SignCodeQuery& query, float distance,
                            uint32_t vectors) {
  float estimates[kLinksPerNodeMax];
  node.Estimate(query, distance, estimates);
  links_estimated_ += node.links();
  // Most are too far: those that are not are picked out without a branch for each.
  const float limit = Limit();
  uint32_t near = 0;
  for (uint32_t i = 0; i < node.links(); ++i)
    near |= static_cast<uint32_t>(!(estimates[i] >= limit)) << i;
  for (; near != 0; near &= near - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(near));
    const uint32_t link = node.link(i);
    if (link >= vectors) {
      return DataLoss(Detail::kMiscounted, "", -1,
                      fmt::format("a graph of {} vectors links to {}", vectors, link));
    }
    if (estimates[i] >= Limit() || IsVisited(link)) continue;
    Note(estimates[i], link);
  }
  return Status::Ok();
}

Result<std::vector<Scored>> GraphWalk::Search(GraphSource& source, const SignCodeQuery& query,
                                              uint32_t vectors, const GraphWalkOptions& options) {
  Begin(std::max(options.width, options.k));
  for (uint32_t i = 0; i < source.entry_nodes(); ++i) {
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, source.EntryNode(i));
    PIGMENT_RETURN_IF_ERROR(NoteLinks(node, query, source.centre_distance(), vectors));
  }
  TopK nearest(options.k);
  for (uint32_t vector = 0; Next(&vector);) {
    ++nodes_visited_;
    // Vector and node come from memory together, and the next ones behind them.
    source.Expect(vector);
    if (next_ < promises_.size()) source.Expect(promises_[next_].vector);
    PIGMENT_ASSIGN_OR_RETURN(const float distance, source.Distance(vector));
    if (nearest.MayEnter(distance) && IsAllowed(options.allowed, vector))
      nearest.Offer(distance, vector);
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, source.Node(vector));
    PIGMENT_RETURN_IF_ERROR(NoteLinks(node, query, distance, vectors));
  }
  return nearest.TakeSorted();
}

}  // namespace pigment
