// SPDX-License-Identifier: Apache-2.0
//
// Conditions on a field of `where`: a key of metadata, the id, the uri.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/query/filter_parse.h"
#include "engine/record/metadata_path.h"
#include "engine/record/text.h"

namespace pigment {
namespace {

constexpr std::string_view kIdKey = "#id";
constexpr std::string_view kDocumentKey = "#document";

bool IsNumber(JsonKind kind) { return kind == JsonKind::kInteger || kind == JsonKind::kDouble; }
bool IsScalar(JsonKind kind) {
  return kind == JsonKind::kString || IsNumber(kind) || kind == JsonKind::kBool;
}

// A scalar of the tape. REQUIRES: IsScalar.
MetadataValue Scalar(const JsonTape& tape, size_t i) {
  switch (tape.kind(i)) {
    case JsonKind::kInteger:
      return tape.integer(i);
    case JsonKind::kDouble:
      return tape.real(i);
    case JsonKind::kBool:
      return tape.boolean(i);
    default:
      return std::string(tape.text(i));
  }
}

Number NumberAt(const JsonTape& tape, size_t i) {
  return tape.kind(i) == JsonKind::kInteger ? Number(tape.integer(i)) : Number(tape.real(i));
}

// Of $gt, $gte, $lt or $lte.
FilterRange RangeOf(std::string_view op, Number bound) {
  const FilterRange::Bound to{.number = bound, .is_inside = op.back() == 'e'};
  return op[1] == 'g' ? FilterRange{.low = to} : FilterRange{.high = to};
}

template <typename T>
FilterSet::Range SortedTail(std::vector<T>& pool, size_t begin) {
  std::sort(pool.begin() + static_cast<ptrdiff_t>(begin), pool.end());
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(pool.size())};
}

// Appends to a pool; returns the place.
template <typename T>
uint32_t Append(std::vector<T>& pool, T value) {
  pool.push_back(std::move(value));
  return static_cast<uint32_t>(pool.size() - 1);
}

}  // namespace

Status FilterParser::ParseField(size_t member) {
  const std::string_view key = tape_.key(member);
  if (key.empty()) return Refused("a key must not be empty, got \"\"");
  if (IsPointer(key)) return ParsePath(member);
  if (key[0] == '$') {
    return Refused(
               fmt::format("unknown operator {}, expected $and, $or, $not or a key", Quoted(key)))
        .WithHint("an operator belongs to a key: {\"key\": {\"$eq\": 1}}");
  }
  field_ = key;
  if (key == kDocumentKey) {
    if (tape_.kind(member) != JsonKind::kObject || tape_.ChildCount(member) != 1) {
      return Refused(fmt::format("expected an object with one operator of {}, got {}",
                                 OperatorNames(kDocumentOperators), tape_.Describe(member)));
    }
    return ParseDocumentOperator(member + 1);
  }
  if (key == "chroma:document") {
    return Refused("documents are filtered by \"#document\" or where_document");
  }
  FilterNode node{.op = FilterOp::kIn};
  if (key == kIdKey) {
    node.target = FilterTarget::kId;
    program_.needs.id = true;
  } else if (key == kUriKey) {
    node.target = FilterTarget::kUri;
    program_.needs.uri = true;
  } else if (key[0] == '#') {
    return Refused("no such field, expected a metadata key, #id or #document");
  } else {
    program_.needs.metadata = true;
    node.key = AddKey(key);
  }
  return ParseFieldOperator(member, node);
}

Status FilterParser::ParsePath(size_t member) {
  field_ = tape_.key(member);
  const std::optional<std::string> key = StoredKeyOf(field_);
  if (!key) {
    return Refused("expected a path of metadata: $ and a JSON Pointer, as \"$/a/b\"")
        .WithHint("in a key / is written ~1, and ~ is written ~0");
  }
  program_.needs.metadata = true;
  return ParseFieldOperator(member, {.op = FilterOp::kIn, .is_path = true, .key = AddKey(*key)});
}

