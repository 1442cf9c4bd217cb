// SPDX-License-Identifier: Apache-2.0
//
// Paths of clauses are made from the inside out, when somebody asks.

#include "engine/query/filter_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/record/text.h"

namespace pigment {
namespace {

constexpr uint32_t kTexts = 2;

// Groups of a path that are named at its begin and at its end.
constexpr size_t kFirstSteps = 4;
constexpr size_t kLastSteps = 8;

}  // namespace

uint32_t FilterPlaces::AddGroup(Kind kind, FilterPlace place) {
  groups_.push_back({kind, place});
  return static_cast<uint32_t>(groups_.size() - 1) + kTexts;
}

const FilterPlaces::Group& FilterPlaces::GroupAround(FilterPlace place) const {
  return groups_[place.group - kTexts];
}

uint32_t FilterPlaces::TextOf(FilterPlace place) const {
  while (place.group >= kTexts) place = GroupAround(place).place;
  return place.group;
}

std::string FilterPlaces::Step(FilterPlace place) const {
  switch (GroupAround(place).kind) {
    case Kind::kAnd:
      return fmt::format("$and[{}]", place.number);
    case Kind::kOr:
      return fmt::format("$or[{}]", place.number);
    case Kind::kNot:
      break;
  }
  return "$not";
}

std::string FilterPlaces::Tell(FilterPlace place, std::string_view field,
                               std::string_view reason) const {
  const std::string_view text = TextOf(place) == kWhere ? "where" : "where_document";
  std::vector<FilterPlace> steps;
  for (; place.group >= kTexts; place = GroupAround(place).place) steps.push_back(place);
  std::reverse(steps.begin(), steps.end());
  std::string path;
  const auto append = [&path](std::string_view step) {
    path.append(path.empty() ? "" : ".").append(step);
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i == kFirstSteps && steps.size() > kFirstSteps + kLastSteps) {
      const size_t left_out = steps.size() - kFirstSteps - kLastSteps;
      append(fmt::format("({} more)", left_out));
      i += left_out;
    }
    append(Step(steps[i]));
  }
  if (!field.empty()) append(Quoted(field));
  return fmt::format("{}: {}{}{}", text, path, path.empty() ? "" : ": ", reason);
}

}  // namespace pigment
