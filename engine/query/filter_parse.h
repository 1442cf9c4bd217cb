// SPDX-License-Identifier: Apache-2.0
//
// From JSON to a compiled filter. One parser serves one filter, one thread. "$not" leaves no trace:
// below it groups change their kind and clauses their sign.
// A refusal says where in the filter it stands (filter_place.h).

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/query/filter_operators.h"
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
  // A group whose children are being parsed.
  struct Group {
    size_t next;  // child to parse next, and the end of the children, both on the tape
    size_t end;
    uint32_t node;       // FilterNode::kNone for a group that its parent has swallowed
    bool negated;        // so are its children
    uint32_t place;      // its number in the program's places
    uint32_t taken = 0;  // children that are parsed or being parsed
  };

  // filter_parse.cc: clauses and groups.
  Status ParseClauses();
  Status CheckClause(size_t clause) const;
  Status OpenGroup(size_t member);
  void CloseGroups();
  void OpenNegation(size_t member);
  FilterPlace Here() const;
  bool IsNegated() const { return !open_.empty() && open_.back().negated; }
  void Push(FilterNode node);
  std::string AtPath(std::string_view reason) const;
  Status Refused(std::string_view reason) const;
  Status TooMuch(const Limit& limit, std::string_view reason) const;

  // filter_parse_field.cc: conditions on a field.
  Status ParseField(size_t member);
  Status ParsePath(size_t member);
  Status ParseFieldOperator(size_t member, FilterNode node);
  Status AddOperand(const FilterOperator& op, size_t operand, FilterNode node);
  Status AddIn(std::string_view op, size_t first, size_t last, FilterNode node);
  Status AddPair(std::string_view op, size_t pair, FilterNode node);
  Status AddText(const FilterOperator& op, size_t operand, FilterNode node);
  Status AddExists(std::string_view op, size_t operand, FilterNode node);
  void AddRange(const FilterRange& range, FilterNode node);
  uint32_t AddSet(size_t first, size_t last);
  uint32_t AddKey(std::string_view text);
  Status CheckScalar(std::string_view op, size_t value) const;
  Status CheckList(std::string_view op, size_t list) const;
  Status CheckFits(size_t value) const;

  // filter_parse_document.cc: conditions on the document.
  Status ParseDocumentOperator(size_t member);
  Status AddPattern(const FilterOperator& op, size_t operand, FilterNode node);
  Status AddRegex(std::string_view pattern, uint32_t* operand);

  FilterProgram program_;
  JsonTape tape_;
  Grammar grammar_ = Grammar::kWhere;
  std::vector<Group> open_;
  std::string_view field_;                                // that is being parsed; empty: none
  uint32_t parent_ = 0;                                   // group that the next clause belongs to
  std::map<std::string, uint32_t, std::less<>> regexes_;  // each pattern is compiled once
  std::map<std::pair<uint32_t, std::string>, uint32_t> ranges_;  // of groups of $and, by keys
};

}  // namespace pigment
