// SPDX-License-Identifier: Apache-2.0
//
// Rows by a list of ids, without sets of rows: what a get of some ids costs depends on the ids, not
// on the rows of the collection. The same rows in the same order as PlanRows and RowsInOrder give,
// which a test holds it against. Pure functions over a pinned version; any thread.

#pragma once

#include <vector>

#include "engine/query/search.h"
#include "engine/query/search_plan.h"
#include "engine/query/search_scan.h"

namespace pigment {

// The live rows of `options.ids`, by insertion ordinal, each once. REQUIRES: options.ids.
Result<std::vector<RowPlace>> RowsOfIds(const Version& version, const ReadOptions& options,
                                        SegmentReaders& readers);

// Those of `rows` that pass the filter, from the request's offset on and up to its limit: the
// filter is evaluated no further than the answer needs.
Result<std::vector<RowPlace>> FilterInOrder(const Version& version, const GetRequest& request,
                                            std::vector<RowPlace> rows, SegmentReaders& readers,
                                            ReadCounters& counters);

}  // namespace pigment
