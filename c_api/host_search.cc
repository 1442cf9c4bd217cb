// SPDX-License-Identifier: Apache-2.0
//
// The host's resumable search. One thread at a time for each object; freeing it touches memory
// only.

#include "c_api/host_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "c_api/error.h"
#include "c_api/host_block_source.h"
#include "c_api/host_record.h"
#include "c_api/host_segment.h"
#include "c_api/host_sparse.h"
#include "c_api/host_text.h"
#include "engine/query/filter.h"
#include "engine/query/filter_keys.h"
#include "engine/record/validate.h"
#include "engine/segment/host_keys.h"

namespace {

using pigment::HostCondition;
using pigment::HostHit;
using pigment::HostRankHit;
using pigment::Result;
using pigment::Status;

constexpr uint64_t kBatchBytes = uint64_t{4} << 20;
// Hits are copied through a small array, so that the host's struct and the engine's may differ.
constexpr size_t kHitsPerCopy = 256;

// What this library knew before conditions came.
constexpr size_t kOptionsSizeMin = offsetof(pigment_host_search_options, conditions);

bool IsOfRanges(const pigment_host_condition& condition) {
  return condition.kind == PIGMENT_CONDITION_HAS_RANGE ||
         condition.kind == PIGMENT_CONDITION_LACKS_RANGE;
}

Status CheckKeys(const pigment_host_condition& condition) {
  if (condition.column >= pigment::kHostColumnsMax) {
    return pigment::InvalidArgument(fmt::format("condition on column {}, expected 0 to {}",
                                                condition.column, pigment::kHostColumnsMax - 1));
  }
  if (condition.kind == PIGMENT_CONDITION_RANGE && condition.key_count != 2) {
    return pigment::InvalidArgument(
        fmt::format("a range with {} keys, expected 2", condition.key_count));
  }
  if (condition.kind == PIGMENT_CONDITION_WHERE && condition.key_count != 1) {
    return pigment::InvalidArgument(
        fmt::format("a filter with {} keys, expected 1", condition.key_count));
  }
  if (IsOfRanges(condition) && condition.key_count % 2 != 0) {
    return pigment::InvalidArgument(
        fmt::format("ranges with {} keys, expected pairs", condition.key_count));
  }
  if (condition.key_count == 0) return Status::Ok();
  return pigment::abi::CheckNotNull({{condition.keys, "condition.keys"}});
}

std::string TextOf(const pigment_host_bytes& key) {
  return key.size != 0 ? std::string(static_cast<const char*>(key.bytes), key.size) : std::string();
}

Status CheckKey(const pigment_host_bytes& key) {
  if (key.size == 0) return Status::Ok();
  return pigment::abi::CheckNotNull({{key.bytes, "condition.keys[].bytes"}});
}

// One clause on the elements.
Result<HostCondition> ReadRanges(const pigment_host_condition& condition) {
  pigment::HostClause clause{.negated = condition.kind == PIGMENT_CONDITION_LACKS_RANGE,
                             .end = 1,
                             .parent = pigment::HostClause::kNone};
  for (size_t i = 0; i < condition.key_count; i += 2) {
    const pigment_host_bytes& low = condition.keys[i];
    const pigment_host_bytes& high = condition.keys[i + 1];
    PIGMENT_RETURN_IF_ERROR(CheckKey(low));
    PIGMENT_RETURN_IF_ERROR(CheckKey(high));
    if (high.bytes == nullptr) {
      clause.keys.push_back(TextOf(low));
    } else {
      clause.ranges.push_back({{{TextOf(low), true}}, {{TextOf(high), false}}});
    }
  }
  std::sort(clause.keys.begin(), clause.keys.end());
  clause.keys.erase(std::unique(clause.keys.begin(), clause.keys.end()), clause.keys.end());
  HostCondition out{.kind = HostCondition::Kind::kClauses, .column = condition.column};
  out.clauses.push_back(std::move(clause));
  return out;
}

Result<HostCondition> ReadCondition(const pigment_host_condition& condition) {
  PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckEnum(condition.kind, PIGMENT_CONDITION_ANY_OF,
                                                  PIGMENT_CONDITION_LACKS_RANGE, "condition.kind"));
  PIGMENT_RETURN_IF_ERROR(CheckKeys(condition));
  if (IsOfRanges(condition)) return ReadRanges(condition);
  HostCondition out{.kind = static_cast<HostCondition::Kind>(condition.kind),
                    .column = condition.column};
  if (out.kind == HostCondition::Kind::kRange) {
    if (condition.keys[0].bytes != nullptr)
      out.range.low = {TextOf(condition.keys[0]), pigment::abi::IsTrue(condition.takes_low)};
    if (condition.keys[1].bytes != nullptr)
      out.range.high = {TextOf(condition.keys[1]), pigment::abi::IsTrue(condition.takes_high)};
    return out;
  }
  if (out.kind == HostCondition::Kind::kClauses) {
    PIGMENT_ASSIGN_OR_RETURN(
        const std::string_view where,
        pigment::abi::ReadText(static_cast<const char*>(condition.keys[0].bytes),
                               condition.keys[0].size, "condition.keys[0]"));
    PIGMENT_ASSIGN_OR_RETURN(const auto filter, pigment::abi::ParseHostFilter(where));
    out.clauses = pigment::ClausesOf(filter->program());
    return out;
  }
  for (size_t i = 0; i < condition.key_count; ++i) {
    PIGMENT_RETURN_IF_ERROR(CheckKey(condition.keys[i]));
    out.keys.push_back(TextOf(condition.keys[i]));
  }
  return out;
}

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

