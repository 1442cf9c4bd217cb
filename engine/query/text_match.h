// SPDX-License-Identifier: Apache-2.0
//
// The rows of a row group that match a clause, with how often: a stored posting list for a word,
// one that is made for a phrase (by its words' places) or a prefix (by the lists of all its terms).
// One thread; everything is borrowed.

#pragma once

#include <optional>

#include "engine/base/call_control.h"
#include "engine/base/memory_budget.h"
#include "engine/query/text_query.h"
#include "engine/query/text_sources.h"

namespace pigment {

struct MatchContext {
  const CallControl& control;
  Reservation& memory;  // grows by what the cursor takes
  uint64_t& lists_read;
};

// None: no row matches.
Result<std::optional<PostingCursor>> MatchClause(const TextRows& rows, const TextClause& clause,
                                                 const MatchContext& context);

}  // namespace pigment
