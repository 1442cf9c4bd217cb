// SPDX-License-Identifier: Apache-2.0
//
// Running a compiled filter on one record. No recursion and no allocation.

#include "engine/query/filter_program.h"

#include <algorithm>

#include "engine/base/substring.h"
#include "engine/inverted/term.h"
#include "engine/record/clause_tree.h"

namespace pigment {
namespace {

template <typename T>
bool ScalarIsElement(const T& element, const MetadataValue& value) {
  const auto* values = std::get_if<std::vector<T>>(&value);
  return values != nullptr && std::find(values->begin(), values->end(), element) != values->end();
}

// Membership is by value and type: 1.0 is no element of a list of integers.
bool IsElement(const MetadataValue& element, const MetadataValue& value) {
  if (const auto* text = std::get_if<std::string>(&element)) return ScalarIsElement(*text, value);
  if (const auto* integer = std::get_if<int64_t>(&element)) return ScalarIsElement(*integer, value);
  if (const auto* real = std::get_if<double>(&element)) return ScalarIsElement(*real, value);
  if (const auto* boolean = std::get_if<bool>(&element)) return ScalarIsElement(*boolean, value);
  return false;
}

}  // namespace

bool FilterRange::Holds(Number number) const {
  if (low && !(number > low->number || (low->is_inside && number == low->number))) return false;
  return !high || number < high->number || (high->is_inside && number == high->number);
}

void FilterRange::Narrow(const FilterRange& other) {
  if (other.low && (!low || other.low->number > low->number ||
                    (other.low->number == low->number && !other.low->is_inside)))
    low = other.low;
  if (other.high && (!high || other.high->number < high->number ||
                     (other.high->number == high->number && !other.high->is_inside)))
    high = other.high;
}

bool FilterTextRange::Holds(std::string_view text) const {
  return text >= low && (!high || text < *high || (takes_high && text == *high));
}

// What begins with a prefix lies below the same text whose last byte is one more: UTF-8 has no byte
// that is the largest there is.
FilterTextRange FilterTextRange::OfPrefix(std::string_view prefix) {
  return {.low = std::string(prefix), .high = EndOfPrefix(prefix)};
}

bool FilterProgram::SetHolds(const FilterSet& set, std::string_view text) const {
  return std::binary_search(texts.begin() + set.texts.begin, texts.begin() + set.texts.end, text,
                            std::less<>());
}

bool FilterProgram::SetHolds(const FilterSet& set, Number number) const {
  if (number.is_integer()) {
    return std::binary_search(integers.begin() + set.integers.begin,
                              integers.begin() + set.integers.end, number.integer());
  }
  return std::binary_search(reals.begin() + set.reals.begin, reals.begin() + set.reals.end,
                            number.real());
}

bool FilterProgram::DocumentMatches(const FilterNode& node, std::string_view document) const {
  switch (node.op) {
    case FilterOp::kHasSubstring:
      return FindSubstring(document, texts[node.operand]) != std::string_view::npos;
    case FilterOp::kHasFolded:
      return folded[node.operand].IsIn(document);
    case FilterOp::kHasMatch:
      return regexes[node.operand]->MatchesIn(document);
    case FilterOp::kExists:
    case FilterOp::kAnd:
    case FilterOp::kOr:
    case FilterOp::kIn:
    case FilterOp::kInRange:
    case FilterOp::kInTextRange:
    case FilterOp::kEqualsFolded:
    case FilterOp::kStartsFolded:
    case FilterOp::kHasElement:
      break;
  }
  return true;
}

bool FilterProgram::TextMatches(const FilterNode& node, std::string_view text) const {
  switch (node.op) {
    case FilterOp::kIn:
      return SetHolds(sets[node.operand], text);
    case FilterOp::kInTextRange:
      return text_ranges[node.operand].Holds(text);
    case FilterOp::kEqualsFolded:
      return folded[node.operand].Equals(text);
    case FilterOp::kStartsFolded:
      return folded[node.operand].IsPrefixOf(text);
    case FilterOp::kExists:
      return true;
    case FilterOp::kInRange:  // a text is no number and no list
    case FilterOp::kHasElement:
    case FilterOp::kAnd:
    case FilterOp::kOr:
    case FilterOp::kHasSubstring:
    case FilterOp::kHasFolded:
    case FilterOp::kHasMatch:
      return false;
  }
  return false;
}

bool FilterProgram::MetadataMatches(const FilterNode& node, const Metadata& metadata) const {
  const auto found = metadata.find(std::string_view(texts[node.key]));
  if (node.op == FilterOp::kExists) {
    if (found != metadata.end()) return true;
    const std::string& below = texts[node.operand];
    const auto first = metadata.lower_bound(below);
    return first != metadata.end() && first->first.starts_with(below);
  }
  if (found == metadata.end()) return false;
  const MetadataValue& value = found->second;
  if (node.op == FilterOp::kHasElement) return IsElement(elements[node.operand], value);
  if (const auto* text = std::get_if<std::string>(&value)) return TextMatches(node, *text);

  const auto* integer = std::get_if<int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  if (integer != nullptr || real != nullptr) {
    const Number number = integer != nullptr ? Number(*integer) : Number(*real);
    if (node.op == FilterOp::kIn) return SetHolds(sets[node.operand], number);
    return node.op == FilterOp::kInRange && ranges[node.operand].Holds(number);
  }
  const auto* boolean = std::get_if<bool>(&value);
  if (node.op != FilterOp::kIn || boolean == nullptr) return false;  // a list equals nothing
  return *boolean ? sets[node.operand].has_true : sets[node.operand].has_false;
}

bool FilterProgram::LeafMatches(const FilterNode& node, const FilterSubject& subject) const {
  switch (node.target) {
    case FilterTarget::kMetadata:
      return subject.metadata != nullptr && MetadataMatches(node, *subject.metadata);
    case FilterTarget::kId:
      return TextMatches(node, subject.id);
    case FilterTarget::kUri:  // a key with a text
      return subject.uri && TextMatches(node, *subject.uri);
    case FilterTarget::kDocument:
      return subject.document && DocumentMatches(node, *subject.document);
  }
  return false;
}

bool FilterProgram::Matches(const FilterSubject& subject) const {
  return ClausesHold(
      nodes, [&](uint32_t i) { return LeafMatches(nodes[i], subject) != nodes[i].negated; });
}

}  // namespace pigment