pigment_host_hit ToHostHit(const pigment::HostTextSearch&, const HostRankHit& hit) {
  if (hit.rank == HostRankHit::kNull) return {hit.row_pointer, kNoNumber, 2};
  const float score = pigment::ScoreOfSum(-hit.rank);
  return {hit.row_pointer, score != 0 ? -score : 0, 0};
}

pigment_host_hit ToHostHit(const pigment::HostSparseSearch& search, const HostRankHit& hit) {
  if (hit.rank == HostRankHit::kNull) return {hit.row_pointer, kNoNumber, 2};
  if (hit.rank == pigment::HostSparseSearch::kNan) return {hit.row_pointer, kNoNumber, 1};
  return {hit.row_pointer, search.BoundOf(hit.rank), 0};
}

pigment_host_hit ToHostHit(const pigment::HostSearch&, const HostHit& hit) {
  int32_t kind = 0;
  if (hit.key == HostHit::kNan) kind = 1;
  if (hit.key == HostHit::kNoVectorKey) kind = 2;
  return {hit.row_pointer, hit.distance(), kind};
}

template <typename Hit, typename Search>
Result<size_t> CopyNext(Search& search, std::span<pigment_host_hit> hits) {
  Hit some[kHitsPerCopy];
  PIGMENT_ASSIGN_OR_RETURN(const size_t found, search.Next({some, hits.size()}));
  for (size_t i = 0; i < found; ++i) hits[i] = ToHostHit(search, some[i]);
  return found;
}

Result<size_t> NextHits(pigment_host_search& search, std::span<pigment_host_hit> hits) {
  if (search.text) return CopyNext<HostRankHit>(*search.text, hits);
  if (search.sparse) return CopyNext<HostRankHit>(*search.sparse, hits);
  return CopyNext<HostHit>(*search.search, hits);
}

// For calls that a search by a column's elements does not have.
Status CheckByDistance(const pigment_host_search& search) {
  if (search.search) return Status::Ok();
  return pigment::InvalidArgument(search.text ? "argument search ranks by words"
                                              : "argument search ranks sparse vectors");
}

