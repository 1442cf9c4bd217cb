// SPDX-License-Identifier: Apache-2.0
//
// A host's filter: conditions on the keys of rows (host_keys.h) that must all hold. Over a segment
// it becomes a set of rows by the inverted index; rows that are in none are looked at by their
// keys. Immutable; any thread.

#pragma once

#include <cstdint>
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
  };
  Kind kind = Kind::kPresent;
  uint32_t column = 0;
  std::vector<std::string> keys = {};
  TermRange range = {};
};

class HostFilter {
 public:
  explicit HostFilter(std::vector<HostCondition> conditions);

  struct Rows {
    RowSet rows;             // all that match, and those of which nobody knows
    uint64_t unindexed = 0;  // how many nobody knows of: there was not the memory for their index
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

  std::vector<HostCondition> conditions_;  // keys ascend, each once, texts in small letters
};

}  // namespace pigment
