// SPDX-License-Identifier: Apache-2.0
//
// Facets.

#include "engine/query/facets.h"

#include <string>
#include <utility>

#include "c_api/columns.h"
#include "c_api/read.h"

namespace pigment::abi {
namespace {

Result<std::string> RunFacets(const pigment_collection& collection,
                              const pigment_facets_request& read, const CallContext& context) {
  FacetsRequest request;
  PIGMENT_ASSIGN_OR_RETURN(request.read.filter,
                           ReadFilter({read.where_json, read.where_json_size,
                                       read.where_document_json, read.where_document_json_size}));
  PIGMENT_ASSIGN_OR_RETURN(const Pinned pinned, PinCollection(collection, context.min_position));
  PIGMENT_ASSIGN_OR_RETURN(request.read.ids, ReadAllowList(read.ids, read.ids_count));
  PIGMENT_ASSIGN_OR_RETURN(
      const TextColumnView keys,
      ReadTextColumn(read.keys, read.keys_count, "keys", TextKind::kUtf8, true));
  if (!keys.given()) return NullArgument("request.keys");
  PIGMENT_RETURN_IF_ERROR(CheckAllPresent(keys, "keys"));
  request.keys = CopyTexts(keys);
  if (IsTrue(read.has_limit)) {
    if (read.limit < 0)
      return InvalidArgument("limit must not be negative, got " + std::to_string(read.limit));
    request.limit = static_cast<uint64_t>(read.limit);
  }
  request.read.control = context.control;
  request.read.trace = pinned.trace;
  PIGMENT_ASSIGN_OR_RETURN(const auto facets, CountFacets(*pinned.version, request));
  return FacetsJson(request.keys, facets);
}

}  // namespace
}  // namespace pigment::abi

using pigment::Status;

pigment_status pigment_collection_facets(pigment_collection* collection,
                                         const pigment_facets_request* request,
                                         const pigment_call_options* options, pigment_buffer** json,
                                         pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (json != nullptr) *json = nullptr;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(collection, "collection"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{json, "json"}}));
        PIGMENT_ASSIGN_OR_RETURN(const pigment_facets_request read,
                                 pigment::abi::ReadStruct(request, "request"));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, pigment::abi::ReadCallOptions(options));
        PIGMENT_ASSIGN_OR_RETURN(std::string text,
                                 pigment::abi::RunFacets(*collection, read, context));
        *json = pigment::abi::NewBuffer(std::move(text));
        return Status::Ok();
      });
}