// At most one of what a search may rank by.
Status CheckOneQuery(const pigment_host_search_options& options) {
  const std::pair<const void*, const char*> queries[] = {
      {options.text, "text"}, {options.sparse, "sparse"}, {options.query, "query"}};
  const char* first = nullptr;
  for (const auto& [query, name] : queries) {
    if (query == nullptr) continue;
    if (first != nullptr) {
      return pigment::InvalidArgument(
          fmt::format("options.{} and options.{}, expected one of them", first, name));
    }
    first = name;
  }
  return Status::Ok();
}

Status CheckColumn(uint32_t column, const char* name) {
  if (column < pigment::kHostColumnsMax) return Status::Ok();
  return pigment::InvalidArgument(
      fmt::format("options.{} {}, expected 0 to {}", name, column, pigment::kHostColumnsMax - 1));
}

// `walk` has the search call what it is given for each row.
template <typename Walk>
pigment_status VisitFingerprints(pigment_host_search* search,
                                 pigment_status (*visit)(void* context, uint64_t row_pointer,
                                                         uint64_t fingerprint),
                                 void* context, pigment_error** error, const Walk& walk) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(search, "search"));
    PIGMENT_RETURN_IF_ERROR(
        pigment::abi::CheckNotNull({{reinterpret_cast<const void*>(visit), "visit"}}));
    PIGMENT_RETURN_IF_ERROR(CheckByDistance(*search));
    return walk(*search->search, [&](uint64_t row_pointer, uint64_t fingerprint) -> Status {
      const pigment_status status = visit(context, row_pointer, fingerprint);
      if (status == PIGMENT_OK) return Status::Ok();
      return pigment::abi::CallbackStatus(status,
                                          fmt::format("the host gave code {} for a row", status));
    });
  });
}

// Of a ranking by words the others count, too: what they make of it is to be the same whatever
// was found to be dead.
Status AddLiveRows(pigment::HostSearch& search, const pigment_segment& segment,
                   std::span<const uint8_t> deleted) {
  std::vector<uint8_t> gone = segment.dead_rows;
  if (gone.empty()) return search.AddSegment(segment.segment.get(), deleted);
  deleted = deleted.first(std::min(deleted.size(), gone.size()));
  for (size_t i = 0; i < deleted.size(); ++i) gone[i] |= deleted[i];
  return search.AddSegment(segment.segment.get(), gone);
}

}  // namespace

struct pigment_pending_cache : pigment::abi::Handle<pigment::abi::HandleKind::kPendingCache> {
  explicit pigment_pending_cache(const pigment::PendingCacheOptions& options)
      : cache(std::make_shared<pigment::PendingCache>(options)) {}

  const std::shared_ptr<pigment::PendingCache> cache;  // searches that it was added to have it too
};

