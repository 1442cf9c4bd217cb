// SPDX-License-Identifier: Apache-2.0
//
// Clauses of a filter in one array, parents before children: a clause has an `op`, kAnd or kOr for
// a group, the `end` of what is below it and its `parent`, kNone at the root
// (engine/query/filter_program.h draws one).

#pragma once

#include <cstdint>
#include <vector>

namespace pigment {

// Whether the clauses hold, of which `holds(i)` says it where clause i is no group. Goes through
// them without a stack, and leaves a group as soon as its answer is known. None: they hold.
template <typename Clause, typename Holds>
bool ClausesHold(const std::vector<Clause>& clauses, const Holds& holds) {
  using Op = decltype(Clause::op);
  if (clauses.empty()) return true;
  uint32_t i = 0;
  while (true) {
    while (clauses[i].op == Op::kAnd || clauses[i].op == Op::kOr) ++i;  // its first child
    const bool answer = holds(i);
    // Upward until a group has a child left that can change its answer.
    while (true) {
      const uint32_t parent = clauses[i].parent;
      if (parent == Clause::kNone) return answer;
      const bool decided = answer == (clauses[parent].op == Op::kOr);
      if (!decided && clauses[i].end < clauses[parent].end) break;
      i = parent;
    }
    i = clauses[i].end;
  }
}

}  // namespace pigment
