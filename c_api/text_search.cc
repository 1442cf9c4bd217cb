// SPDX-License-Identifier: Apache-2.0
//
// Ranked search of documents.

#include "engine/query/text_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "c_api/error.h"
#include "c_api/read.h"
#include "c_api/result.h"

namespace pigment::abi {
namespace {

Status ReadOperator(int32_t number, bool* all) {
  if (number != PIGMENT_TEXT_ANY && number != PIGMENT_TEXT_ALL) {
    return InvalidArgument(fmt::format("argument operator_ is {}, expected {} (any) or {} (all)",
                                       number, PIGMENT_TEXT_ANY,
                                       static_cast<int>(PIGMENT_TEXT_ALL)));
  }
  *all = number == PIGMENT_TEXT_ALL;
  return Status::Ok();
}

Result<ResultSet> RunTextSearch(const pigment_collection& collection,
                                const pigment_text_search_request& read,
                                const CallContext& context) {
  TextSearchRequest request;
  PIGMENT_ASSIGN_OR_RETURN(request.read.filter,
                           ReadFilter({read.where_json, read.where_json_size,
                                       read.where_document_json, read.where_document_json_size}));
  PIGMENT_ASSIGN_OR_RETURN(const Pinned pinned, PinCollection(collection, context.min_position));
  PIGMENT_ASSIGN_OR_RETURN(
      const TextColumnView queries,
      ReadTextColumn(read.queries, read.queries_count, "queries", TextKind::kBytes, true));
  if (!queries.given() || queries.size() == 0)
    return InvalidArgument("expected queries to be a non-empty list, got 0 texts");
  PIGMENT_RETURN_IF_ERROR(CheckAllPresent(queries, "queries"));
  for (size_t i = 0; i < queries.size(); ++i) request.queries.push_back(queries[i]);
  PIGMENT_ASSIGN_OR_RETURN(request.read.ids, ReadAllowList(read.ids, read.ids_count));
  if (read.n_results <= 0) {
    return InvalidArgument(
        fmt::format("number of requested results must be positive, got {}", read.n_results));
  }
  request.k = static_cast<uint64_t>(read.n_results);
  PIGMENT_RETURN_IF_ERROR(ReadOperator(read.operator_, &request.all));
  PIGMENT_ASSIGN_OR_RETURN(request.read.include, ReadInclude(read.include, false));
  request.highlights = IsTrue(read.highlights);
  request.read.explain = IsTrue(read.explain);
  request.read.control = context.control;
  request.read.trace = pinned.trace;
  PIGMENT_ASSIGN_OR_RETURN(ResultSet set, SearchText(*pinned.version, request));
  set.position = std::max(set.position, pinned.position);
  return set;
}

}  // namespace
}  // namespace pigment::abi

using pigment::Status;
using pigment::abi::Call;
using pigment::abi::ReadCallOptions;
using pigment::abi::ReadStruct;

void pigment_text_search_request_init(pigment_text_search_request* request) {
  if (request == nullptr) return;
  *request = pigment_text_search_request{};
  request->struct_size = sizeof *request;
  request->n_results = 10;
}

pigment_status pigment_collection_search_text(pigment_collection* collection,
                                              const pigment_text_search_request* request,
                                              const pigment_call_options* options,
                                              pigment_result** result, pigment_error** error) {
  return Call(
      error, [&] { pigment::abi::ClearResult(result); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckReadArguments(collection, result));
        PIGMENT_ASSIGN_OR_RETURN(const auto read, ReadStruct(request, "request"));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
        PIGMENT_ASSIGN_OR_RETURN(pigment::ResultSet set,
                                 pigment::abi::RunTextSearch(*collection, read, context));
        *result = pigment::abi::NewResult(std::move(set), pigment::abi::ResultKind::kHits);
        return Status::Ok();
      });
}
