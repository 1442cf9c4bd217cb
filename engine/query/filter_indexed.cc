// SPDX-License-Identifier: Apache-2.0
//
// Clause by clause.

#include "engine/query/filter_indexed.h"

#include <fmt/format.h>

#include "engine/record/metadata_path.h"
#include "engine/record/text.h"

namespace pigment {
namespace {

constexpr ValueTypes kNumbers = kIntValues | kFloatValues;

ValueTypes TypesOf(const FilterSet& set) {
  ValueTypes types = 0;
  if (set.texts.begin != set.texts.end) types |= kStringValues;
  if (set.integers.begin != set.integers.end || set.reals.begin != set.reals.end) types |= kNumbers;
  if (set.has_false || set.has_true) types |= kBoolValues;
  return types;
}

ValueTypes TypeOf(const MetadataValue& element) {
  if (std::holds_alternative<std::string>(element)) return kStringValues;
  if (std::holds_alternative<int64_t>(element)) return kIntValues;
  return std::holds_alternative<double>(element) ? kFloatValues : kBoolValues;
}

std::string_view NameOf(ValueTypes types) {
  if ((types & kStringValues) != 0) return "string";
  if ((types & kIntValues) != 0) return "int";
  return (types & kFloatValues) != 0 ? "float" : "bool";
}

// The field that the path of a clause ends with.
std::string FieldOf(const FilterProgram& program, const FilterNode& node) {
  if (node.is_path) return PointerOf(KeyAsked(program, node));
  if (node.target != FilterTarget::kDocument) return std::string(KeyAsked(program, node));
  const bool is_field = program.places.TextOf(node.place) == FilterPlaces::kWhere;
  return is_field ? "#document" : "";
}

Status Refused(const FilterProgram& program, const FilterNode& node, std::string_view reason) {
  return InvalidArgument(Detail::kFilter,
                         program.places.Tell(node.place, FieldOf(program, node), reason));
}

}  // namespace

ValueTypes TypesAsked(const FilterProgram& program, const FilterNode& node) {
  if (node.target != FilterTarget::kMetadata && node.target != FilterTarget::kUri) return 0;
  switch (node.op) {
    case FilterOp::kIn:
      return TypesOf(program.sets[node.operand]);
    case FilterOp::kInRange:
      return kNumbers;
    case FilterOp::kInTextRange:
    case FilterOp::kEqualsFolded:
    case FilterOp::kStartsFolded:
      return kStringValues;
    case FilterOp::kHasElement:
      return TypeOf(program.elements[node.operand]);
    case FilterOp::kExists:
      return node.target == FilterTarget::kUri ? kStringValues : kAllValues;
    case FilterOp::kAnd:
    case FilterOp::kOr:
    case FilterOp::kHasSubstring:
    case FilterOp::kHasFolded:
    case FilterOp::kHasMatch:
      return 0;
  }
  return 0;
}

std::string_view KeyAsked(const FilterProgram& program, const FilterNode& node) {
  return node.target == FilterTarget::kUri ? kUriKey : std::string_view(program.texts[node.key]);
}

Status CheckFlat(const FilterProgram& program) {
  for (const FilterNode& node : program.nodes) {
    if (!node.is_path) continue;
    return Refused(program, node,
                   "a path is for collections whose configuration has \"nested_metadata\": true");
  }
  return Status::Ok();
}

Status CheckIndexed(const FilterProgram& program, const IndexRules& rules) {
  for (const FilterNode& node : program.nodes) {
    if (node.op == FilterOp::kAnd || node.op == FilterOp::kOr) continue;
    if (node.target == FilterTarget::kDocument) {
      if (rules.full_text || node.op == FilterOp::kExists) continue;
      return Refused(program, node,
                     "cannot filter by what documents say: the full-text index of \"#document\" "
                     "is disabled in the schema");
    }
    const ValueTypes asked = TypesAsked(program, node);
    if (asked == 0) continue;
    const std::string_view key = KeyAsked(program, node);
    const auto missing = static_cast<ValueTypes>(asked & ~rules.IndexedOf(key));
    if (missing == 0) continue;
    return Refused(program, node,
                   fmt::format("cannot filter by metadata key {} with type {}: its index is "
                               "disabled in the schema",
                               Quoted(TopKey(key)), NameOf(missing)));
  }
  return Status::Ok();
}

}  // namespace pigment
