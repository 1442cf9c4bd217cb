// SPDX-License-Identifier: Apache-2.0
//
// The stages of a text search, in order.

#include "engine/query/text_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/query/search_plan.h"
#include "engine/query/search_shape.h"
#include "engine/query/text_highlight.h"
#include "engine/query/text_match.h"
#include "engine/query/text_query.h"
#include "engine/query/text_sources.h"
#include "engine/query/text_top.h"

namespace pigment {
namespace {

// Everything that the queries of one call share.
struct TextCall {
  const Version& version;
  const TextSearchRequest& request;
  const Plan& plan;
  TextSources& sources;
  SegmentReaders& readers;
  ReadCounters& counters;

  const CallControl& control() const { return request.read.control; }
};

// The lists of a query's clauses in each row group, and what each clause is worth.
struct QueryLists {
  std::vector<std::vector<std::optional<PostingCursor>>> cursors;  // by row group, then clause
  std::vector<Bm25Weight> weights;                                 // by clause
};

Result<QueryLists> OpenLists(const TextCall& call, std::span<const TextClause> clauses,
                             Reservation& memory) {
  QueryLists lists;
  std::vector<uint64_t> documents(clauses.size());
  for (const TextRows& rows : call.sources.rows()) {
    std::vector<std::optional<PostingCursor>>& cursors = lists.cursors.emplace_back();
    for (size_t i = 0; i < clauses.size(); ++i) {
      PIGMENT_RETURN_IF_ERROR(call.control().Check());
      PIGMENT_ASSIGN_OR_RETURN(cursors.emplace_back(),
                               MatchClause(rows, clauses[i],
                                           {.control = call.control(),
                                            .memory = memory,
                                            .lists_read = call.counters.posting_lists_read}));
      if (!cursors.back()) continue;
      PIGMENT_ASSIGN_OR_RETURN(const uint64_t live,
                               CountLive(rows, *cursors.back(), call.control()));
      documents[i] += live;
    }
  }
  const double k1 = call.version.text.k1;
  for (size_t i = 0; i < clauses.size(); ++i)
    lists.weights.emplace_back(k1, call.sources.statistics().documents, documents[i],
                               clauses[i].count);
  return lists;
}

// The terms of a row group that are searched for; empty where no row of it can match.
std::vector<TextTerm> TermsOf(std::span<const TextClause> clauses, QueryLists& lists,
                              size_t group) {
  std::vector<TextTerm> terms;
  for (size_t i = 0; i < clauses.size(); ++i) {
    std::optional<PostingCursor>& cursor = lists.cursors[group][i];
    if (cursor) {
      terms.push_back({&*cursor, &lists.weights[i], clauses[i].is_required});
    } else if (clauses[i].is_required) {
      return {};
    }
  }
  return terms;
}

Result<std::vector<TextHit>> SearchOneQuery(const TextCall& call,
                                            std::span<const TextClause> clauses) {
  if (clauses.empty() || call.request.k == 0) return std::vector<TextHit>();
  Reservation memory(call.version.text.shared->budget().get());
  PIGMENT_ASSIGN_OR_RETURN(QueryLists lists, OpenLists(call, clauses, memory));
  Bm25Shares shares(call.version.text.k1, call.version.text.b, call.sources.statistics());
  RowFilter filter(call.version, call.request.read, &call.plan, &call.counters, &call.readers);
  BestTexts best(call.request.k);
  TextScorer scorer(shares, filter, call.readers, call.version, call.control(), best,
                    call.counters);
  for (size_t group = 0; group < call.sources.rows().size(); ++group) {
    const std::vector<TextTerm> terms = TermsOf(clauses, lists, group);
    if (terms.empty()) continue;
    TextRows& rows = call.sources.rows()[group];
    SegmentSpan span(call.request.read.trace,
                     rows.first.source == RowPlace::kTail ? "search_tail" : "search_segment",
                     call.version, rows.first.source, call.counters);
    const Status status = scorer.Search(rows, terms);
    span.End(status);
    PIGMENT_RETURN_IF_ERROR(status);
  }
  return best.TakeSorted();
}

Status ShapeHits(const TextCall& call, std::span<const TextHit> hits,
                 std::span<const TextClause> clauses, RowFetcher& fetcher, WordReader& words,
                 Shaper& shaper) {
  std::string highlights;
  for (const TextHit& hit : hits) {
    PIGMENT_RETURN_IF_ERROR(call.control().Check());
    PIGMENT_ASSIGN_OR_RETURN(const FetchedRow row, fetcher.Fetch(hit.place));
    if (call.request.highlights) {
      highlights.clear();
      PIGMENT_RETURN_IF_ERROR(
          AppendHighlights(row.document.value_or(""), clauses, words, highlights));
      shaper.AppendHighlights(highlights);
    }
    shaper.AppendScore(hit.score);
    PIGMENT_RETURN_IF_ERROR(shaper.Append(row));
  }
  shaper.EndQuery();
  return Status::Ok();
}

Result<ResultSet> RunTextSearch(const Version& version, const TextSearchRequest& request,
                                ReadCounters& counters) {
  if (version.text.shared == nullptr) {
    return FailedPrecondition(Detail::kNone, "the collection has no text index")
        .WithHint("create it with \"text_index\" in its configuration");
  }
  StageClock clock(request.read.explain);
  PIGMENT_RETURN_IF_ERROR(request.read.control.Check());
  WordReader words(*version.text.shared->analyzer());
  std::vector<std::vector<TextClause>> queries;
  for (const std::string_view text : request.queries) {
    PIGMENT_ASSIGN_OR_RETURN(queries.emplace_back(), ParseTextQuery(text, request.all, words));
  }
  PIGMENT_RETURN_IF_ERROR(CheckFilter(version, request.read));
  PIGMENT_ASSIGN_OR_RETURN(Plan plan, PlanRows(version, request.read));
  SegmentReaders readers(version);
  PIGMENT_RETURN_IF_ERROR(NarrowPlan(version, request.read, plan, readers, counters));
  clock.EndStage("plan", plan.count());
  PIGMENT_ASSIGN_OR_RETURN(TextSources sources,
                           TextSources::Open(version, plan, request.read.control, readers));
  clock.EndStage("open", sources.statistics().documents);
  const TextCall call{version, request, plan, sources, readers, counters};
  std::vector<std::vector<TextHit>> hits;
  uint64_t rows = 0;
  for (const std::vector<TextClause>& clauses : queries) {
    PIGMENT_ASSIGN_OR_RETURN(hits.emplace_back(), SearchOneQuery(call, clauses));
    rows += hits.back().size();
  }
  clock.EndStage("search", rows);

  Include fetched = request.read.include;
  fetched.documents = fetched.documents || request.highlights;
  RowFetcher fetcher(version, fetched, &counters, &readers);
  Shaper shaper(version, request.read.include, rows);
  shaper.BeginScores(request.highlights);
  for (size_t i = 0; i < hits.size(); ++i)
    PIGMENT_RETURN_IF_ERROR(ShapeHits(call, hits[i], queries[i], fetcher, words, shaper));
  clock.EndStage("fetch", rows);
  ResultSet result = shaper.Finish();
  counters.text_queries = queries.size();
  result.explain_json = clock.ToJson(version, counters);
  return result;
}

}  // namespace

Result<ResultSet> SearchText(const Version& version, const TextSearchRequest& request) {
  const auto run = [&](ReadCounters& counters) {
    return RunTextSearch(version, request, counters);
  };
  return RunInSpan(request.read.trace, "search_text", version, run, &ResultSet::rows);
}

}  // namespace pigment