Status FilterParser::ParseFieldOperator(size_t member, FilterNode node) {
  if (tape_.kind(member) != JsonKind::kObject) {
    PIGMENT_RETURN_IF_ERROR(CheckScalar("$eq", member));
    return AddIn("$eq", member, tape_.end(member), node);
  }
  if (tape_.ChildCount(member) != 1) {
    return Refused(fmt::format("expected one operator, got {}",
                               tape_.empty(member)
                                   ? "{}"
                                   : fmt::format("{} keys", tape_.ChildCount(member))))
        .WithHint(R"(join clauses with "$and": {"$and": [{...}, {...}]})");
  }
  const size_t operand = member + 1;
  const std::string_view name = tape_.key(operand);
  const FilterOperator* op = FindOperator(kFieldOperators, name);
  if (op == nullptr) {
    if (FindOperator(kDocumentOperators, name) != nullptr) {
      return Refused(fmt::format("operator {} is for documents only", Quoted(name)))
          .WithHint("use \"#document\" or where_document");
    }
    return Refused(fmt::format("unknown operator {}, expected one of {}", Quoted(name),
                               OperatorNames(kFieldOperators)));
  }
  node.op = op->op;
  node.negated = op->negated;
  const bool takes_text = op->operand == FilterOperand::kText ||
                          op->operand == FilterOperand::kPair || node.op == FilterOp::kIn;
  if (node.target == FilterTarget::kId && !takes_text) {
    return Refused(
        fmt::format("operator {} does not apply, expected $eq, $ne, $in, $nin, $between, $prefix, "
                    "$ieq or $iprefix",
                    Quoted(name)));
  }
  return AddOperand(*op, operand, node);
}

Status FilterParser::AddOperand(const FilterOperator& op, size_t operand, FilterNode node) {
  switch (op.operand) {
    case FilterOperand::kScalar:
      PIGMENT_RETURN_IF_ERROR(CheckScalar(op.name, operand));
      return AddIn(op.name, operand, tape_.end(operand), node);
    case FilterOperand::kList:
      PIGMENT_RETURN_IF_ERROR(CheckList(op.name, operand));
      return AddIn(op.name, operand + 1, tape_.end(operand), node);
    case FilterOperand::kNumber:
      PIGMENT_RETURN_IF_ERROR(CheckFits(operand));
      if (!IsNumber(tape_.kind(operand))) {
        return Refused(fmt::format("operator {} takes an integer or a float, got {}",
                                   Quoted(op.name), tape_.Describe(operand)));
      }
      AddRange(RangeOf(op.name, NumberAt(tape_, operand)), node);
      return Status::Ok();
    case FilterOperand::kElement:
      PIGMENT_RETURN_IF_ERROR(CheckScalar(op.name, operand));
      node.operand = Append(program_.elements, Scalar(tape_, operand));
      Push(node);
      return Status::Ok();
    case FilterOperand::kPair:
      return AddPair(op.name, operand, node);
    case FilterOperand::kText:
      return AddText(op, operand, node);
    case FilterOperand::kBool:
      return AddExists(op.name, operand, node);
    case FilterOperand::kPattern:
      break;
  }
  return Internal("an operator of documents stands among those of fields");
}

Status FilterParser::AddText(const FilterOperator& op, size_t operand, FilterNode node) {
  if (tape_.kind(operand) != JsonKind::kString) {
    return Refused(
        fmt::format("operator {} takes a text, got {}", Quoted(op.name), tape_.Describe(operand)));
  }
  const std::string_view text = tape_.text(operand);
  node.operand = op.op == FilterOp::kInTextRange
                     ? Append(program_.text_ranges, FilterTextRange::OfPrefix(text))
                     : Append(program_.folded, FoldedText(text));
  Push(node);
  return Status::Ok();
}

Status FilterParser::AddExists(std::string_view op, size_t operand, FilterNode node) {
  if (tape_.kind(operand) != JsonKind::kBool) {
    return Refused(fmt::format("operator {} takes true or false, got {}", Quoted(op),
                               tape_.Describe(operand)));
  }
  node.negated = !tape_.boolean(operand);
  if (node.target == FilterTarget::kMetadata)
    node.operand = AddKey(BeginBelow(program_.texts[node.key]));
  Push(node);
  return Status::Ok();
}

