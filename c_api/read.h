// SPDX-License-Identifier: Apache-2.0
//
// The steps that get, query, count_where, facets and delete share: reading filters and id lists,
// pinning the version that the call sees. The order of validation is fixed (CONTRACT 9): pointers
// and struct sizes, where, where_document, collection (closed, forked, deleted, stale), dimension,
// then the rest. One thread per call.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "c_api/call_options.h"
#include "c_api/client.h"
#include "engine/query/search.h"

namespace pigment::abi {

struct FilterTexts {
  const char* where_json;
  size_t where_json_size;
  const char* where_document_json;
  size_t where_document_json_size;
};
// Steps where and where_document.
Result<std::shared_ptr<const Filter>> ReadFilter(const FilterTexts& texts);

struct Pinned {
  std::shared_ptr<const Version> version;
  uint64_t position = 0;  // everything up to here is visible in `version`
  ReadTrace trace;
};
// Step collection.
Result<Pinned> PinCollection(const pigment_collection& collection, uint64_t min_position);

// Step dimension, for vectors that a caller gave. Nothing was added yet: any dimension.
Status CheckDimension(const pigment_collection& collection, const Version& version,
                      const pigment_vectors& vectors, std::string_view argument);
Status DimensionMismatch(const std::string& collection_name, uint64_t has, uint64_t got);

// Part of the rest: ids of get and delete: absent, or unique, not empty, at least one.
Result<std::optional<std::vector<std::string>>> ReadIdList(const pigment_text_column& ids,
                                                           size_t count,
                                                           std::string_view operation);

// Ids of query, count_where, facets and search_text: an id twice is the same as once, none at all
// matches nothing.
Result<std::optional<std::vector<std::string>>> ReadAllowList(const pigment_text_column& ids,
                                                              size_t count);
Result<Include> ReadInclude(int32_t bits, bool is_query);

void ClearResult(pigment_result** result);
Status CheckReadArguments(const pigment_collection* collection, pigment_result** result);

// Texts were given to a collection that was opened without its function.
Status NoEmbeddingFunction(const pigment_collection& collection);
// What the function returned against what the collection has.
Status CheckFunctionDimension(const pigment_collection& collection, const Version& version,
                              const Embedded& embedded);

}  // namespace pigment::abi
