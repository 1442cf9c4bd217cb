// SPDX-License-Identifier: Apache-2.0
//
// Ranked search of documents over one pinned Version: parse, plan, count, search, fetch and shape.
// Exact: the k best of all rows, by scores that depend on the live rows alone and not on how they
// are spread over segments and tail. Pure with respect to the version; any thread.

#pragma once

#include <string_view>
#include <vector>

#include "engine/query/search.h"

namespace pigment {

struct TextSearchRequest {
  ReadOptions read;
  std::vector<std::string_view> queries;  // text_query.h
  bool all = false;                       // every clause is required
  uint64_t k = 10;
  bool highlights = false;
};

// Rows by score, the highest first, then by insertion. Rows that match: all required clauses, or
// any where none is required. Filters choose among rows and change no score. A collection without a
// text index: kFailedPrecondition.
Result<ResultSet> SearchText(const Version& version, const TextSearchRequest& request);

}  // namespace pigment
