// SPDX-License-Identifier: Apache-2.0
//
// What the pipeline counts, and how `explain` tells it. Counting costs nothing worth a switch;
// clocks are read only when an explanation was asked for. One call, one thread.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/trace.h"
#include "engine/collection/version.h"
#include "engine/record/record.h"

namespace pigment {

// Rows and bytes read, apart for tail and segments.
struct ReadCounters {
  uint64_t tail_rows_filtered = 0;  // a filter was evaluated on them
  uint64_t tail_rows_scored = 0;    // distances computed
  uint64_t tail_rows_fetched = 0;   // in the answer
  uint64_t tail_bytes = 0;
  uint64_t segment_rows_filtered = 0;
  uint64_t segment_rows_scored = 0;
  uint64_t segment_rows_fetched = 0;
  uint64_t segment_bytes = 0;
  uint64_t posting_lists_read = 0;  // of filters, in segments
  uint64_t graph_walks = 0;         // queries that a segment's graph answered, by segments
  uint64_t graph_nodes_visited = 0;
  uint64_t cluster_probes = 0;  // those that its clusters did
  uint64_t clusters_probed = 0;
  uint64_t links_estimated = 0;  // of both
  // Queries that found a segment's rows by the walk of the graph that they hang on, by segments.
  uint64_t graft_searches = 0;
  uint64_t text_queries = 0;
  uint64_t text_blocks = 0;  // of the posting lists of text searches
  uint64_t text_blocks_read = 0;

  void Add(const ReadCounters& other);
};

// Ends the span of a read with what it counted, as `explain` does; `rows` are those of the answer.
void EndQuerySpan(Span& span, const Status& status, const Version& version,
                  const ReadCounters& counters, uint64_t rows);

// What `run` gives for the counters that it is handed, in a span of this name; `rows_of` says of
// what it gave how many rows it has.
template <typename Run, typename RowsOf>
auto RunInSpan(const ReadTrace& trace, const char* name, const Version& version, const Run& run,
               const RowsOf& rows_of) {
  Span span(trace, SpanKind::kQuery, name);
  ReadCounters counters;
  auto result = run(counters);
  EndQuerySpan(span, result.status(), version, counters,
               result.ok() ? std::invoke(rows_of, *result) : 0);
  return result;
}

// The span of what is done in segment `source` of a version, or (RowPlace::kTail) in the tail: ends
// with what the counters have grown by.
class SegmentSpan {
 public:
  SegmentSpan(const ReadTrace& trace, const char* name, const Version& version, uint32_t source,
              const ReadCounters& counters);
  void End(const Status& status);

 private:
  Span span_;
  const ReadCounters& counters_;
  std::optional<ReadCounters> before_;  // only where the span is on
};

// Bytes of the texts and the vector that were read of a record, be it in the tail, where they are
// looked at in place, or in a segment. Metadata is not counted.
uint64_t BytesRead(const Record& record, const Segment::Fields& fields, bool with_id);

// The stages of one call with the rows that left them and the time they took.
class StageClock {
 public:
  explicit StageClock(bool is_wanted) : is_wanted_(is_wanted) { mark_ = Now(); }

  // Ends a stage that began where the last one ended.
  void EndStage(std::string_view name, uint64_t rows);
  // {"strategy","stages":[{"name","rows","nanoseconds"}…],"tail":{…},"segments":{…},"graph":{…},
  // "clusters":{…},"grafts":{"searches"},"links_estimated":n,"posting_lists_read":n,"position":n};
  // empty when not wanted.
  // Of a text search "text":{"queries","blocks","blocks_read"} too, and the strategy is "text".
  // Otherwise the strategy is "graph" where a walk answered any query in any segment, else
  // "clusters" where a probe did, else "exact".
  std::string ToJson(const Version& version, const ReadCounters& counters) const;

 private:
  struct Stage {
    std::string_view name;
    uint64_t rows;
    int64_t nanoseconds;
  };
  int64_t Now() const;

  const bool is_wanted_;
  int64_t mark_ = 0;
  std::vector<Stage> stages_;
};

}  // namespace pigment
