// SPDX-License-Identifier: Apache-2.0
//
// The walk: see the header.

#include "engine/vector/graph_walk.h"

#include <algorithm>
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
  // Half of the nodes have an entry below the middle one of the least estimates of each: so many
  // are enough to begin with, and found without sorting.
  least_of_nodes_.clear();
  uint32_t greatest_link = 0;
  for (uint32_t number = 0; number < source.entry_nodes(); ++number) {
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, source.EntryNode(number));
    const size_t first = entries_.size();
    entries_.resize(first + node.links());
    entry_estimates_.resize(first + kLinksPerNodeMax);
    float* const estimates = entry_estimates_.data() + first;
    node.Estimate(query, source.centre_square(), estimates);
    float least = std::numeric_limits<float>::infinity();
    for (uint32_t i = 0; i < node.links(); ++i) {
      entries_[first + i] = node.link(i);
      greatest_link = std::max(greatest_link, entries_[first + i]);
      least = estimates[i] < least ? estimates[i] : least;
    }
    least_of_nodes_.push_back(least);
  }
  links_estimated_ += entries_.size();
  if (entries_.empty()) return Status::Ok();
  if (greatest_link >= vectors) return LinkBeyondTheEnd(greatest_link, vectors);
  const auto middle = least_of_nodes_.begin() + static_cast<ptrdiff_t>(least_of_nodes_.size() / 2);
  std::nth_element(least_of_nodes_.begin(), middle, least_of_nodes_.end());
  PushEntries(*middle);
  return Status::Ok();
}

void GraphWalk::PushEntries(float limit) {
  size_t waiting = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const float estimate = entry_estimates_[i];
    const uint32_t entry = entries_[i];
    entries_[waiting] = entry;
    entry_estimates_[waiting] = estimate;
    const bool is_near = estimate <= limit;
    waiting += is_near ? 0 : 1;
    if (is_near) promises_.Push(PromiseOf(estimate, entry));
  }
  entries_.resize(waiting);
  entries_from_ = PromiseOf(limit, 0);
}

void GraphWalk::PushMoreEntries() {
  constexpr size_t kAtOnce = 32;
  std::vector<float>& sorted = least_of_nodes_;
  sorted.clear();
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entry_estimates_[i] == entry_estimates_[i]) sorted.push_back(entry_estimates_[i]);
  }
  if (sorted.size() > kAtOnce) {
    const auto last = sorted.begin() + kAtOnce;
    std::nth_element(sorted.begin(), last, sorted.end());
    PushEntries(*last);
    return;
  }
  for (size_t i = 0; i < entries_.size(); ++i)
    promises_.Push(PromiseOf(entry_estimates_[i], entries_[i]));
  entries_.clear();
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
  return nearest.TakeSorted();
}

}  // namespace pigment