pigment_status pigment_host_search_new(const pigment_host_search_options* options,
                                       pigment_host_search** search, pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (search != nullptr) *search = nullptr;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{search, "search"}}));
        PIGMENT_ASSIGN_OR_RETURN(const pigment_host_search_options copy,
                                 pigment::abi::ReadStruct(options, "options", kOptionsSizeMin));
        pigment::HostSearchOptions out;
        if (copy.query != nullptr) {
          PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckEnum(
              copy.metric, PIGMENT_METRIC_L2, PIGMENT_METRIC_JACCARD, "options.metric"));
          PIGMENT_RETURN_IF_ERROR(pigment::CheckDimensionRange("a query", copy.dimension));
          out.query.emplace(copy.query, copy.query + copy.dimension);
        }
        out.metric = static_cast<pigment::Metric>(copy.metric);
        out.dimension = copy.dimension;
        out.batch_rows_first = copy.batch_rows_first;
        out.rows_wanted = copy.rows_wanted;
        out.rows_spare = copy.rows_spare;
        out.batch_bytes_max = copy.batch_bytes_max != 0 ? copy.batch_bytes_max : kBatchBytes;
        if (!(copy.recall >= 0 && copy.recall <= 1)) {
          return pigment::InvalidArgument(
              fmt::format("options.recall {}, expected 0 to 1", copy.recall));
        }
        out.recall = copy.recall != 0 ? copy.recall : 1;
        out.width = copy.width;
        if (pigment::abi::IsTrue(copy.has_max_distance)) {
          if (copy.query == nullptr)
            return pigment::InvalidArgument("options.max_distance without a query");
          if (std::isnan(copy.max_distance))
            return pigment::InvalidArgument("options.max_distance must not be NaN");
          out.max_distance = copy.max_distance;
        }
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckEnum(copy.nan, PIGMENT_NAN_LAST,
                                                        PIGMENT_NAN_LEFT_OUT, "options.nan"));
        out.nan = static_cast<pigment::HostSearchOptions::Nan>(copy.nan);
        out.no_zero_vectors = pigment::abi::IsTrue(copy.no_zero_vectors);
        if (copy.condition_count != 0) {
          PIGMENT_RETURN_IF_ERROR(
              pigment::abi::CheckNotNull({{copy.conditions, "options.conditions"}}));
          std::vector<HostCondition> conditions;
          for (size_t i = 0; i < copy.condition_count; ++i) {
            PIGMENT_ASSIGN_OR_RETURN(HostCondition condition, ReadCondition(copy.conditions[i]));
            conditions.push_back(std::move(condition));
          }
          out.filter.emplace(std::move(conditions));
        }
        PIGMENT_RETURN_IF_ERROR(CheckOneQuery(copy));
        if (copy.text == nullptr && copy.sparse == nullptr) {
          *search = new pigment_host_search(std::move(out));
          return Status::Ok();
        }
        pigment::HostRankOptions ranked{.batch_rows_first = out.batch_rows_first,
                                        .batch_bytes_max = out.batch_bytes_max,
                                        .filter = std::move(out.filter)};
        if (copy.text != nullptr) {
          PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(copy.text, "options.text"));
          PIGMENT_RETURN_IF_ERROR(CheckColumn(copy.text_column, "text_column"));
          ranked.column = copy.text_column;
          *search = new pigment_host_search(std::move(ranked), copy.text->query);
          return Status::Ok();
        }
        PIGMENT_ASSIGN_OR_RETURN(
            const pigment::HostSparseVector vector,
            pigment::abi::ReadSparseVector(copy.sparse, copy.metric, "options.sparse"));
        PIGMENT_RETURN_IF_ERROR(CheckColumn(copy.sparse_column, "sparse_column"));
        if (copy.nan == PIGMENT_NAN_LEFT_OUT)
          return pigment::InvalidArgument("options.nan leaves rows out, and options.sparse none");
        ranked.column = copy.sparse_column;
        *search = new pigment_host_search(
            std::move(ranked),
            pigment::HostSparseQuery(vector, static_cast<pigment::Metric>(copy.metric)),
            copy.nan == PIGMENT_NAN_FIRST);
        return Status::Ok();
      });
}

pigment_status pigment_host_search_add_segment(pigment_host_search* search,
                                               const pigment_segment* segment,
                                               const uint8_t* deleted, size_t deleted_bytes,
                                               pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(search, "search"));
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(segment, "segment"));
    if (deleted == nullptr) deleted_bytes = 0;
    search->segments.push_back(segment);
    const uint64_t pins = segment->source.pins();
    const std::span<const uint8_t> bits(deleted, deleted_bytes);
    pigment::HostRowNumbers* const numbers =
        search->text ? &segment->text_lengths : &segment->sparse_masses;
    Status status = search->ranked != nullptr
                        ? search->ranked->AddSegment(segment->segment.get(), bits, numbers)
                        : AddLiveRows(*search->search, *segment, bits);
    search->pages_read += segment->source.pins() - pins;
    if (!status.ok()) search->segments.pop_back();
    return status;
  });
}

pigment_status pigment_host_search_add_pending(pigment_host_search* search,
                                               const pigment_page_source* source, uint32_t stamp,
                                               uint32_t first, pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(search, "search"));
    PIGMENT_ASSIGN_OR_RETURN(const pigment_page_source copy, pigment::abi::ReadPageSource(source));
    search->pending_sources.push_back(std::make_unique<pigment::abi::HostBlockSource>(copy));
    pigment::BlockSource* const pages = search->pending_sources.back().get();
    search->search ? search->search->AddPending(pages, stamp, first)
                   : search->ranked->AddPending(pages, stamp, first);
    return Status::Ok();
  });
}

