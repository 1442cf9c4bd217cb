// SPDX-License-Identifier: Apache-2.0
//
// Where the clauses of a filter stand in its text, by the groups around them, so that a refusal can
// say it, while the text is parsed or later:
//   where: $and[2].$not.$or[0]."year": operator "$gt" takes an integer or a float, got "x"
// Of many groups the first and the last are named. Filled by one thread; any thread may read then.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pigment {

// The group that a clause is a child of, and its number there.
struct FilterPlace {
  uint32_t group = 0;
  uint32_t number = 0;
};

class FilterPlaces {
 public:
  // The groups that are there from the beginning: the texts, each with one clause.
  static constexpr uint32_t kWhere = 0;
  static constexpr uint32_t kWhereDocument = 1;

  enum class Kind : uint8_t { kAnd, kOr, kNot };

  // The clause at `place` is a group; returns its number for the places of its children.
  uint32_t AddGroup(Kind kind, FilterPlace place);

  // "where: $and[2]."year": reason"; `field` is empty where the clause has none.
  std::string Tell(FilterPlace place, std::string_view field, std::string_view reason) const;
  // kWhere or kWhereDocument: which of the texts the clause at `place` is in.
  uint32_t TextOf(FilterPlace place) const;

 private:
  struct Group {
    Kind kind;
    FilterPlace place;
  };

  // One step outward. REQUIRES: a group that is no text.
  const Group& GroupAround(FilterPlace place) const;
  std::string Step(FilterPlace place) const;

  std::vector<Group> groups_;  // from number 2 on
};

}  // namespace pigment
