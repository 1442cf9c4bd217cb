// SPDX-License-Identifier: Apache-2.0
//
// A text query: its grammar, and the clauses that it becomes. Every text is a query; what is no
// word is between words. Pure functions; any thread.
//
//   query  := clause { white space clause }
//   clause := [ "+" ] ( words | words "*" | '"' words '"' )
//
// A word matches the documents that have its term; with "*" behind it, those that have a term that
// begins with it folded; a phrase those that have its words side by side. "+" makes a clause
// required. What of a clause has no term (stop words, punctuation) is left out of it; in a phrase
// its place stays, and anything may stand there. A quotation mark without another is white space.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/limits.h"
#include "engine/base/status.h"
#include "engine/fulltext/analyzer.h"

namespace pigment {

struct TextClause {
  enum class Kind { kWord, kPrefix, kPhrase };
  Kind kind = Kind::kWord;
  std::vector<std::string>
      terms;                     // one, of a phrase two or more; of a prefix what terms begin with
  std::vector<uint32_t> places;  // of each term of a phrase: words after the first
  uint32_t count = 1;            // how often the query has it
  bool is_required = false;

  bool IsLike(const TextClause& other) const {
    return kind == other.kind && terms == other.terms && places == other.places;
  }
};

// Clauses that are alike are one. `all`: all are required. Beyond kTextQueryTermsMax terms:
// kResourceExhausted, Detail::kLimit.
Result<std::vector<TextClause>> ParseTextQuery(std::string_view text, bool all, WordReader& words);

}  // namespace pigment