pigment_status pigment_host_search_add_pending_cache(pigment_host_search* search,
                                                     const pigment_page_source* source,
                                                     pigment_pending_cache* cache,
                                                     pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(search, "search"));
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(cache, "cache"));
    PIGMENT_ASSIGN_OR_RETURN(const pigment_page_source copy, pigment::abi::ReadPageSource(source));
    search->pending_sources.push_back(std::make_unique<pigment::abi::HostBlockSource>(copy));
    pigment::BlockSource* const pages = search->pending_sources.back().get();
    search->search ? search->search->AddPending(pages, cache->cache)
                   : search->ranked->AddPending(pages, cache->cache);
    return Status::Ok();
  });
}

pigment_status pigment_host_search_mark_dead(pigment_host_search* search, uint64_t row_pointer,
                                             pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(search, "search"));
    if (!search->search) return Status::Ok();
    const auto found = search->search->FindFound(row_pointer);
    if (!found) return Status::Ok();
    const pigment_segment& segment = *search->segments[found->segment];
    segment.dead_rows.resize((size_t{segment.segment->info().rows} + 7) / 8);
    segment.dead_rows[found->row / 8] |= static_cast<uint8_t>(1u << (found->row % 8));
    return Status::Ok();
  });
}

pigment_status pigment_host_search_next(pigment_host_search* search, pigment_host_hit* hits,
                                        size_t capacity, size_t* count, pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (count != nullptr) *count = 0;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(search, "search"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{hits, "hits"}, {count, "count"}}));
        if (capacity == 0) return pigment::InvalidArgument("capacity is 0, at least 1 is needed");
        const std::span<pigment_host_hit> room(hits,
                                               capacity < kHitsPerCopy ? capacity : kHitsPerCopy);
        const uint64_t pins = search->pins();
        const Result<size_t> found = NextHits(*search, room);
        search->pages_read += search->pins() - pins;
        PIGMENT_RETURN_IF_ERROR(found.status());
        *count = *found;
        return Status::Ok();
      });
}

void pigment_host_search_get_counters(const pigment_host_search* search,
                                      pigment_host_search_counters* counters) {
  if (counters == nullptr) return;
  pigment_host_search_counters out{};
  const auto fill = [&out](const auto& of) {
    out.passes = of.passes();
    out.rows_scored = of.rows_scored();
    out.segment_rows = of.segment_rows();
    out.pending_rows = of.pending_rows();
    out.unindexed_rows = of.unindexed_rows();
  };
  if (pigment::abi::IsHandle(search)) {
    out.pages_read = search->pages_read;
    if (search->ranked != nullptr) {
      fill(*search->ranked);
    } else {
      fill(*search->search);
      out.walks = search->search->walks();
      out.probes = search->search->probes();
      out.visits = search->search->visits();
      out.rows_late = search->search->rows_late();
      out.grafts = search->search->grafts();
    }
  }
  pigment::abi::WriteStruct(out, counters);
}

pigment_status pigment_host_search_sample_within(pigment_host_search* search, uint64_t sample,
                                                 uint64_t* rows, uint64_t* within,
                                                 pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (rows != nullptr) *rows = 0;
        if (within != nullptr) *within = 0;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(search, "search"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{rows, "rows"}, {within, "within"}}));
        PIGMENT_RETURN_IF_ERROR(CheckByDistance(*search));
        const uint64_t pins = search->pins();
        const auto found = search->search->SampleWithin(sample);
        search->pages_read += search->pins() - pins;
        PIGMENT_RETURN_IF_ERROR(found.status());
        *rows = found->rows;
        *within = found->within;
        return Status::Ok();
      });
}

