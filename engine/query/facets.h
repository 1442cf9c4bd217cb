// SPDX-License-Identifier: Apache-2.0
//
// Facets: how many of the records that match a filter have each value of some keys. Exact: from the
// posting lists of segments that have an inverted index, from records elsewhere. Pure functions
// over a pinned version; any thread.
//
// A value is a bool, a number (2 and 2.0 are one) or a text; a list counts once for each of its
// different elements. Keys are those of metadata, and "chroma:uri".

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/query/search.h"

namespace pigment {

struct FacetsRequest {
  ReadOptions read;  // ids, filter and control
  std::vector<std::string> keys;
  std::optional<uint64_t> limit = std::nullopt;  // values of each key
};

struct FacetValue {
  MetadataValue value;
  uint64_t count = 0;
};

// Of each key the most frequent values first, ties by the order of values (bools, numbers, texts).
// A key that cannot be, or is there twice: kInvalidArgument; too many keys: kResourceExhausted,
// Detail::kLimit.
Result<std::vector<std::vector<FacetValue>>> CountFacets(const Version& version,
                                                         const FacetsRequest& request);

// {key: [{"value":…,"count":n}, …], …}, in the order of the keys.
std::string FacetsJson(const std::vector<std::string>& keys,
                       const std::vector<std::vector<FacetValue>>& facets);

}  // namespace pigment
