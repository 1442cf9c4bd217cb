// SPDX-License-Identifier: Apache-2.0
//
// Conditions on documents: of where_document, and of "#document" in where.

#include <fmt/format.h>

#include <utility>

#include "engine/query/filter_parse.h"
#include "engine/record/text.h"

namespace pigment {

Status FilterParser::ParseDocumentOperator(size_t member) {
  const std::string_view name = tape_.key(member);
  const FilterOperator* op = FindOperator(kDocumentOperators, name);
  if (op == nullptr) {
    return Refused(fmt::format("unknown operator {}, expected one of {}{}", Quoted(name),
                               OperatorNames(kDocumentOperators),
                               grammar_ == Grammar::kWhere ? "" : ", $and, $or, $not"));
  }
  program_.needs.document = true;
  const FilterNode node{.op = op->op, .target = FilterTarget::kDocument, .negated = op->negated};
  if (op->operand == FilterOperand::kBool) return AddExists(name, member, node);
  return AddPattern(*op, member, node);
}

Status FilterParser::AddPattern(const FilterOperator& op, size_t operand, FilterNode node) {
  if (tape_.kind(operand) != JsonKind::kString || tape_.text(operand).empty()) {
    return Refused(fmt::format("operator {} takes a text that is not empty, got {}",
                               Quoted(op.name), tape_.Describe(operand)));
  }
  const std::string_view pattern = tape_.text(operand);
  if (op.op == FilterOp::kHasSubstring) {
    node.operand = AddKey(pattern);
  } else if (op.op == FilterOp::kHasFolded) {
    node.operand = static_cast<uint32_t>(program_.folded.size());
    program_.folded.emplace_back(pattern);
  } else {
    PIGMENT_RETURN_IF_ERROR(AddRegex(pattern, &node.operand));
  }
  Push(node);
  return Status::Ok();
}

Status FilterParser::AddRegex(std::string_view pattern, uint32_t* operand) {
  if (const auto known = regexes_.find(pattern); known != regexes_.end()) {
    *operand = known->second;
    return Status::Ok();
  }
  if (pattern.size() > kRegexBytesMax)
    return TooMuch(limit::kRegexBytesMax, fmt::format("regex of {} bytes", pattern.size()));
  if (program_.regexes.size() == kFilterRegexesMax) {
    return TooMuch(limit::kFilterRegexesMax, "too many different regexes in a filter")
        .WithHint("join patterns with |");
  }
  Result<std::unique_ptr<const Regex>> regex = Regex::Compile(pattern);
  if (regex.status().code() == Code::kInvalidArgument) {
    return Refused(
               fmt::format("regex {} is not valid: {}", Quoted(pattern), regex.status().message()))
        .WithHint("the syntax is RE2's: no look-around, no back-references");
  }
  if (regex.status().detail() == Detail::kLimit)
    return ResourceExhausted(Detail::kLimit, AtPath(regex.status().message()));
  PIGMENT_RETURN_IF_ERROR(regex.status());
  *operand = static_cast<uint32_t>(program_.regexes.size());
  regexes_.emplace(pattern, *operand);
  program_.regexes.push_back(std::move(regex).value());
  return Status::Ok();
}

}  // namespace pigment
