// SPDX-License-Identifier: Apache-2.0
//
// get, peek, count, count_where and query.

#include "c_api/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "c_api/result.h"
#include "engine/base/limits.h"
#include "engine/record/text.h"
#include "engine/record/validate.h"

namespace pigment::abi {

Result<std::shared_ptr<const Filter>> ReadFilter(const FilterTexts& texts) {
  PIGMENT_ASSIGN_OR_RETURN(const auto where,
                           ReadBytes(texts.where_json, texts.where_json_size, "where_json"));
  PIGMENT_ASSIGN_OR_RETURN(
      const auto where_document,
      ReadBytes(texts.where_document_json, texts.where_document_json_size, "where_document_json"));
  std::optional<std::string_view> where_given;
  std::optional<std::string_view> where_document_given;
  if (texts.where_json != nullptr) where_given = where;
  if (texts.where_document_json != nullptr) where_document_given = where_document;
  return Filter::Parse(where_given, where_document_given);
}

Result<Pinned> PinCollection(const pigment_collection& collection, uint64_t min_position) {
  PIGMENT_RETURN_IF_ERROR(collection.core->CheckUsable());
  Pinned pinned;
  // Read before the version: what was visible then is visible in it.
  pinned.position = collection.core->store().position();
  PIGMENT_ASSIGN_OR_RETURN(pinned.version, collection.collection->Pin());
  pinned.position = std::max(pinned.position, pinned.version->position);
  if (pinned.position < min_position) {
    return FailedPrecondition(Detail::kStale,
                              "the store is at log position " + std::to_string(pinned.position) +
                                  ", the read asks for " + std::to_string(min_position))
        .WithHint("refresh a read-only client, or wait for the write");
  }
  const Tracing& tracing = collection.core->tracing();
  if (tracing.wants(SpanKind::kQuery) || tracing.wants(SpanKind::kSegment))
    pinned.trace = ReadTrace::Of(tracing, collection.collection->entry().id);
  return pinned;
}

Status DimensionMismatch(const std::string& collection_name, uint64_t has, uint64_t got) {
  return InvalidArgument(Detail::kDimension, "dimension mismatch: collection \"" + collection_name +
                                                 "\" has " + std::to_string(has) + ", got " +
                                                 std::to_string(got));
}

Status CheckDimension(const pigment_collection& collection, const Version& version,
                      const pigment_vectors& vectors, std::string_view argument) {
  if (vectors.rows == 0) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(CheckVectorShape(vectors, argument));
  if (version.dimension == 0 || version.dimension == vectors.dimension) return Status::Ok();
  return DimensionMismatch(collection.collection->entry().name, version.dimension,
                           vectors.dimension);
}

Result<std::optional<std::vector<std::string>>> ReadIdList(const pigment_text_column& ids,
                                                           size_t count,
                                                           std::string_view operation) {
  PIGMENT_ASSIGN_OR_RETURN(const TextColumnView view,
                           ReadTextColumn(ids, count, "ids", TextKind::kUtf8, true));
  if (!view.given()) return std::optional<std::vector<std::string>>();
  PIGMENT_RETURN_IF_ERROR(CheckAllPresent(view, "ids"));
  std::vector<std::string> list = CopyTexts(view);
  PIGMENT_RETURN_IF_ERROR(CheckIds(list, operation));
  return std::optional<std::vector<std::string>>(std::move(list));
}

Result<std::optional<std::vector<std::string>>> ReadAllowList(const pigment_text_column& ids,
                                                              size_t count) {
  PIGMENT_ASSIGN_OR_RETURN(const TextColumnView view,
                           ReadTextColumn(ids, count, "ids", TextKind::kUtf8, true));
  if (!view.given()) return std::optional<std::vector<std::string>>();
  PIGMENT_RETURN_IF_ERROR(CheckAllPresent(view, "ids"));
  std::vector<std::string> list = CopyTexts(view);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return std::optional<std::vector<std::string>>(std::move(list));
}

namespace {

constexpr int32_t kIncludeAll = PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS |
                                PIGMENT_INCLUDE_EMBEDDINGS | PIGMENT_INCLUDE_URIS |
                                PIGMENT_INCLUDE_DISTANCES;

}  // namespace

Result<Include> ReadInclude(int32_t bits, bool is_query) {
  if (bits == PIGMENT_INCLUDE_DEFAULT) {
    bits = PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS |
           (is_query ? PIGMENT_INCLUDE_DISTANCES : 0);
  }
  if (bits == PIGMENT_INCLUDE_NOTHING) return Include{};
  if ((bits & ~(kIncludeAll | PIGMENT_INCLUDE_NOTHING)) != 0) {
    return InvalidArgument("argument include is " + std::to_string(bits) +
                           ", which has unknown bits");
  }
  if ((bits & PIGMENT_INCLUDE_NOTHING) != 0) {
    return InvalidArgument("argument include is " + std::to_string(bits) +
                           ": nothing cannot be joined with others");
  }
  if (!is_query && (bits & PIGMENT_INCLUDE_DISTANCES) != 0) {
    return InvalidArgument("argument include is " + std::to_string(bits) +
                           ": only a query has distances");
  }
  Include include;
  include.documents = (bits & PIGMENT_INCLUDE_DOCUMENTS) != 0;
  include.metadatas = (bits & PIGMENT_INCLUDE_METADATAS) != 0;
  include.embeddings = (bits & PIGMENT_INCLUDE_EMBEDDINGS) != 0;
  include.uris = (bits & PIGMENT_INCLUDE_URIS) != 0;
  include.distances = (bits & PIGMENT_INCLUDE_DISTANCES) != 0;
  return include;
}

namespace {
// Order and cursor of a get.
Status ReadOrder(const pigment_get_request& read, std::string_view collection_id,
                 GetRequest& request) {
  PIGMENT_ASSIGN_OR_RETURN(
      const auto order_by,
      ReadOptionalText(read.order_by_json, read.order_by_json_size, "order_by_json"));
  if (order_by) {
    PIGMENT_ASSIGN_OR_RETURN(request.order_by, OrderBy::Parse(*order_by));
  }
  PIGMENT_ASSIGN_OR_RETURN(const auto cursor,
                           ReadOptionalText(read.cursor, read.cursor_size, "cursor"));
  if (!cursor) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(request.after, ReadCursor(*cursor, collection_id, request.order_by));
  return Status::Ok();
}

Result<ResultSet> RunGet(const pigment_collection& collection, const pigment_get_request& read,
                         const CallContext& context) {
  GetRequest request;
  PIGMENT_ASSIGN_OR_RETURN(request.read.filter,
                           ReadFilter({read.where_json, read.where_json_size,
                                       read.where_document_json, read.where_document_json_size}));
  PIGMENT_ASSIGN_OR_RETURN(const Pinned pinned, PinCollection(collection, context.min_position));
  PIGMENT_ASSIGN_OR_RETURN(request.read.ids, ReadIdList(read.ids, read.ids_count, "get"));
  if (IsTrue(read.has_limit)) {
    if (read.limit < 0)
      return InvalidArgument("limit must not be negative, got " + std::to_string(read.limit));
    request.limit = static_cast<uint64_t>(read.limit);
  }
  if (read.offset < 0)
    return InvalidArgument("offset must not be negative, got " + std::to_string(read.offset));
  request.offset = static_cast<uint64_t>(read.offset);
  const std::string collection_id = collection.collection->entry().id.ToString();
  PIGMENT_RETURN_IF_ERROR(ReadOrder(read, collection_id, request));
  PIGMENT_ASSIGN_OR_RETURN(request.read.include, ReadInclude(read.include, false));
  request.read.explain = IsTrue(read.explain);
  request.read.control = context.control;
  request.read.trace = pinned.trace;
  PIGMENT_RETURN_IF_ERROR(context.control.Check());
  PIGMENT_ASSIGN_OR_RETURN(ResultSet set, Get(*pinned.version, request));
  if (set.last) set.cursor = CursorText(*set.last, collection_id, request.order_by);
  set.position = std::max(set.position, pinned.position);
  return set;
}

// The vectors of a query: those given, or those of the collection's function for the texts.
Result<Embedded> ReadQueryVectors(const pigment_collection& collection, const Version& version,
                                  const pigment_query_request& read, const CallContext& context) {
  if (read.embeddings.data != nullptr || read.embeddings.rows != 0) {
    if (read.embeddings.rows == 0)
      return InvalidArgument("expected embeddings to be a non-empty list, got 0 rows");
    PIGMENT_ASSIGN_OR_RETURN(std::vector<float> values, ReadVectors(read.embeddings, "embeddings"));
    PIGMENT_RETURN_IF_ERROR(context.control.Check());
    return Embedded{std::move(values), static_cast<uint32_t>(read.embeddings.dimension)};
  }
  PIGMENT_ASSIGN_OR_RETURN(
      const TextColumnView texts,
      ReadTextColumn(read.texts, read.texts_count, "texts", TextKind::kBytes, true));
  if (!texts.given())
    return InvalidArgument("at least one of embeddings or texts must be provided");
  if (texts.size() == 0)
    return InvalidArgument("expected texts to be a non-empty list, got 0 texts");
  PIGMENT_RETURN_IF_ERROR(CheckAllPresent(texts, "texts"));
  if (!collection.function) return NoEmbeddingFunction(collection);
  PIGMENT_RETURN_IF_ERROR(context.control.Check());
  PIGMENT_ASSIGN_OR_RETURN(Embedded embedded,
                           collection.function->Embed(PIGMENT_EMBED_QUERY, texts));
  PIGMENT_RETURN_IF_ERROR(CheckFunctionDimension(collection, version, embedded));
  return embedded;
}

// How much of the nearest is wanted, or what may be spent on it: what the call says, else what the
// collection is configured with, else the default.
Status ReadEffort(const pigment_query_request& read, const Version& version,
                  QueryRequest& request) {
  if (!(read.recall >= 0 && read.recall <= 1)) {
    return InvalidArgument(fmt::format(
        "recall must be over 0 and at most 1, or 0 for the default, got {}", read.recall));
  }
  if (read.search_width < 0)
    return InvalidArgument(
        fmt::format("search_width must not be negative, got {}", read.search_width));
  if (read.recall != 0 && read.search_width != 0)
    return InvalidArgument("recall and search_width cannot both be given");
  request.recall = read.recall != 0 ? read.recall : kDefaultRecall;
  request.width = read.recall == 0 && read.search_width == 0
                      ? version.search_width
                      : static_cast<uint64_t>(read.search_width);
  return Status::Ok();
}

// What is a hit beside its rank, and who looks for it.
Status ReadBounds(const pigment_query_request& read, QueryRequest& request) {
  if (IsTrue(read.has_max_distance)) {
    if (std::isnan(read.max_distance)) return InvalidArgument("max_distance must not be NaN");
    request.max_distance = read.max_distance;
  }
  if (read.threads < 0 || read.threads > kQueryThreadsMax) {
    const std::string reason =
        fmt::format("threads must be 0 to {}, got {}", kQueryThreadsMax, read.threads);
    return read.threads < 0 ? InvalidArgument(reason)
                            : BeyondLimit(limit::kQueryThreadsMax, reason);
  }
  request.threads = static_cast<uint32_t>(read.threads);
  return Status::Ok();
}

// The version that a count sees, and how many of its records are wanted.
Result<uint64_t> RunCount(const pigment_collection& collection, const pigment_count_request& read,
                          const CallContext& context) {
  ReadOptions options;
  PIGMENT_ASSIGN_OR_RETURN(
      options.filter, ReadFilter({read.where_json, read.where_json_size, read.where_document_json,
                                  read.where_document_json_size}));
  PIGMENT_ASSIGN_OR_RETURN(const Pinned pinned, PinCollection(collection, context.min_position));
  PIGMENT_ASSIGN_OR_RETURN(options.ids, ReadAllowList(read.ids, read.ids_count));
  options.control = context.control;
  options.trace = pinned.trace;
  return CountRows(*pinned.version, options);
}

Result<ResultSet> RunQuery(const pigment_collection& collection, const pigment_query_request& read,
                           const CallContext& context) {
  QueryRequest request;
  PIGMENT_ASSIGN_OR_RETURN(request.read.filter,
                           ReadFilter({read.where_json, read.where_json_size,
                                       read.where_document_json, read.where_document_json_size}));
  PIGMENT_ASSIGN_OR_RETURN(const Pinned pinned, PinCollection(collection, context.min_position));
  PIGMENT_RETURN_IF_ERROR(
      CheckDimension(collection, *pinned.version, read.embeddings, "embeddings"));
  PIGMENT_ASSIGN_OR_RETURN(request.read.ids, ReadAllowList(read.ids, read.ids_count));
  if (read.n_results <= 0) {
    return InvalidArgument("number of requested results must be positive, got " +
                           std::to_string(read.n_results));
  }
  request.k = static_cast<uint64_t>(read.n_results);
  PIGMENT_RETURN_IF_ERROR(ReadEffort(read, *pinned.version, request));
  PIGMENT_RETURN_IF_ERROR(ReadBounds(read, request));
  PIGMENT_ASSIGN_OR_RETURN(request.read.include, ReadInclude(read.include, true));
  PIGMENT_ASSIGN_OR_RETURN(const Embedded vectors,
                           ReadQueryVectors(collection, *pinned.version, read, context));
  request.metric = collection.metric;
  request.embeddings = vectors.values;
  request.dimension = vectors.dimension;
  request.queries = vectors.values.size() / vectors.dimension;
  request.read.explain = IsTrue(read.explain);
  request.read.control = context.control;
  request.read.trace = pinned.trace;
  PIGMENT_RETURN_IF_ERROR(context.control.Check());
  PIGMENT_ASSIGN_OR_RETURN(ResultSet set, Query(*pinned.version, request));
  set.position = std::max(set.position, pinned.position);
  return set;
}

}  // namespace

void ClearResult(pigment_result** result) {
  if (result != nullptr) *result = nullptr;
}

Status CheckReadArguments(const pigment_collection* collection, pigment_result** result) {
  PIGMENT_RETURN_IF_ERROR(CheckHandle(collection, "collection"));
  return CheckNotNull({{result, "result"}});
}

Status NoEmbeddingFunction(const pigment_collection& collection) {
  const CollectionEntry entry = collection.collection->entry();
  Status status = FailedPrecondition(
      Detail::kNoEmbeddingFunction,
      "collection \"" + entry.name + "\" has no embedding function, and texts were given");
  if (entry.embedding_function_name.empty()) return std::move(status).WithHint("give embeddings");
  return std::move(status).WithHint("give embeddings, or open the collection with its function " +
                                    Quoted(entry.embedding_function_name));
}

Status CheckFunctionDimension(const pigment_collection& collection, const Version& version,
                              const Embedded& embedded) {
  if (version.dimension == 0 || version.dimension == embedded.dimension) return Status::Ok();
  return InvalidArgument(Detail::kEmbeddingFunction,
                         "embedding function " + Quoted(collection.function->name()) +
                             " returned dimension " + std::to_string(embedded.dimension) +
                             ", collection \"" + collection.collection->entry().name + "\" has " +
                             std::to_string(version.dimension))
      .WithRow(0);
}

}  // namespace pigment::abi

