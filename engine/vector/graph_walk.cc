// SPDX-License-Identifier: Apache-2.0
//
// The walk: see the header.

#include "engine/vector/graph_walk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace pigment {
namespace {

constexpr uint32_t kNobody = SearchStep::kNoVector;
// A walk that is to find what is nearer than some distance may begin far from it: it goes on while
// it gets nearer, by so many of its nearest.
constexpr size_t kSettled = 8;

}  // namespace

void GraphWalk::Begin() {
  constexpr size_t kPlacesMin = 1024;
  constexpr size_t kPlacesKept = 16 << 10;  // one long walk is not what all that follow clear
  promises_.Clear();
  entries_.clear();
  entry_estimates_.clear();
  limit_ = std::numeric_limits<float>::quiet_NaN();
  visited_.assign(std::clamp(visited_.size(), kPlacesMin, kPlacesKept), kNobody);
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

Status GraphWalk::NoteEntries(GraphSource& source, const SignCodeQuery& query, uint32_t vectors) {
  for (uint32_t number = 0; number < source.entry_nodes(); ++number) {
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, source.EntryNode(number));
    const size_t first = entries_.size();
    entries_.resize(first + node.links());
    entry_estimates_.resize(first + kLinksPerNodeMax);
    node.CopyLinks(entries_.data() + first);
    node.Estimate(query, source.centre_square(), entry_estimates_.data() + first);
  }
  if (entries_.empty()) return Status::Ok();
  entry_estimates_.resize(entries_.size());
  links_estimated_ += entries_.size();
  // Of groups, so that a register has several at once.
  constexpr size_t kGroups = 16;
  std::array<float, kGroups> least;
  std::array<uint32_t, kGroups> greatest_link{};
  least.fill(std::numeric_limits<float>::infinity());
  const auto note = [&](size_t entry, size_t group) {
    const float estimate = entry_estimates_[entry];
    least[group] = estimate < least[group] ? estimate : least[group];
    greatest_link[group] = std::max(greatest_link[group], entries_[entry]);
  };
  size_t entry = 0;
  for (; entry + kGroups <= entries_.size(); entry += kGroups) {
    for (size_t group = 0; group < kGroups; ++group) note(entry + group, group);
  }
  for (size_t group = 0; entry < entries_.size(); ++entry, ++group) note(entry, group);
  const uint32_t greatest = *std::max_element(greatest_link.begin(), greatest_link.end());
  if (greatest >= vectors) return LinkBeyondTheEnd(greatest, vectors);
  // Half of the groups have an entry up to the middle one of the leasts of each: so many are enough
  // to begin with, and found without sorting all.
  const auto middle = least.begin() + kGroups / 2;
  std::nth_element(least.begin(), middle, least.end());
  PushEntries(*middle);
  return Status::Ok();
}

void GraphWalk::PushEntries(float limit) {
  near_entries_.Find(entry_estimates_, limit);
  for (size_t i = near_entries_.count(); i-- > 0;) {
    const uint32_t place = near_entries_.place(i);
    promises_.Push(PromiseOf(near_entries_.distance(i), entries_[place]));
    entries_[place] = entries_.back();
    entry_estimates_[place] = entry_estimates_.back();
    entries_.pop_back();
    entry_estimates_.pop_back();
  }
  entries_from_ = PromiseOf(limit, 0);
}

void GraphWalk::PushMoreEntries() {
  constexpr size_t kAtOnce = 32;
  sorted_.clear();
  for (const float estimate : entry_estimates_) {
    if (estimate == estimate) sorted_.push_back(estimate);
  }
  if (sorted_.size() > kAtOnce) {
    const auto last = sorted_.begin() + kAtOnce;
    std::nth_element(sorted_.begin(), last, sorted_.end());
    PushEntries(*last);
    return;
  }
  for (size_t i = 0; i < entries_.size(); ++i)
    promises_.Push(PromiseOf(entry_estimates_[i], entries_[i]));
  entries_.clear();
  entry_estimates_.clear();
}

