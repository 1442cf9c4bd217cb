// SPDX-License-Identifier: Apache-2.0
//
// The operators of filters: names and what they take. Constants; any thread.

#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "engine/query/filter_program.h"

namespace pigment {

// What stands behind an operator.
enum class FilterOperand {
  kScalar,
  kNumber,
  kList,     // of scalars of one type
  kElement,  // a scalar
  kPair,     // two numbers or two texts
  kText,
  kBool,     // false: the complement
  kPattern,  // of documents: a text that is not empty
};

struct FilterOperator {
  std::string_view name;
  FilterOp op;
  bool negated;
  FilterOperand operand;
};

// On metadata, ids and uris.
inline constexpr std::array kFieldOperators = {
    FilterOperator{"$eq", FilterOp::kIn, false, FilterOperand::kScalar},
    FilterOperator{"$ne", FilterOp::kIn, true, FilterOperand::kScalar},
    FilterOperator{"$gt", FilterOp::kInRange, false, FilterOperand::kNumber},
    FilterOperator{"$gte", FilterOp::kInRange, false, FilterOperand::kNumber},
    FilterOperator{"$lt", FilterOp::kInRange, false, FilterOperand::kNumber},
    FilterOperator{"$lte", FilterOp::kInRange, false, FilterOperand::kNumber},
    FilterOperator{"$in", FilterOp::kIn, false, FilterOperand::kList},
    FilterOperator{"$nin", FilterOp::kIn, true, FilterOperand::kList},
    FilterOperator{"$contains", FilterOp::kHasElement, false, FilterOperand::kElement},
    FilterOperator{"$not_contains", FilterOp::kHasElement, true, FilterOperand::kElement},
    FilterOperator{"$between", FilterOp::kInRange, false, FilterOperand::kPair},
    FilterOperator{"$prefix", FilterOp::kInTextRange, false, FilterOperand::kText},
    FilterOperator{"$ieq", FilterOp::kEqualsFolded, false, FilterOperand::kText},
    FilterOperator{"$iprefix", FilterOp::kStartsFolded, false, FilterOperand::kText},
    FilterOperator{"$exists", FilterOp::kExists, false, FilterOperand::kBool},
};

inline constexpr std::array kDocumentOperators = {
    FilterOperator{"$contains", FilterOp::kHasSubstring, false, FilterOperand::kPattern},
    FilterOperator{"$not_contains", FilterOp::kHasSubstring, true, FilterOperand::kPattern},
    FilterOperator{"$regex", FilterOp::kHasMatch, false, FilterOperand::kPattern},
    FilterOperator{"$not_regex", FilterOp::kHasMatch, true, FilterOperand::kPattern},
    FilterOperator{"$icontains", FilterOp::kHasFolded, false, FilterOperand::kPattern},
    FilterOperator{"$exists", FilterOp::kExists, false, FilterOperand::kBool},
};

// Null: the table has no such operator.
template <typename Table>
const FilterOperator* FindOperator(const Table& table, std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

template <typename Table>
std::string OperatorNames(const Table& table) {
  std::string names;
  for (const auto& row : table) names.append(names.empty() ? "" : ", ").append(row.name);
  return names;
}

}  // namespace pigment
