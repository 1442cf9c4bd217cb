// SPDX-License-Identifier: Apache-2.0
//
// Clause by clause; groups and numbers are the filter's.

#include "engine/query/filter_keys.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/bytes.h"
#include "engine/inverted/term.h"

namespace pigment {
namespace {

std::string KeyPrefix(std::string_view key) {
  std::string out;
  AppendBigEndian(static_cast<uint32_t>(key.size()), out);
  return out.append(key);
}

std::string TypePrefix(std::string_view key, FieldType type) {
  return KeyPrefix(key) + static_cast<char>(type);
}

constexpr bool IsTextType(FieldType type) {
  return type == FieldType::kText || type == FieldType::kTextElement;
}

bool IsCut(std::string_view text) { return text.size() >= kElementTextBytesMax; }

std::string Element(std::string_view key, FieldType type, std::string_view term) {
  if (IsTextType(type)) term = term.substr(0, kElementTextBytesMax);
  return TypePrefix(key, type).append(term);
}

std::string NumberElement(std::string_view key, Number number) {
  std::string term;
  AppendNumberTerm(number, term);
  return Element(key, FieldType::kNumber, term);
}

class ClauseMaker {
 public:
  ClauseMaker(const FilterProgram& program, const FilterNode& node)
      : program_(program), node_(node) {}

  HostClause Make() {
    clause_.negated = node_.negated;
    clause_.end = node_.end;
    clause_.parent = node_.parent;
    if (node_.op == FilterOp::kAnd || node_.op == FilterOp::kOr) {
      clause_.op = node_.op == FilterOp::kAnd ? HostClause::Op::kAnd : HostClause::Op::kOr;
    } else if (node_.target == FilterTarget::kMetadata) {
      AddElements(program_.texts[node_.key]);
    } else {
      SayNothing();
    }
    std::sort(clause_.keys.begin(), clause_.keys.end());
    return std::move(clause_);
  }

 private:
  // A clause that may hold whatever the elements are.
  void SayNothing() {
    clause_.negated = true;
    clause_.is_exact = false;
  }

  void AddElements(std::string_view key) {
    switch (node_.op) {
      case FilterOp::kIn:
        return AddSet(key, program_.sets[node_.operand]);
      case FilterOp::kInRange:
        return AddRange(key, program_.ranges[node_.operand]);
      case FilterOp::kInTextRange:
        return AddTextRange(key, program_.text_ranges[node_.operand]);
      case FilterOp::kEqualsFolded:
      case FilterOp::kStartsFolded:
        clause_.is_exact = false;
        clause_.ranges.push_back(TermRange::BeginningWith(TypePrefix(key, FieldType::kText)));
        return;
      case FilterOp::kExists:
        clause_.ranges.push_back(TermRange::BeginningWith(KeyPrefix(key)));
        return;
      case FilterOp::kHasElement: {
        std::string term;
        const FieldType type = AppendElementTerm(program_.elements[node_.operand], term);
        if (IsTextType(type) && IsCut(term)) clause_.is_exact = false;
        clause_.keys.push_back(Element(key, type, term));
        return;
      }
      case FilterOp::kAnd:
      case FilterOp::kOr:
      case FilterOp::kHasSubstring:
      case FilterOp::kHasFolded:
      case FilterOp::kHasMatch:
        break;
    }
    SayNothing();
  }

  void AddSet(std::string_view key, const FilterSet& set) {
    for (uint32_t i = set.texts.begin; i < set.texts.end; ++i) {
      if (IsCut(program_.texts[i])) clause_.is_exact = false;
      clause_.keys.push_back(Element(key, FieldType::kText, program_.texts[i]));
    }
    for (uint32_t i = set.integers.begin; i < set.integers.end; ++i)
      clause_.keys.push_back(NumberElement(key, program_.integers[i]));
    for (uint32_t i = set.reals.begin; i < set.reals.end; ++i)
      clause_.keys.push_back(NumberElement(key, program_.reals[i]));
    for (const bool value : {false, true}) {
      if (!(value ? set.has_true : set.has_false)) continue;
      std::string term;
      AppendBoolTerm(value, term);
      clause_.keys.push_back(Element(key, FieldType::kBool, term));
    }
  }

  void AddRange(std::string_view key, const FilterRange& range) {
    TermRange terms = TermRange::BeginningWith(TypePrefix(key, FieldType::kNumber));
    if (range.low) {
      terms.low = TermRange::Bound{NumberElement(key, range.low->number), range.low->is_inside};
    }
    if (range.high) {
      terms.high = TermRange::Bound{NumberElement(key, range.high->number), range.high->is_inside};
    }
    clause_.ranges.push_back(std::move(terms));
  }

  // Texts that were cut to a bound may lie on either side of it.
  void AddTextRange(std::string_view key, const FilterTextRange& range) {
    TermRange terms = TermRange::BeginningWith(TypePrefix(key, FieldType::kText));
    if (IsCut(range.low) || (range.high && IsCut(*range.high))) clause_.is_exact = false;
    terms.low = TermRange::Bound{Element(key, FieldType::kText, range.low), true};
    if (range.high) {
      terms.high = TermRange::Bound{Element(key, FieldType::kText, *range.high),
                                    range.takes_high || IsCut(*range.high)};
    }
    clause_.ranges.push_back(std::move(terms));
  }

  const FilterProgram& program_;
  const FilterNode& node_;
  HostClause clause_;
};

}  // namespace

Result<std::vector<std::string>> ElementsOf(const Metadata& metadata) {
  std::string stored;
  EncodeMetadata(metadata, stored);
  std::vector<std::string> elements;
  PIGMENT_RETURN_IF_ERROR(VisitTerms(
      AsBytes(stored), [&](std::string_view key, FieldType type, std::string_view term) -> Status {
        elements.push_back(Element(key, type, term));
        return Status::Ok();
      }));
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  return elements;
}

std::vector<HostClause> ClausesOf(const FilterProgram& program) {
  std::vector<HostClause> clauses;
  clauses.reserve(program.nodes.size());
  for (const FilterNode& node : program.nodes) clauses.push_back(ClauseMaker(program, node).Make());
  return clauses;
}

}  // namespace pigment
