// SPDX-License-Identifier: Apache-2.0
//
// The read pipeline: plan, filter, search, fetch and shape, in this order for a query; a get walks
// in insertion order and filters as it goes.

#include "engine/query/search.h"

#include <fmt/format.h>

#include <utility>

#include "engine/query/search_listed.h"
#include "engine/query/search_plan.h"
#include "engine/query/search_scan.h"
#include "engine/query/search_shape.h"
#include "engine/query/search_sort.h"

namespace pigment {

namespace {

Status CheckDimension(const Version& version, const QueryRequest& request) {
  if (request.embeddings.size() != request.queries * request.dimension) {
    return InvalidArgument(
        Detail::kDimension,
        fmt::format("{} queries of dimension {} with {} numbers", request.queries,
                    request.dimension, request.embeddings.size()));
  }
  if (version.dimension != 0 && request.queries > 0 && request.dimension != version.dimension) {
    return InvalidArgument(Detail::kDimension,
                           fmt::format("dimension mismatch: the collection has {}, got {}",
                                       version.dimension, request.dimension));
  }
  return Status::Ok();
}

// The rows that a get answers with.
Result<std::vector<RowPlace>> Select(const Version& version, const GetRequest& request,
                                     SegmentReaders& readers, StageClock& clock,
                                     ReadCounters& counters) {
  PIGMENT_RETURN_IF_ERROR(CheckFilter(version, request.read));
  if (!version.nested_metadata) PIGMENT_RETURN_IF_ERROR(request.order_by.CheckFlat());
  PIGMENT_RETURN_IF_ERROR(request.read.control.Check());
  if (request.read.ids) {
    PIGMENT_ASSIGN_OR_RETURN(std::vector<RowPlace> listed,
                             RowsOfIds(version, request.read, readers));
    clock.EndStage("plan", listed.size());
    PIGMENT_ASSIGN_OR_RETURN(
        std::vector<RowPlace> places,
        request.order_by.empty()
            ? FilterInOrder(version, request, std::move(listed), readers, counters)
            : RowsByKey(version, request, listed, readers, counters));
    clock.EndStage("select", places.size());
    return places;
  }
  PIGMENT_ASSIGN_OR_RETURN(Plan plan, PlanRows(version, request.read));
  PIGMENT_RETURN_IF_ERROR(NarrowPlan(version, request.read, plan, readers, counters));
  clock.EndStage("plan", plan.count());
  // With a limit the filter is evaluated as far as the answer needs.
  if (!request.limit)
    PIGMENT_RETURN_IF_ERROR(FilterPlan(version, request.read, plan, readers, counters));
  PIGMENT_ASSIGN_OR_RETURN(std::vector<RowPlace> places,
                           request.order_by.empty()
                               ? RowsInOrder(version, request, plan, readers, counters)
                               : RowsByKey(version, request, plan, readers, counters));
  clock.EndStage("select", places.size());
  return places;
}

Result<ResultSet> RunGet(const Version& version, const GetRequest& request,
                         ReadCounters& counters) {
  StageClock clock(request.read.explain);
  SegmentReaders readers(version);
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<RowPlace> places,
                           Select(version, request, readers, clock, counters));
  Include include = request.read.include;
  include.distances = false;  // there is no query to be distant from
  RowFetcher fetcher(version, include, &counters, &readers);
  Shaper shaper(version, include, places.size());
  for (const RowPlace& place : places) {
    PIGMENT_RETURN_IF_ERROR(request.read.control.Check());
    PIGMENT_ASSIGN_OR_RETURN(const FetchedRow row, fetcher.Fetch(place));
    PIGMENT_RETURN_IF_ERROR(shaper.Append(row));
  }
  shaper.EndQuery();
  clock.EndStage("fetch", places.size());
  ResultSet result = shaper.Finish();
  if (!places.empty() && request.limit == places.size()) {
    RowPositions positions(version, request.order_by, readers, counters);
    PIGMENT_ASSIGN_OR_RETURN(result.last, positions.Of(places.back()));
  }
  result.explain_json = clock.ToJson(version, counters);
  return result;
}

Result<uint64_t> RunCount(const Version& version, const ReadOptions& read, ReadCounters& counters) {
  SegmentReaders readers(version);
  PIGMENT_RETURN_IF_ERROR(CheckFilter(version, read));
  PIGMENT_RETURN_IF_ERROR(read.control.Check());
  if (read.ids) {
    PIGMENT_ASSIGN_OR_RETURN(const auto listed, RowsOfIds(version, read, readers));
    RowFilter filter(version, read, nullptr, &counters, &readers);
    uint64_t count = 0;
    for (const RowPlace& place : listed) {
      PIGMENT_RETURN_IF_ERROR(read.control.Check());
      PIGMENT_ASSIGN_OR_RETURN(const bool matches, filter.Matches(place));
      count += matches;
    }
    return count;
  }
  if (!read.filter || read.filter->matches_everything()) return version.live_rows;
  PIGMENT_ASSIGN_OR_RETURN(Plan plan, PlanRows(version, read));
  PIGMENT_RETURN_IF_ERROR(NarrowPlan(version, read, plan, readers, counters));
  PIGMENT_RETURN_IF_ERROR(FilterPlan(version, read, plan, readers, counters));
  return plan.count();
}

Result<ResultSet> RunQuery(const Version& version, const QueryRequest& request,
                           ReadCounters& counters) {
  StageClock clock(request.read.explain);
  PIGMENT_RETURN_IF_ERROR(CheckDimension(version, request));
  PIGMENT_RETURN_IF_ERROR(CheckFilter(version, request.read));
  PIGMENT_RETURN_IF_ERROR(request.read.control.Check());
  PIGMENT_ASSIGN_OR_RETURN(Plan plan, PlanRows(version, request.read));
  clock.EndStage("plan", plan.count());
  SegmentReaders readers(version);
  PIGMENT_RETURN_IF_ERROR(NarrowPlan(version, request.read, plan, readers, counters));
  PIGMENT_RETURN_IF_ERROR(FilterPlan(version, request.read, plan, readers, counters));
  clock.EndStage("filter", plan.count());
  PIGMENT_ASSIGN_OR_RETURN(const auto hits, NearestRows(version, request, plan, readers, counters));
  uint64_t rows = 0;
  for (const std::vector<Hit>& found : hits) rows += found.size();
  clock.EndStage("search", rows);

  RowFetcher fetcher(version, request.read.include, &counters, &readers);
  Shaper shaper(version, request.read.include, rows);
  for (const std::vector<Hit>& found : hits) {
    for (const Hit& hit : found) {
      PIGMENT_RETURN_IF_ERROR(request.read.control.Check());
      PIGMENT_ASSIGN_OR_RETURN(const FetchedRow row, fetcher.Fetch(hit.place));
      PIGMENT_RETURN_IF_ERROR(shaper.Append(row));
      if (request.read.include.distances) shaper.AppendDistance(hit.distance);
    }
    shaper.EndQuery();
  }
  clock.EndStage("fetch", rows);
  ResultSet result = shaper.Finish();
  result.explain_json = clock.ToJson(version, counters);
  return result;
}

}  // namespace