using pigment::Status;
using pigment::abi::Call;
using pigment::abi::CheckReadArguments;
using pigment::abi::ClearResult;
using pigment::abi::NewResult;
using pigment::abi::ReadCallOptions;
using pigment::abi::ReadStruct;
using pigment::abi::ResultKind;

pigment_status pigment_collection_get(pigment_collection* collection,
                                      const pigment_get_request* request,
                                      const pigment_call_options* options, pigment_result** result,
                                      pigment_error** error) {
  return Call(
      error, [&] { ClearResult(result); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckReadArguments(collection, result));
        constexpr size_t kSizeOfAbi1 = offsetof(pigment_get_request, order_by_json);
        PIGMENT_ASSIGN_OR_RETURN(const pigment_get_request read,
                                 ReadStruct(request, "request", kSizeOfAbi1));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
        PIGMENT_ASSIGN_OR_RETURN(pigment::ResultSet set,
                                 pigment::abi::RunGet(*collection, read, context));
        *result = NewResult(std::move(set), ResultKind::kRecords);
        return Status::Ok();
      });
}

pigment_status pigment_collection_peek(pigment_collection* collection, int64_t limit,
                                       const pigment_call_options* options, pigment_result** result,
                                       pigment_error** error) {
  return Call(
      error, [&] { ClearResult(result); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckReadArguments(collection, result));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
        pigment_get_request request{};
        request.has_limit = true;
        request.limit = limit;
        request.include =
            PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS | PIGMENT_INCLUDE_EMBEDDINGS;
        PIGMENT_ASSIGN_OR_RETURN(pigment::ResultSet set,
                                 pigment::abi::RunGet(*collection, request, context));
        *result = NewResult(std::move(set), ResultKind::kRecords);
        return Status::Ok();
      });
}

