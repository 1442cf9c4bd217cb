// SPDX-License-Identifier: Apache-2.0
//
// One long search tells what all shorter ones find: it ends before the first visit whose estimate
// is beyond its reach, so those of a smaller reach, or for fewer neighbours, are its beginnings.

#include "engine/vector/reach_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/vector/top_k.h"

namespace pigment {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();
// Where the longest that is known finds too few, a scan does: when it misses so many times what may
// be missed, and one more that chance may have chosen.
constexpr double kMissesAllowed = 3;

// `part` of the way from a to b: 0 is a, 1 is b.
float Between(float a, float b, double part) {
  if (part <= 0) return a;
  return part >= 1 || !std::isfinite(b) ? b : static_cast<float>(a + (b - a) * part);
}

// What is missed becomes less by a factor with each step of the reach: 100,000 passages along 64
// directions miss 0.037, 0.019, 0.0038 and 0.0010 at 1.15, 1.2, 1.3 and 1.4.
Reach AtRecall(std::span<const Reach> values, double recall) {
  constexpr auto& kRecalls = ReachTable::kRecalls;
  size_t high = 1;
  while (high + 1 < kRecalls.size() && kRecalls[high] < recall) ++high;
  const double missed = 1 - double{kRecalls[high - 1]};
  const double part =
      std::log(missed / (1 - recall)) / std::log(missed / (1 - double{kRecalls[high]}));
  return {.reach = Between(values[high - 1].reach, values[high].reach, part),
          .visits = Between(values[high - 1].visits, values[high].visits, part)};
}

}  // namespace

constexpr float ReachSums::ReachOf(size_t step) {
  constexpr size_t kStepsBelow = 25, kSmallSteps = 30;
  if (step < kStepsBelow) return 1 - 0.02f * static_cast<float>(kStepsBelow - step);
  const size_t above = step - kStepsBelow;
  const size_t small = std::min(above, kSmallSteps);
  return 1 + 0.01f * static_cast<float>(small) + 0.05f * static_cast<float>(above - small);
}

bool ReachSums::Ends(size_t step, float ratio, uint64_t visits, size_t k) const {
  const float reach = ReachOf(step);
  return (kind_ == Kind::kWalks ? ReachAfter(reach, visits, k) : reach) < ratio;
}

void ReachSums::Add(std::span<const SearchStep> steps, std::span<const float> nearest) {
  const size_t tracked = std::max(nearest.size(), ReachTable::kNeighborsMin);
  TopK found_now(tracked);
  size_t reach = 0;  // walks of a smaller one have ended
  size_t right = 0;
  size_t visits_now = 0;
  const auto end_walks = [&](float ratio, bool is_over) {
    for (; reach < kReaches && Ends(reach, ratio, visits_now, tracked); ++reach) {
      found_[reach] += static_cast<double>(right) / static_cast<double>(nearest.size());
      visits_[reach] += static_cast<double>(visits_now);
      ended_[reach] += is_over ? 0 : 1;
    }
  };
  for (const SearchStep& step : steps) {
    if (step.is_visit && found_now.size() == tracked)
      end_walks(step.estimate / found_now.worst(), false);
    if (step.is_visit) ++visits_now;
    if (step.vector == SearchStep::kNoVector) continue;
    if (step.distance <= nearest.back() && right < nearest.size()) ++right;
    found_now.Offer(step.distance, step.vector);
  }
  end_walks(kInfinite, true);
  ++queries_;
}

Reach ReachSums::Least(float recall, float from) const {
  if (queries_ == 0) return {.reach = 1, .visits = 1};
  const auto at = [this](size_t step) {
    return Reach{.reach = ReachOf(step), .visits = static_cast<float>(visits_[step] / queries_)};
  };
  for (size_t step = 0; step < kReaches; ++step) {
    if (ReachOf(step) >= from && found_[step] >= recall * queries_) return at(step);
  }
  size_t longest = kReaches - 1;
  while (ReachOf(longest) > from && ended_[longest] < queries_ / 2) --longest;
  const double missed = queries_ - found_[longest];
  if (missed <= kMissesAllowed * (1 - recall) * queries_ + 1) return at(longest);
  return {.reach = kInfinite, .visits = kInfinite};
}

bool ReachSums::FindsAll() const {
  return found_.back() >= static_cast<double>(ReachTable::kRecalls.back()) * queries_;
}

Reach ReachTable::For(size_t k, double recall) const {
  const double wanted = static_cast<double>(std::max<size_t>(k, 1));
  size_t row = 0;
  while (row + 2 < kNeighbors.size() && wanted > kNeighbors[row + 1]) ++row;
  const Reach near = AtRecall(values[row], recall);
  Reach far = AtRecall(values[row + 1], recall);
  if (wanted > kNeighbors.back()) far.reach = std::max(far.reach, 1.0f);
  // In powers of k; of visits also beyond the last.
  const double part = std::log(wanted / kNeighbors[row]) /
                      std::log(static_cast<double>(kNeighbors[row + 1]) / kNeighbors[row]);
  if (!std::isfinite(near.visits) || !std::isfinite(far.visits)) return part > 0 ? far : near;
  const double growth = far.visits / std::max(near.visits, 1.0f);
  return {.reach = Between(near.reach, far.reach, part),
          .visits = static_cast<float>(near.visits * std::pow(growth, part))};
}

}  // namespace pigment
