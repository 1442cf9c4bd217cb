// SPDX-License-Identifier: Apache-2.0
//
// Metadata as the elements of a list of a host's keys (engine/segment/host_keys.h), and filters as
// clauses on these: what a host's index can say of a filter without the record. Pure functions; any
// thread.
//
// An element is what a value, or one element of a list of values, is in the inverted index of a
// store, under its key:
//   4 bytes, big endian   length of the key
//                         the key
//   1 byte                FieldType (engine/inverted/term.h)
//                         the term; of a text the first kElementTextBytesMax bytes
// So the values of one key and type are neighbours, in the order of the values.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/query/filter_program.h"
#include "engine/record/metadata.h"
#include "engine/segment/host_filter.h"

namespace pigment {

inline constexpr size_t kElementTextBytesMax = 256;

// Ascending, each once.
Result<std::vector<std::string>> ElementsOf(const Metadata& metadata);

// The clauses may hold for all records that match, and for no others as far as elements tell: they
// know nothing of ids, uris and documents, of texts no more than how they begin, and of folded
// texts no more than that there is a text.
std::vector<HostClause> ClausesOf(const FilterProgram& program);

}  // namespace pigment