pigment_status pigment_collection_count(pigment_collection* collection,
                                        const pigment_call_options* options, uint64_t* count,
                                        pigment_error** error) {
  return Call(
      error,
      [&] {
        if (count != nullptr) *count = 0;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(collection, "collection"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{count, "count"}}));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
        PIGMENT_ASSIGN_OR_RETURN(const auto pinned,
                                 pigment::abi::PinCollection(*collection, context.min_position));
        PIGMENT_RETURN_IF_ERROR(context.control.Check());
        *count = pinned.version->live_rows;
        return Status::Ok();
      });
}

pigment_status pigment_collection_count_where(pigment_collection* collection,
                                              const pigment_count_request* request,
                                              const pigment_call_options* options, uint64_t* count,
                                              pigment_error** error) {
  return Call(
      error,
      [&] {
        if (count != nullptr) *count = 0;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(collection, "collection"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{count, "count"}}));
        PIGMENT_ASSIGN_OR_RETURN(const pigment_count_request read, ReadStruct(request, "request"));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
        PIGMENT_ASSIGN_OR_RETURN(*count, pigment::abi::RunCount(*collection, read, context));
        return Status::Ok();
      });
}

void pigment_query_request_init(pigment_query_request* request) {
  if (request == nullptr) return;
  *request = pigment_query_request{};
  request->struct_size = sizeof *request;
  request->n_results = 10;
}

pigment_status pigment_collection_query(pigment_collection* collection,
                                        const pigment_query_request* request,
                                        const pigment_call_options* options,
                                        pigment_result** result, pigment_error** error) {
  return Call(
      error, [&] { ClearResult(result); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckReadArguments(collection, result));
        constexpr size_t kSizeOfAbi1 = offsetof(pigment_query_request, recall);
        PIGMENT_ASSIGN_OR_RETURN(const pigment_query_request read,
                                 ReadStruct(request, "request", kSizeOfAbi1));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
        PIGMENT_ASSIGN_OR_RETURN(pigment::ResultSet set,
                                 pigment::abi::RunQuery(*collection, read, context));
        *result = NewResult(std::move(set), ResultKind::kHits);
        return Status::Ok();
      });
}
