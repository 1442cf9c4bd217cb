// SPDX-License-Identifier: Apache-2.0
//
// From JSON to a compiled filter. One parser serves one filter, one thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/query/filter_program.h"
#include "engine/record/json_tape.h"

namespace pigment {

class FilterParser {
 public:
  enum class Grammar { kWhere, kWhereDocument };

  FilterParser();

  // Appends the clauses of `json` to the program, joined by "and" with those before. JSON null
  // appends nothing.
  Status Add(std::string_view json, Grammar grammar);

  FilterProgram Finish() &&;

 private:
  struct Group;

  Status ParseClauses();
  Status CheckClause(size_t clause) const;
  Status OpenGroup(size_t member, std::vector<Group>* open);
  Status ParseField(size_t member);
  Status ParseFieldOperator(std::string_view key, size_t member, FilterNode node);
  Status ParseDocumentOperator(size_t member);

  Status AddIn(std::string_view key, std::string_view op, size_t first, size_t last,
               FilterNode node);
  void AddRange(std::string_view key, const FilterRange& range, FilterNode node);
  Status AddRegex(std::string_view pattern, uint32_t* operand);
  uint32_t AddSet(size_t first, size_t last);
  uint32_t AddText(std::string_view text);
  void Push(FilterNode node);

  Status CheckScalar(std::string_view key, std::string_view op, size_t value) const;
  Status CheckList(std::string_view key, std::string_view op, size_t list) const;
  Status Refused(std::string_view reason) const;
  Status Refused(std::string_view key, std::string_view reason) const;

  FilterProgram program_;
  JsonTape tape_;
  Grammar grammar_ = Grammar::kWhere;
  uint32_t parent_ = 0;                                   // group that the next clause belongs to
  std::map<std::string, uint32_t, std::less<>> regexes_;  // each pattern is compiled once
  std::map<std::pair<uint32_t, std::string>, uint32_t> ranges_;  // of groups of $and, by keys
};

}  // namespace pigment
