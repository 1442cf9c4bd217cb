// SPDX-License-Identifier: Apache-2.0
//
// What a filter asks of the indexes of a collection, and whether its schema has them. Pure
// functions; any thread.

#pragma once

#include <string_view>

#include "engine/query/filter_program.h"
#include "engine/record/index_rules.h"

namespace pigment {

// Types of values that must be indexed for a clause on metadata or the uri. Numbers are one world:
// a condition on them needs integers and floats alike. None for other clauses.
ValueTypes TypesAsked(const FilterProgram& program, const FilterNode& node);

// kInvalidArgument, Detail::kFilter, naming the clause, where a key is a path: of collections
// without nested metadata.
Status CheckFlat(const FilterProgram& program);

// The key that a schema knows the values of such a clause by.
std::string_view KeyAsked(const FilterProgram& program, const FilterNode& node);

// kInvalidArgument, Detail::kFilter, naming the clause, key and type, where the schema has an index
// disabled that the filter needs: be the records in segments or not.
Status CheckIndexed(const FilterProgram& program, const IndexRules& rules);

}  // namespace pigment
