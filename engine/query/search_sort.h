// SPDX-License-Identifier: Apache-2.0
//
// Rows of a get in the order of keys that the caller named: all that match are looked at, and of
// these only so many are kept as offset and limit together need. Pure functions over a pinned
// version; any thread.

#pragma once

#include <span>
#include <vector>

#include "engine/query/search.h"
#include "engine/query/search_explain.h"
#include "engine/query/search_plan.h"

namespace pigment {

// Gives rows their place in an order. One thread.
class RowPositions {
 public:
  RowPositions(const Version& version, const OrderBy& order, SegmentReaders& readers,
               ReadCounters& counters);

  Result<RowPosition> Of(const RowPlace& place);
  Result<uint64_t> OrdinalOf(const RowPlace& place);

 private:
  Result<std::string> KeyInSegment(const RowPlace& place);

  const Version& version_;
  const OrderBy& order_;
  const Segment::Fields fields_;
  SegmentReaders& readers_;
  ReadCounters& counters_;
  Record record_;
};

// Rows of the plan that pass the filter, by the request's order, from its offset on and up to its
// limit, behind its cursor.
Result<std::vector<RowPlace>> RowsByKey(const Version& version, const GetRequest& request,
                                        const Plan& plan, SegmentReaders& readers,
                                        ReadCounters& counters);
// The same of rows that are listed.
Result<std::vector<RowPlace>> RowsByKey(const Version& version, const GetRequest& request,
                                        std::span<const RowPlace> rows, SegmentReaders& readers,
                                        ReadCounters& counters);

}  // namespace pigment