pigment_status pigment_host_search_visit_keys(pigment_host_search* search,
                                              pigment_status (*visit)(void* context,
                                                                      uint64_t row_pointer,
                                                                      uint64_t fingerprint),
                                              void* context, pigment_error** error) {
  return VisitFingerprints(
      search, visit, context, error,
      [](pigment::HostSearch& of, const auto& visitor) { return of.VisitKeys(visitor); });
}

pigment_status pigment_host_search_visit_column(pigment_host_search* search, int32_t column,
                                                pigment_status (*visit)(void* context,
                                                                        uint64_t row_pointer,
                                                                        uint64_t fingerprint),
                                                void* context, pigment_error** error) {
  return VisitFingerprints(
      search, visit, context, error, [column](pigment::HostSearch& of, const auto& visitor) {
        return column < 0 ? of.VisitVectors(visitor)
                          : of.VisitKeys(static_cast<uint32_t>(column), visitor);
      });
}

uint64_t pigment_host_vector_fingerprint(const float* vector, size_t dimension) {
  if (vector == nullptr) return 0;
  return pigment::HostVectorFingerprint(std::as_bytes(std::span(vector, dimension)));
}

void pigment_host_search_free(pigment_host_search* search) {
  if (pigment::abi::IsHandle(search)) delete search;
}

pigment_status pigment_pending_cache_new(const pigment_pending_cache_options* options,
                                         pigment_pending_cache** cache, pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (cache != nullptr) *cache = nullptr;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{cache, "cache"}}));
        PIGMENT_ASSIGN_OR_RETURN(const pigment_pending_cache_options copy,
                                 pigment::abi::ReadStruct(options, "options"));
        if (copy.dimension != 0)
          PIGMENT_RETURN_IF_ERROR(pigment::CheckDimensionRange("pending vectors", copy.dimension));
        *cache = new pigment_pending_cache({.stamp = copy.stamp,
                                            .first = copy.first,
                                            .dimension = copy.dimension,
                                            .bytes_max = copy.bytes_max});
        return Status::Ok();
      });
}

void pigment_pending_cache_free(pigment_pending_cache* cache) {
  if (pigment::abi::IsHandle(cache)) delete cache;
}

void pigment_pending_cache_set_graft(pigment_pending_cache* cache, uint32_t first) {
  if (pigment::abi::IsHandle(cache)) cache->cache->SetGraft(first);
}

bool pigment_pending_cache_may_hang(const pigment_pending_cache* cache,
                                    const pigment_segment* segment) {
  return pigment::abi::IsHandle(cache) && pigment::abi::IsHandle(segment) &&
         cache->cache->MayHang(*segment->segment);
}

pigment_status pigment_pending_cache_hang(pigment_pending_cache* cache,
                                          const pigment_page_source* source, pigment_buffer** part,
                                          pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (part != nullptr) *part = nullptr;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(cache, "cache"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{part, "part"}}));
        PIGMENT_ASSIGN_OR_RETURN(const pigment_page_source copy,
                                 pigment::abi::ReadPageSource(source));
        pigment::abi::HostBlockSource pages(copy);
        std::vector<const pigment::Segment*> segments;
        pigment::SharedVectors shared;
        for (size_t i = 0; i < copy.segment_count; ++i) {
          segments.push_back(copy.segments[i]->segment.get());
          shared.Add(segments.back());
        }
        PIGMENT_RETURN_IF_ERROR(cache->cache->Extend(&pages, &shared));
        PIGMENT_RETURN_IF_ERROR(cache->cache->TakeGraft(&pages, segments));
        const pigment::Segment* largest = nullptr;
        for (const pigment::Segment* segment : segments) {
          if (cache->cache->MayHang(*segment) &&
              (largest == nullptr || segment->info().vectors > largest->info().vectors))
            largest = segment;
        }
        if (largest == nullptr) return Status::Ok();
        PIGMENT_ASSIGN_OR_RETURN(std::string bytes, cache->cache->Hang(*largest));
        *part = pigment::abi::NewBuffer(std::move(bytes));
        return Status::Ok();
      });
}
