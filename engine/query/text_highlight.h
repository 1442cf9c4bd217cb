// SPDX-License-Identifier: Apache-2.0
//
// What of a document matches a query, as bytes of the document. Pure functions; any thread.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/query/text_query.h"

namespace pigment {

// Appends the words of `document` that a clause matches, as a JSON array of [begin, end): they
// ascend and do not overlap. Of a phrase only where all of it stands.
Status AppendHighlights(std::string_view document, std::span<const TextClause> clauses,
                        WordReader& words, std::string& json);

}  // namespace pigment
