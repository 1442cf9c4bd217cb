// SPDX-License-Identifier: Apache-2.0
//
// Second stage of the read pipeline: which rows answer, in order. By distance for a query, by
// insertion ordinal for a get. Pure functions over a pinned version; any thread.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/query/search.h"
#include "engine/query/search_plan.h"

namespace pigment {

struct Hit {
  float distance = 0;
  RowPlace place;
};

// Per query the min(k, planned rows) nearest rows within the request's distance, ascending by
// (distance, ordinal). Many queries are shared out among threads, which changes nothing of the
// answer.
Result<std::vector<std::vector<Hit>>> NearestRows(const Version& version,
                                                  const QueryRequest& request, const Plan& plan,
                                                  SegmentReaders& readers, ReadCounters& counters);

// Rows of the plan that pass the filter, by ordinal, from the offset on and up to the limit: the
// filter is evaluated no further than the answer needs.
Result<std::vector<RowPlace>> RowsInOrder(const Version& version, const GetRequest& request,
                                          const Plan& plan, SegmentReaders& readers,
                                          ReadCounters& counters);

}  // namespace pigment
