// SPDX-License-Identifier: Apache-2.0
//
// A collection's schema: Chroma's {"defaults": {…}, "keys": {…}}, checked by the rules of Chroma's
// builder. It says which values are indexed (IndexRules), and what the vector index and the index
// of ranked text are (a configuration). Pure functions; any thread.
//
//   {"defaults": {"string": {"fts_index": INDEX, "string_inverted_index": INDEX},
//                 "float_list": {"vector_index": INDEX}, "sparse_vector": {"sparse_vector_index":
//                 INDEX}, "int": {"int_inverted_index": INDEX}, "float": {"float_inverted_index":
//                 INDEX}, "bool": {"bool_inverted_index": INDEX}},
//    "keys": {"#document": {"string": …}, "#embedding": {"float_list": …}, "a key": {…}}}
//   INDEX: {"enabled": true | false, "config": {}}
// and beyond Chroma, beside the two, "nested_metadata": true | false.
//
// The config of the vector index, which both "defaults" and "#embedding" may have, has "space",
// "hnsw" or "spann", "source_key" ("#document"), "full_vectors" (beyond Chroma). That of the
// full-text index of "#document" may have "text_index" (beyond Chroma), as a configuration has it.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/status.h"
#include "engine/record/configuration.h"
#include "engine/record/index_rules.h"

namespace pigment {

struct Schema {
  IndexRules rules;
  Configuration configuration;
};

// kInvalidArgument, naming the place in the schema and the value; kUnimplemented for what Chroma
// has and this has not. The space that the schema does not give is found as ParseConfiguration
// finds it.
Result<Schema> ParseSchema(std::string_view json, const Metadata* metadata,
                           std::optional<std::string_view> preferred_space);

// A stored schema with all defaults and the indexes that the configuration describes. It is taken
// by ParseSchema, and gives the same again.
Result<std::string> PrintSchema(const IndexRules& rules, std::string_view configuration_json);

}  // namespace pigment
