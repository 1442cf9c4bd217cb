// SPDX-License-Identifier: Apache-2.0
//
// Counters and clock of the pipeline: see the header.

#include "engine/query/search_explain.h"

#include <fmt/format.h>

#include "engine/base/call_control.h"

namespace pigment {

void ReadCounters::Add(const ReadCounters& other) {
  tail_rows_filtered += other.tail_rows_filtered;
  tail_rows_scored += other.tail_rows_scored;
  tail_rows_fetched += other.tail_rows_fetched;
  tail_bytes += other.tail_bytes;
  segment_rows_filtered += other.segment_rows_filtered;
  segment_rows_scored += other.segment_rows_scored;
  segment_rows_fetched += other.segment_rows_fetched;
  segment_bytes += other.segment_bytes;
  posting_lists_read += other.posting_lists_read;
  graph_walks += other.graph_walks;
  graph_nodes_visited += other.graph_nodes_visited;
  cluster_probes += other.cluster_probes;
  clusters_probed += other.clusters_probed;
  links_estimated += other.links_estimated;
  graft_searches += other.graft_searches;
  text_queries += other.text_queries;
  text_blocks += other.text_blocks;
  text_blocks_read += other.text_blocks_read;
}

void EndQuerySpan(Span& span, const Status& status, const Version& version,
                  const ReadCounters& counters, uint64_t rows) {
  if (!span.is_on()) return;
  span.Set("rows", rows);
  span.Set("segments", version.segments.size());
  span.Set("segment_rows_filtered", counters.segment_rows_filtered);
  span.Set("segment_rows_scored", counters.segment_rows_scored);
  span.Set("segment_bytes", counters.segment_bytes);
  span.Set("tail_rows_filtered", counters.tail_rows_filtered);
  span.Set("tail_rows_scored", counters.tail_rows_scored);
  span.Set("tail_bytes", counters.tail_bytes);
  span.Set("posting_lists_read", counters.posting_lists_read);
  span.Set("position", version.position);
  span.End(status);
}

SegmentSpan::SegmentSpan(const ReadTrace& trace, const char* name, const Version& version,
                         uint32_t source, const ReadCounters& counters)
    : span_(trace, SpanKind::kSegment, name), counters_(counters) {
  if (!span_.is_on()) return;
  before_ = counters;
  const bool is_tail = source >= version.segments.size();
  span_.Set("segment", is_tail ? 0 : version.segments[source].segment->info().segment);
  span_.Set("rows", is_tail ? version.tail.rows : version.segments[source].segment->info().rows);
}

void SegmentSpan::End(const Status& status) {
  if (!span_.is_on()) return;
  const auto both = [this](uint64_t ReadCounters::*tail, uint64_t ReadCounters::*segment) {
    return counters_.*tail + counters_.*segment - (*before_).*tail - (*before_).*segment;
  };
  span_.Set("rows_filtered",
            both(&ReadCounters::tail_rows_filtered, &ReadCounters::segment_rows_filtered));
  span_.Set("rows_scored",
            both(&ReadCounters::tail_rows_scored, &ReadCounters::segment_rows_scored));
  span_.Set("bytes", both(&ReadCounters::tail_bytes, &ReadCounters::segment_bytes));
  span_.Set("posting_lists_read", counters_.posting_lists_read - before_->posting_lists_read);
  span_.Set("graph_nodes_visited", counters_.graph_nodes_visited - before_->graph_nodes_visited);
  span_.Set("clusters_probed", counters_.clusters_probed - before_->clusters_probed);
  span_.End(status);
}

uint64_t BytesRead(const Record& record, const Segment::Fields& fields, bool with_id) {
  uint64_t bytes = with_id ? record.id.size() : 0;
  if (fields.document && record.document) bytes += record.document->size();
  if (fields.uri && record.uri) bytes += record.uri->size();
  if (fields.embedding) bytes += record.embedding.size() * sizeof(float);
  return bytes;
}

int64_t StageClock::Now() const { return is_wanted_ ? MonotonicNow() : 0; }

void StageClock::EndStage(std::string_view name, uint64_t rows) {
  if (!is_wanted_) return;
  const int64_t now = Now();
  stages_.push_back({name, rows, now - mark_});
  mark_ = now;
}

std::string StageClock::ToJson(const Version& version, const ReadCounters& counters) const {
  if (!is_wanted_) return {};
  const std::string_view strategy = counters.text_queries != 0     ? "text"
                                    : counters.graph_walks != 0    ? "graph"
                                    : counters.cluster_probes != 0 ? "clusters"
                                                                   : "exact";
  std::string json = fmt::format(R"({{"strategy":"{}","stages":[)", strategy);
  for (size_t index = 0; index < stages_.size(); ++index) {
    json += fmt::format(R"({}{{"name":"{}","rows":{},"nanoseconds":{}}})", index == 0 ? "" : ",",
                        stages_[index].name, stages_[index].rows, stages_[index].nanoseconds);
  }
  uint64_t segment_rows = 0;
  uint64_t segment_deleted_rows = 0;
  for (const SegmentView& view : version.segments) {
    segment_rows += view.segment->info().rows;
    segment_deleted_rows += view.deleted_rows;
  }
  const uint64_t segment_live_rows = segment_rows - segment_deleted_rows;
  const auto side = [](uint64_t live, uint64_t filtered, uint64_t scored, uint64_t fetched,
                       uint64_t bytes) {
    return fmt::format(
        R"("live_rows":{},"rows_filtered":{},"rows_scored":{},"rows_fetched":{},"bytes":{}}})",
        live, filtered, scored, fetched, bytes);
  };
  json += fmt::format(R"(],"tail":{{"rows":{},)", version.tail.rows) +
          side(version.live_rows - segment_live_rows, counters.tail_rows_filtered,
               counters.tail_rows_scored, counters.tail_rows_fetched, counters.tail_bytes);
  json +=
      fmt::format(R"(,"segments":{{"count":{},"rows":{},)", version.segments.size(), segment_rows) +
      side(segment_live_rows, counters.segment_rows_filtered, counters.segment_rows_scored,
           counters.segment_rows_fetched, counters.segment_bytes);
  json += fmt::format(R"(,"graph":{{"walks":{},"nodes_visited":{}}})", counters.graph_walks,
                      counters.graph_nodes_visited);
  json += fmt::format(
      R"(,"clusters":{{"probes":{},"clusters_probed":{}}},"grafts":{{"searches":{}}},"links_estimated":{})",
      counters.cluster_probes, counters.clusters_probed, counters.graft_searches,
      counters.links_estimated);
  if (counters.text_queries != 0) {
    json += fmt::format(R"(,"text":{{"queries":{},"blocks":{},"blocks_read":{}}})",
                        counters.text_queries, counters.text_blocks, counters.text_blocks_read);
  }
  return json + fmt::format(R"(,"posting_lists_read":{},"position":{}}})",
                            counters.posting_lists_read, version.position);
}

}  // namespace pigment
