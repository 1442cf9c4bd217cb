// SPDX-License-Identifier: Apache-2.0
//
// Last stages of the read pipeline: fetch what `include` asks of each row, and shape it into
// columns. One call, one thread; the version is borrowed.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/query/search.h"
#include "engine/query/search_explain.h"
#include "engine/query/search_scan.h"

namespace pigment {

// Reads rows of a version with the fields that an answer needs.
class RowFetcher {
 public:
  RowFetcher(const Version& version, const Include& include, ReadCounters* counters);

  // Borrowed until the next call.
  Result<const Record*> Fetch(const RowPlace& place);

 private:
  const Version& version_;
  const Segment::Fields fields_;
  ReadCounters* counters_;
  std::vector<std::unique_ptr<RowReader>> readers_;  // by segment, made when needed
  Record record_;
};

// Appends rows to the columns of a result.
class Shaper {
 public:
  Shaper(const Version& version, const Include& include, uint64_t rows);

  Status Append(const Record& record);
  void AppendDistance(float distance) { result_.distances.push_back(distance); }
  void EndQuery() { result_.query_offsets.push_back(rows_); }
  ResultSet Finish() { return std::move(result_); }

 private:
  ResultSet result_;
  uint64_t rows_ = 0;
};

}  // namespace pigment