Status FilterParser::AddPair(std::string_view op, size_t pair, FilterNode node) {
  const auto refused = [&](std::string_view got) {
    return Refused(fmt::format("operator {} takes a list of two numbers or two texts, got {}",
                               Quoted(op), got));
  };
  if (tape_.kind(pair) != JsonKind::kArray || tape_.ChildCount(pair) != 2)
    return refused(tape_.Describe(pair));
  const size_t low = pair + 1, high = tape_.end(low);
  PIGMENT_RETURN_IF_ERROR(CheckFits(low));
  PIGMENT_RETURN_IF_ERROR(CheckFits(high));
  const bool is_text =
      tape_.kind(low) == JsonKind::kString && tape_.kind(high) == JsonKind::kString;
  if (!is_text && !(IsNumber(tape_.kind(low)) && IsNumber(tape_.kind(high))))
    return refused(fmt::format("{} and {}", tape_.Describe(low), tape_.Describe(high)));
  if (!is_text && node.target == FilterTarget::kId) {
    return Refused(fmt::format("operator {} takes texts, got {}", Quoted(op), tape_.Describe(low)));
  }
  if (!is_text) {
    AddRange({.low = FilterRange::Bound{NumberAt(tape_, low), true},
              .high = FilterRange::Bound{NumberAt(tape_, high), true}},
             node);
    return Status::Ok();
  }
  node.op = FilterOp::kInTextRange;
  node.operand = Append(program_.text_ranges, FilterTextRange{.low = std::string(tape_.text(low)),
                                                              .high = std::string(tape_.text(high)),
                                                              .takes_high = true});
  Push(node);
  return Status::Ok();
}

uint32_t FilterParser::AddKey(std::string_view text) {
  return Append(program_.texts, std::string(text));
}

// The values at [first, last) of the tape, all scalars that were checked.
uint32_t FilterParser::AddSet(size_t first, size_t last) {
  FilterSet set;
  const size_t texts = program_.texts.size();
  const size_t integers = program_.integers.size();
  const size_t reals = program_.reals.size();
  for (size_t i = first; i < last; i = tape_.end(i)) {
    if (tape_.kind(i) == JsonKind::kString) {
      program_.texts.emplace_back(tape_.text(i));
    } else if (tape_.kind(i) == JsonKind::kBool) {
      (tape_.boolean(i) ? set.has_true : set.has_false) = true;
    } else {
      const Number number = NumberAt(tape_, i);
      if (number.is_integer()) {
        program_.integers.push_back(number.integer());
      } else {
        program_.reals.push_back(number.real());
      }
    }
  }
  set.texts = SortedTail(program_.texts, texts);
  set.integers = SortedTail(program_.integers, integers);
  set.reals = SortedTail(program_.reals, reals);
  return Append(program_.sets, set);
}

Status FilterParser::AddIn(std::string_view op, size_t first, size_t last, FilterNode node) {
  if (node.target == FilterTarget::kId && tape_.kind(first) != JsonKind::kString) {
    return Refused(
        fmt::format("operator {} takes texts, got {}", Quoted(op), tape_.Describe(first)));
  }
  node.operand = AddSet(first, last);
  Push(node);
  return Status::Ok();
}

// Ranges of one key that must all hold are one range.
void FilterParser::AddRange(const FilterRange& range, FilterNode node) {
  node.operand = static_cast<uint32_t>(program_.ranges.size());
  if (node.target == FilterTarget::kMetadata && !IsNegated() &&
      program_.nodes[parent_].op == FilterOp::kAnd) {
    const auto [known, is_new] = ranges_.try_emplace({parent_, std::string(field_)}, node.operand);
    if (!is_new) return program_.ranges[known->second].Narrow(range);
  }
  program_.ranges.push_back(range);
  Push(node);
}

Status FilterParser::CheckFits(size_t value) const {
  if (tape_.kind(value) != JsonKind::kBigInteger) return Status::Ok();
  return Refused(fmt::format("integer {} does not fit 64 bits", tape_.Describe(value)));
}

Status FilterParser::CheckScalar(std::string_view op, size_t value) const {
  if (IsScalar(tape_.kind(value))) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(CheckFits(value));
  return Refused(fmt::format("operator {} takes a string, integer, float or bool, got {}",
                             Quoted(op), tape_.Describe(value)));
}

Status FilterParser::CheckList(std::string_view op, size_t list) const {
  if (tape_.kind(list) != JsonKind::kArray || tape_.empty(list)) {
    return Refused(fmt::format("operator {} takes a list that is not empty, got {}", Quoted(op),
                               tape_.Describe(list)));
  }
  for (size_t i = list + 1; i < tape_.end(list); i = tape_.end(i)) {
    PIGMENT_RETURN_IF_ERROR(CheckScalar(op, i));
    if (tape_.kind(i) != tape_.kind(list + 1)) {
      return Refused(fmt::format("operator {} takes values of one type, got {} after {}",
                                 Quoted(op), tape_.Describe(i), tape_.Describe(list + 1)));
    }
  }
  return Status::Ok();
}

}  // namespace pigment
