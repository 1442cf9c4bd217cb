// SPDX-License-Identifier: Apache-2.0
//
// A regular expression of a filter, and the texts that a document must have for it to match, which
// an index of documents knows something of. Immutable; any thread.

#pragma once

#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/base/status.h"
#include "engine/inverted/row_set.h"
#include "engine/record/case_fold.h"
#include "engine/segment/cell_reader.h"

namespace pigment {

// Pieces of ASCII, in small letters, that every text has that has the folded one, whatever the case
// of its letters.
std::vector<std::string> PlainPieces(const FoldedText& folded);

class Regex {
 public:
  // What is wrong with the pattern: kInvalidArgument, Detail::kFilter, in RE2's words; more than
  // kRegexMemoryBytesMax: kResourceExhausted, Detail::kLimit.
  static Result<std::unique_ptr<const Regex>> Compile(std::string_view pattern);

  // Whether it matches somewhere in the text.
  bool MatchesIn(std::string_view text) const;
  // A text that every document has in which it matches, letters of ASCII in any case, given in
  // small ones; empty where none is known.
  const std::string& required() const { return required_; }

  // Every row in whose document it matches, and as few others as its texts tell.
  Result<RowSet> RowsWith(CellReader& reader, const CallControl& control) const;

 private:
  Regex(std::string_view pattern, const re2::RE2::Options& options);

  bool MayMatch(const std::vector<int>& atoms) const;
  std::string LongestRequired() const;

  re2::FilteredRE2 filtered_;  // has the pattern alone, or nothing where that is no good
  // What a document must have of each atom of `filtered_`, whatever its case: pieces of ASCII.
  std::vector<std::vector<std::string>> atoms_;
  std::string required_;
};

}  // namespace pigment