bool GraphWalk::Next(Visit* next) {
  for (;;) {
    const uint32_t limit = DistanceKey(limit_);
    if (!entries_.empty() && (promises_.empty() || promises_.least() > entries_from_)) {
      if (entries_from_ >> 32 > limit) return false;
      PushMoreEntries();
    }
    if (promises_.empty()) return false;
    const uint64_t promise = promises_.least();
    if (promise >> 32 > limit) return false;
    promises_.Pop();
    next->vector = static_cast<uint32_t>(promise);
    next->estimate = DistanceOfKey(static_cast<uint32_t>(promise >> 32));
    if (Visits(next->vector)) return true;
  }
}

Status GraphWalk::NoteLinks(GraphSource& source, const GraphNode& node, const SignCodeQuery& query,
                            float square, uint32_t vectors) {
  const bool expects_all = source.waits_for_disk();
  float estimates[kLinksPerNodeMax];
  links_estimated_ += node.links();
  // Most are too far. What is no number is visited last.
  for (uint32_t near = node.LinksWithin(query, square, 0, limit_, estimates); near != 0;
       near &= near - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(near));
    const uint32_t link = node.link(i);
    if (link >= vectors) return LinkBeyondTheEnd(link, vectors);
    if (IsVisited(link)) continue;
    promises_.Push(PromiseOf(estimates[i], link));
    // Without a limit yet most of them are passed by.
    if (expects_all && estimates[i] <= limit_) {
      source.Expect(link);
      source.ExpectNode(link);
    }
  }
  return Status::Ok();
}

Result<std::vector<Scored>> GraphWalk::Search(GraphSource& source, const SignCodeQuery& query,
                                              uint32_t vectors, const GraphWalkOptions& options) {
  Begin();
  if (options.k == 0) return std::vector<Scored>();
  if (options.absent != kNobody) Visits(options.absent);
  PIGMENT_RETURN_IF_ERROR(NoteEntries(source, query, vectors));
  TopK nearest(options.k);
  TopK given(options.k + options.spare);  // the same, where there are no spare ones
  const bool is_limited = options.wanted == options.wanted;
  const float wanted = is_limited ? source.SquareOf(options.wanted) : 0;
  TopK settled(std::min(options.k, kSettled));
  const bool is_around_centre = source.has_exact_codes();
  uint64_t allowed_visited = 0;
  float calibrated = options.reach;
  Visit next;
  const auto choose = [&] {
    const bool is_there = Next(&next);
    if (is_there) source.Expect(next.vector);
    return is_there;
  };
  for (bool goes_on = choose(); goes_on;) {
    const Visit visit = next;
    source.ExpectNode(visit.vector);
    PIGMENT_ASSIGN_OR_RETURN(const float distance, source.Distance(visit.vector));
    ++nodes_visited_;
    const bool is_allowed = IsAllowed(options.allowed, visit.vector);
    allowed_visited += is_allowed ? 1 : 0;
    if (is_allowed) {
      if (options.spare != 0 && given.MayEnter(distance)) given.Offer(distance, visit.vector);
      if (nearest.MayEnter(distance)) {
        nearest.Offer(distance, visit.vector);
        if (is_limited) settled.Offer(distance, visit.vector);
        calibrated = MaskedReach::Shortened(options.reach, options.masked, options.k,
                                            nodes_visited_, allowed_visited);
      }
      const float reach = ReachAfter(calibrated, allowed_visited, options.k);
      // NaN until there are k.
      limit_ = source.SquareOf(nearest.worst()) * reach;
      if (is_limited) {
        const float enough = std::max(source.SquareOf(settled.worst()), wanted) * reach;
        if (enough < limit_ || limit_ != limit_) limit_ = enough;
      }
    }
    if (options.steps != nullptr)
      options.steps->push_back({visit.estimate, distance, visit.vector});
    if (nodes_visited_ == options.visits_max) break;
    // The next vector comes from memory while the links of this one are looked at; one of these
    // comes next only where nothing else is left to go on to.
    goes_on = choose();
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, source.Node(visit.vector));
    const float square = is_around_centre ? source.centre_square() : source.SquareOf(distance);
    PIGMENT_RETURN_IF_ERROR(NoteLinks(source, node, query, square, vectors));
    if (!goes_on) goes_on = choose();
  }
  return (options.spare != 0 ? given : nearest).TakeSorted();
}

}  // namespace pigment
