// SPDX-License-Identifier: Apache-2.0
//
// The order that a get is asked for: some keys, each ascending or descending, as a list of JSON.
// A record's values become one text of bytes whose order (memcmp, shorter first) is that of the
// records, so that a sort, a cursor and a server's ORDER BY compare alike. Immutable once parsed;
// any thread.
//
//   [{"key": "year", "descending": true}, {"key": "#id"}, {"key": "$/size/width"}]
//
// The order of the values of a key: bools (false first), numbers as the numbers that they are,
// texts by their bytes. A record without the key, or with a list there, comes last, also where the
// order descends.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/limits.h"
#include "engine/base/status.h"
#include "engine/query/filter.h"

namespace pigment {

class OrderBy {
 public:
  // By nothing: insertion order alone.
  OrderBy() = default;

  // JSON null and [] order by nothing. Keys are those of metadata, paths of nested metadata, "#id"
  // and "chroma:uri".
  // kInvalidArgument, naming the key and what is wrong; too many keys: kResourceExhausted,
  // Detail::kLimit.
  static Result<OrderBy> Parse(std::string_view json);

  bool empty() const { return terms_.empty(); }
  // kInvalidArgument where a key is a path: of collections without nested metadata.
  Status CheckFlat() const;
  // What of a record KeyOf looks at.
  const FilterNeeds& needs() const { return needs_; }

  std::string KeyOf(const FilterSubject& subject) const;

  // Equal of equal orders: what a cursor is held against.
  std::string Name() const;

 private:
  enum class Source : uint8_t { kMetadata, kId, kUri };
  struct Term {
    std::string key;  // as it is stored
    Source source = Source::kMetadata;
    bool descends = false;
    bool is_path = false;
  };

  Status AddTerm(Term term);

  std::vector<Term> terms_;
  FilterNeeds needs_;
};

}  // namespace pigment
