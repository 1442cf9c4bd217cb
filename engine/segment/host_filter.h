// SPDX-License-Identifier: Apache-2.0
//
// A host's filter: conditions on the keys of rows (host_keys.h) that must all hold. Over a segment
// it becomes a set of rows by the inverted index; rows that are in none are looked at by their
// keys. Immutable; any thread.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/inverted/row_set.h"
#include "engine/segment/inverted_reader.h"
#include "engine/segment/segment.h"

namespace pigment {

// A clause on the elements of a list: a group of clauses, or which elements there are. They lie in
// one array, parents before children (engine/record/clause_tree.h).
struct HostClause {
  enum class Op : uint8_t { kAnd, kOr, kHasAny };
  Op op = Op::kHasAny;
  bool negated = false;                // of kHasAny
  bool is_exact = true;                // of kHasAny; false: a list that has one need not be meant
  std::vector<std::string> keys = {};  // one of these, which ascend,
  std::vector<TermRange> ranges = {};  // or one in these
  uint32_t end = 0;
  uint32_t parent = 0;  // kNone at the root

  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  // Whether a list with or without such an element may be meant.
  bool MayHold(bool has) const { return negated ? !has || !is_exact : has; }
};

struct HostCondition {
  // Numbers of the public header.
  enum class Kind : int32_t {
    kAnyOf = 1,    // the value is one of `keys`
    kRange = 2,    // the value is in `range`
    kPresent = 3,  // not NULL
    kAbsent = 4,   // NULL
    kHasAny = 5,   // the list has one of `keys`
    kHasAll = 6,   // the list has all of `keys`, and is there
    kHasText = 7,  // by its grams, the text may have one of `keys` somewhere: never fewer rows
    kClauses = 8,  // what `clauses` say of the list may hold; without any: everything
  };
  Kind kind = Kind::kPresent;
  uint32_t column = 0;
  std::vector<std::string> keys = {};
  TermRange range = {};
  std::vector<HostClause> clauses = {};
};

class HostFilter {
 public:
  explicit HostFilter(std::vector<HostCondition> conditions);

  struct Rows {
    RowSet rows;  // all that match, and those of which nobody knows
    // How many nobody knows of: there was not the memory for their index, or for the sets of
    // clauses that are nested very deep.
    uint64_t unindexed = 0;
  };
  // REQUIRES: the segment was written with keys, or has no rows.
  Result<Rows> RowsOf(const Segment& segment) const;

  // Whether a row with these keys, as they are stored, matches.
  Result<bool> Matches(std::span<const std::byte> keys) const;

 private:
  Status AddRows(InvertedReader& reader, const HostCondition& condition, RowSet& rows) const;
  // Those that have all grams of a text.
  Status AddRowsWithText(InvertedReader& reader, uint32_t column, std::string_view text,
                         RowSet& rows) const;
  Status KeepRowsOfClauses(InvertedReader& reader, const HostCondition& condition,
                           Rows& found) const;

  std::vector<HostCondition> conditions_;  // keys ascend, each once, texts in small letters
};

// The rows of a segment that a search looks at.
struct SearchedRows {
  std::vector<uint64_t> mask;  // empty: every row; those beyond the last are not in it
  uint64_t count = 0;
  uint64_t unindexed = 0;  // of which the filter knows nothing
};
// `deleted`: bit i % 8 of byte i / 8 is set where row i is deleted; rows beyond are live. Without a
// filter all others are looked at.
Result<SearchedRows> SearchedRowsOf(const Segment& segment, std::span<const uint8_t> deleted,
                                    const std::optional<HostFilter>& filter);

}  // namespace pigment