Result<ResultSet> Get(const Version& version, const GetRequest& request) {
  const auto run = [&](ReadCounters& counters) { return RunGet(version, request, counters); };
  return RunInSpan(request.read.trace, "get", version, run, &ResultSet::rows);
}

Result<uint64_t> CountRows(const Version& version, const ReadOptions& read) {
  const auto run = [&](ReadCounters& counters) { return RunCount(version, read, counters); };
  return RunInSpan(read.trace, "count", version, run, [](uint64_t count) { return count; });
}

Result<std::vector<std::string>> SelectIds(const Version& version, const GetRequest& request) {
  StageClock clock(false);
  ReadCounters counters;
  SegmentReaders readers(version);
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<RowPlace> places,
                           Select(version, request, readers, clock, counters));
  RowFetcher fetcher(version, {}, &counters, &readers);
  std::vector<std::string> ids;
  ids.reserve(places.size());
  for (const RowPlace& place : places) {
    PIGMENT_RETURN_IF_ERROR(request.read.control.Check());
    PIGMENT_ASSIGN_OR_RETURN(const FetchedRow row, fetcher.Fetch(place));
    ids.emplace_back(row.id);
  }
  return ids;
}

Result<ResultSet> Query(const Version& version, const QueryRequest& request) {
  const auto run = [&](ReadCounters& counters) { return RunQuery(version, request, counters); };
  return RunInSpan(request.read.trace, "query", version, run, &ResultSet::rows);
}

}  // namespace pigment
