// SPDX-License-Identifier: Apache-2.0
//
// Terms of a row group by their bytes. Pure over the source; one thread.

#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "engine/fulltext/text_source.h"
#include "engine/fulltext/text_terms.h"

namespace pigment {

// The posting list of a term; none: no row has it.
Result<std::optional<TextList>> FindTerm(TextSource& source, std::string_view term);

// Calls `visit(list)` for each term that begins with `prefix`, in order. An error that it returns
// ends the walk.
Status VisitPrefix(TextSource& source, std::string_view prefix,
                   const std::function<Status(const TextList& list)>& visit);

}  // namespace pigment
