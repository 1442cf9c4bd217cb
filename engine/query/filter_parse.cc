// SPDX-License-Identifier: Apache-2.0
//
// The filter grammar. Clauses are walked with a stack of open groups on the heap; the depth of a
// filter costs no stack.

#include "engine/query/filter_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/record/text.h"

namespace pigment {

struct FilterParser::Group {
  size_t next;  // child to parse next, and the end of the children, both on the tape
  size_t end;
  uint32_t node;  // FilterNode::kNone for a group that its parent has swallowed
};

namespace {

constexpr std::string_view kUriKey = "chroma:uri";
constexpr std::string_view kIdKey = "#id";
constexpr std::string_view kDocumentKey = "#document";

enum class Operand { kScalar, kNumber, kList, kElement };

struct FieldOperator {
  std::string_view name;
  FilterOp op;
  bool negated;
  Operand operand;
};

constexpr std::array kFieldOperators = {
    FieldOperator{"$eq", FilterOp::kIn, false, Operand::kScalar},
    FieldOperator{"$ne", FilterOp::kIn, true, Operand::kScalar},
    FieldOperator{"$gt", FilterOp::kInRange, false, Operand::kNumber},
    FieldOperator{"$gte", FilterOp::kInRange, false, Operand::kNumber},
    FieldOperator{"$lt", FilterOp::kInRange, false, Operand::kNumber},
    FieldOperator{"$lte", FilterOp::kInRange, false, Operand::kNumber},
    FieldOperator{"$in", FilterOp::kIn, false, Operand::kList},
    FieldOperator{"$nin", FilterOp::kIn, true, Operand::kList},
    FieldOperator{"$contains", FilterOp::kHasElement, false, Operand::kElement},
    FieldOperator{"$not_contains", FilterOp::kHasElement, true, Operand::kElement},
};

struct DocumentOperator {
  std::string_view name;
  FilterOp op;
  bool negated;
};

constexpr std::array kDocumentOperators = {
    DocumentOperator{"$contains", FilterOp::kHasSubstring, false},
    DocumentOperator{"$not_contains", FilterOp::kHasSubstring, true},
    DocumentOperator{"$regex", FilterOp::kHasMatch, false},
    DocumentOperator{"$not_regex", FilterOp::kHasMatch, true},
};

template <typename Table>
const typename Table::value_type* Find(const Table& table, std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

template <typename Table>
std::string Names(const Table& table) {
  std::string names;
  for (const auto& row : table) names.append(names.empty() ? "" : ", ").append(row.name);
  return names;
}

bool IsScalar(JsonKind kind) {
  return kind == JsonKind::kString || kind == JsonKind::kInteger || kind == JsonKind::kDouble ||
         kind == JsonKind::kBool;
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

}  // namespace

FilterParser::FilterParser() {
  program_.nodes.push_back({.op = FilterOp::kAnd, .parent = FilterNode::kNone});
}

Status FilterParser::Refused(std::string_view reason) const {
  return InvalidArgument(
      Detail::kFilter,
      fmt::format("{}: {}", grammar_ == Grammar::kWhere ? "where" : "where_document", reason));
}

// In where_document the key says nothing that its name does not.
Status FilterParser::Refused(std::string_view key, std::string_view reason) const {
  if (grammar_ == Grammar::kWhereDocument) return Refused(reason);
  return Refused(fmt::format("key {}: {}", Quoted(key), reason));
}

Status FilterParser::Add(std::string_view json, Grammar grammar) {
  grammar_ = grammar;
  parent_ = 0;
  const JsonLimits limits{.bytes_max = kFilterBytesMax, .nodes_max = kFilterValuesMax};
  const std::string_view what = grammar == Grammar::kWhere ? "where" : "where_document";
  PIGMENT_ASSIGN_OR_RETURN(tape_, JsonTape::Parse(json, what, Detail::kFilter, limits));
  if (tape_.kind(0) == JsonKind::kNull) return Status::Ok();
  return ParseClauses();
}

FilterProgram FilterParser::Finish() && {
  program_.nodes[0].end = static_cast<uint32_t>(program_.nodes.size());
  if (program_.nodes.size() == 1) program_.nodes.clear();
  return std::move(program_);
}

Status FilterParser::ParseClauses() {
  std::vector<Group> open;
  size_t clause = 0;
  while (true) {
    PIGMENT_RETURN_IF_ERROR(CheckClause(clause));
    const size_t member = clause + 1;
    const std::string_view key = tape_.key(member);
    if (key == "$and" || key == "$or") {
      PIGMENT_RETURN_IF_ERROR(OpenGroup(member, &open));
    } else if (grammar_ == Grammar::kWhere) {
      PIGMENT_RETURN_IF_ERROR(ParseField(member));
    } else {
      PIGMENT_RETURN_IF_ERROR(ParseDocumentOperator(member));
    }
    while (!open.empty() && open.back().next == open.back().end) {
      if (open.back().node != FilterNode::kNone) {
        FilterNode& group = program_.nodes[open.back().node];
        group.end = static_cast<uint32_t>(program_.nodes.size());
        parent_ = group.parent;
      }
      open.pop_back();
    }
    if (open.empty()) return Status::Ok();
    clause = open.back().next;
    open.back().next = tape_.end(clause);
  }
}

Status FilterParser::CheckClause(size_t clause) const {
  if (tape_.kind(clause) != JsonKind::kObject) {
    return Refused(fmt::format("expected an object with one key, got {}", tape_.Describe(clause)));
  }
  if (tape_.empty(clause)) {
    return Refused("expected an object with one key, got {}")
        .WithHint("leave the filter out to match everything");
  }
  const size_t first = clause + 1;
  const size_t second = tape_.end(first);
  if (second == tape_.end(clause)) return Status::Ok();
  return Refused(fmt::format("expected an object with one key, got {} keys: {}, {}{}",
                             tape_.ChildCount(clause), Quoted(tape_.key(first)),
                             Quoted(tape_.key(second)),
                             tape_.end(second) == tape_.end(clause) ? "" : ", ..."))
      .WithHint(R"(join clauses with "$and": {"$and": [{...}, {...}]})");
}

Status FilterParser::OpenGroup(size_t member, std::vector<Group>* open) {
  const std::string_view key = tape_.key(member);
  if (tape_.kind(member) != JsonKind::kArray || tape_.empty(member)) {
    return Refused(fmt::format("{} takes a list of at least one clause, got {}", Quoted(key),
                               tape_.Describe(member)));
  }
  const FilterOp op = key == "$and" ? FilterOp::kAnd : FilterOp::kOr;
  const bool one_child = tape_.end(member + 1) == tape_.end(member);
  Group group{member + 1, tape_.end(member), FilterNode::kNone};
  if (!one_child && program_.nodes[parent_].op != op) {
    group.node = static_cast<uint32_t>(program_.nodes.size());
    Push({.op = op});
    parent_ = group.node;
  }
  open->push_back(group);
  return Status::Ok();
}

Status FilterParser::ParseField(size_t member) {
  const std::string_view key = tape_.key(member);
  if (key == kDocumentKey) {
    if (tape_.kind(member) != JsonKind::kObject || tape_.ChildCount(member) != 1) {
      return Refused(key, fmt::format("expected an object with one operator of {}, got {}",
                                      Names(kDocumentOperators), tape_.Describe(member)));
    }
    return ParseDocumentOperator(member + 1);
  }
  if (key.empty()) return Refused("a key must not be empty, got \"\"");
  if (key == "chroma:document") {
    return Refused(key, "documents are filtered by \"#document\" or where_document");
  }
  if (key[0] == '$') {
    return Refused(fmt::format("unknown operator {}, expected $and, $or or a key", Quoted(key)))
        .WithHint("an operator belongs to a key: {\"key\": {\"$eq\": 1}}");
  }
  FilterNode node{.op = FilterOp::kIn};
  if (key == kIdKey) {
    node.target = FilterTarget::kId;
    program_.needs.id = true;
  } else if (key == kUriKey) {
    node.target = FilterTarget::kUri;
    program_.needs.uri = true;
  } else if (key[0] == '#') {
    return Refused(key, "no such field, expected a metadata key, #id or #document");
  } else {
    program_.needs.metadata = true;
    node.key = AddText(key);
  }
  return ParseFieldOperator(key, member, node);
}

Status FilterParser::ParseFieldOperator(std::string_view key, size_t member, FilterNode node) {
  if (tape_.kind(member) != JsonKind::kObject) {
    PIGMENT_RETURN_IF_ERROR(CheckScalar(key, "$eq", member));
    return AddIn(key, "$eq", member, tape_.end(member), node);
  }
  if (tape_.ChildCount(member) != 1) {
    return Refused(key, fmt::format("expected one operator, got {}",
                                    tape_.empty(member)
                                        ? "{}"
                                        : fmt::format("{} keys", tape_.ChildCount(member))))
        .WithHint(R"(join clauses with "$and": {"$and": [{...}, {...}]})");
  }
  const size_t operand = member + 1;
  const std::string_view name = tape_.key(operand);
  const FieldOperator* op = Find(kFieldOperators, name);
  if (op == nullptr) {
    if (Find(kDocumentOperators, name) != nullptr) {
      return Refused(key, fmt::format("operator {} is for documents only", Quoted(name)))
          .WithHint("use \"#document\" or where_document");
    }
    return Refused(key, fmt::format("unknown operator {}, expected one of {}", Quoted(name),
                                    Names(kFieldOperators)));
  }
  node.op = op->op;
  node.negated = op->negated;
  if (node.target == FilterTarget::kId && node.op != FilterOp::kIn) {
    return Refused(key, fmt::format("operator {} does not apply, expected $eq, $ne, $in or $nin",
                                    Quoted(name)));
  }
  switch (op->operand) {
    case Operand::kScalar:
      PIGMENT_RETURN_IF_ERROR(CheckScalar(key, name, operand));
      return AddIn(key, name, operand, tape_.end(operand), node);
    case Operand::kList:
      PIGMENT_RETURN_IF_ERROR(CheckList(key, name, operand));
      return AddIn(key, name, operand + 1, tape_.end(operand), node);
    case Operand::kNumber:
      PIGMENT_RETURN_IF_ERROR(CheckScalar(key, name, operand));
      if (tape_.kind(operand) != JsonKind::kInteger && tape_.kind(operand) != JsonKind::kDouble) {
        return Refused(key, fmt::format("operator {} takes an integer or a float, got {}",
                                        Quoted(name), tape_.Describe(operand)));
      }
      AddRange(key, RangeOf(name, NumberAt(tape_, operand)), node);
      return Status::Ok();
    case Operand::kElement:
      PIGMENT_RETURN_IF_ERROR(CheckScalar(key, name, operand));
      node.operand = static_cast<uint32_t>(program_.elements.size());
      program_.elements.push_back(Scalar(tape_, operand));
      break;
  }
  Push(node);
  return Status::Ok();
}

// The operator of a document clause at `member`, of where_document or of where's "#document".
Status FilterParser::ParseDocumentOperator(size_t member) {
  const std::string_view name = tape_.key(member);
  const DocumentOperator* op = Find(kDocumentOperators, name);
  if (op == nullptr) {
    return Refused(
        kDocumentKey,
        fmt::format("unknown operator {}, expected one of {}", Quoted(name),
                    grammar_ == Grammar::kWhere ? Names(kDocumentOperators)
                                                : Names(kDocumentOperators) + ", $and, $or"));
  }
  if (tape_.kind(member) != JsonKind::kString || tape_.text(member).empty()) {
    return Refused(kDocumentKey, fmt::format("operator {} takes a text that is not empty, got {}",
                                             Quoted(name), tape_.Describe(member)));
  }
  FilterNode node{.op = op->op, .target = FilterTarget::kDocument, .negated = op->negated};
  if (op->op == FilterOp::kHasSubstring) {
    node.operand = AddText(tape_.text(member));
  } else {
    PIGMENT_RETURN_IF_ERROR(AddRegex(tape_.text(member), &node.operand));
  }
  program_.needs.document = true;
  Push(node);
  return Status::Ok();
}

Status FilterParser::AddRegex(std::string_view pattern, uint32_t* operand) {
  if (const auto known = regexes_.find(pattern); known != regexes_.end()) {
    *operand = known->second;
    return Status::Ok();
  }
  if (pattern.size() > kRegexBytesMax) {
    return ResourceExhausted(Detail::kLimit, fmt::format("regex of {} bytes: at most {} are taken",
                                                         pattern.size(), kRegexBytesMax));
  }
  if (program_.regexes.size() == kFilterRegexesMax) {
    return ResourceExhausted(
               Detail::kLimit,
               fmt::format("a filter takes at most {} different regexes", kFilterRegexesMax))
        .WithHint("join patterns with |");
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kRegexMemoryBytesMax);
  auto regex =
      std::make_unique<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (regex->error_code() == re2::RE2::ErrorPatternTooLarge) {
    return ResourceExhausted(
        Detail::kLimit, fmt::format("regex {} needs more than {} bytes of memory", Quoted(pattern),
                                    kRegexMemoryBytesMax));
  }
  if (!regex->ok()) {
    return Refused(kDocumentKey, fmt::format("regex {} is not valid: {}", Quoted(pattern),
                                             Printable(regex->error(), 160)))
        .WithHint("the syntax is RE2's: no look-around, no back-references");
  }
  *operand = static_cast<uint32_t>(program_.regexes.size());
  regexes_.emplace(pattern, *operand);
  program_.regexes.push_back(std::move(regex));
  return Status::Ok();
}

uint32_t FilterParser::AddText(std::string_view text) {
  program_.texts.emplace_back(text);
  return static_cast<uint32_t>(program_.texts.size() - 1);
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
  program_.sets.push_back(set);
  return static_cast<uint32_t>(program_.sets.size() - 1);
}

Status FilterParser::AddIn(std::string_view key, std::string_view op, size_t first, size_t last,
                           FilterNode node) {
  if (node.target == FilterTarget::kId && tape_.kind(first) != JsonKind::kString) {
    return Refused(
        key, fmt::format("operator {} takes texts, got {}", Quoted(op), tape_.Describe(first)));
  }
  node.operand = AddSet(first, last);
  Push(node);
  return Status::Ok();
}

// Ranges of one key that must all hold are one range.
void FilterParser::AddRange(std::string_view key, const FilterRange& range, FilterNode node) {
  node.operand = static_cast<uint32_t>(program_.ranges.size());
  if (node.target == FilterTarget::kMetadata && program_.nodes[parent_].op == FilterOp::kAnd) {
    const auto [known, is_new] = ranges_.try_emplace({parent_, std::string(key)}, node.operand);
    if (!is_new) return program_.ranges[known->second].Narrow(range);
  }
  program_.ranges.push_back(range);
  Push(node);
}

void FilterParser::Push(FilterNode node) {
  node.parent = parent_;
  node.end = static_cast<uint32_t>(program_.nodes.size() + 1);
  program_.nodes.push_back(node);
}

Status FilterParser::CheckScalar(std::string_view key, std::string_view op, size_t value) const {
  if (IsScalar(tape_.kind(value))) return Status::Ok();
  if (tape_.kind(value) == JsonKind::kBigInteger) {
    return Refused(key, fmt::format("integer {} does not fit 64 bits", tape_.Describe(value)));
  }
  return Refused(key, fmt::format("operator {} takes a string, integer, float or bool, got {}",
                                  Quoted(op), tape_.Describe(value)));
}

Status FilterParser::CheckList(std::string_view key, std::string_view op, size_t list) const {
  if (tape_.kind(list) != JsonKind::kArray || tape_.empty(list)) {
    return Refused(key, fmt::format("operator {} takes a list that is not empty, got {}",
                                    Quoted(op), tape_.Describe(list)));
  }
  for (size_t i = list + 1; i < tape_.end(list); i = tape_.end(i)) {
    PIGMENT_RETURN_IF_ERROR(CheckScalar(key, op, i));
    if (tape_.kind(i) != tape_.kind(list + 1)) {
      return Refused(key, fmt::format("operator {} takes values of one type, got {} after {}",
                                      Quoted(op), tape_.Describe(i), tape_.Describe(list + 1)));
    }
  }
  return Status::Ok();
}

}  // namespace pigment
