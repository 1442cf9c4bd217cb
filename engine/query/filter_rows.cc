// SPDX-License-Identifier: Apache-2.0
//
// The clauses from the first to the last, with the groups that are open on a stack; a group is left
// as soon as its answer is known.

#include "engine/query/filter_rows.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/inverted/term.h"

namespace pigment {
namespace {

// What the sets of open groups may take, beyond those of the first levels.
constexpr uint64_t kOpenBytesMax = uint64_t{16} << 20;
constexpr size_t kLevelsAlways = 32;

std::string NumberTerm(Number number) {
  std::string term;
  AppendNumberTerm(number, term);
  return term;
}

class RowBounder {
 public:
  RowBounder(const FilterProgram& program, const FilterSources& sources)
      : program_(program), sources_(sources) {}

  Result<RowBounds> Run();

 private:
  struct Group {
    uint32_t node;
    std::optional<RowBounds> bounds;  // of the children so far
  };

  RowBounds Unknown() const { return {RowSet(sources_.rows), RowSet::Nothing(sources_.rows)}; }
  bool HasRoom() const {
    return open_.size() < kLevelsAlways ||
           open_.size() * (sources_.rows / 8 + 1) * 2 < kOpenBytesMax;
  }
  void Combine(Group& group, RowBounds bounds) const;
  bool IsDecided(const Group& group) const;

  Result<RowBounds> BoundLeaf(const FilterNode& node);
  Status AddMetadataRows(const FilterNode& node, RowSet& rows);
  Status AddRowsOfSet(std::string_view key, const FilterSet& set, RowSet& rows);
  Status AddTextRows(std::string_view key, FieldType type, const FilterSet& set, RowSet& rows);
  Status AddRowsOfIds(const FilterSet& set, RowSet& rows);

  const FilterProgram& program_;
  const FilterSources sources_;
  RowSet unindexed_{0};
  std::vector<Group> open_;
};

void RowBounder::Combine(Group& group, RowBounds bounds) const {
  if (!group.bounds) {
    group.bounds = std::move(bounds);
    return;
  }
  RowBounds& all = *group.bounds;
  const bool intersects = program_.nodes[group.node].op == FilterOp::kAnd;
  if (all.certain || bounds.certain) {
    RowSet certain = all.sure();
    intersects ? certain.Intersect(bounds.sure()) : certain.Unite(bounds.sure());
    all.certain = std::move(certain);
  }
  intersects ? all.possible.Intersect(bounds.possible) : all.possible.Unite(bounds.possible);
}

bool RowBounder::IsDecided(const Group& group) const {
  if (program_.nodes[group.node].op == FilterOp::kAnd) return group.bounds->possible.empty();
  return group.bounds->sure().is_everything();
}

Status RowBounder::AddTextRows(std::string_view key, FieldType type, const FilterSet& set,
                               RowSet& rows) {
  const std::vector<std::string_view> terms(program_.texts.begin() + set.texts.begin,
                                            program_.texts.begin() + set.texts.end);
  if (terms.empty()) return Status::Ok();
  return sources_.inverted.AddTerms(key, type, terms, sources_.control, rows);
}

Status RowBounder::AddRowsOfSet(std::string_view key, const FilterSet& set, RowSet& rows) {
  PIGMENT_RETURN_IF_ERROR(AddTextRows(key, FieldType::kText, set, rows));
  std::vector<std::string> numbers;
  for (uint32_t i = set.integers.begin; i < set.integers.end; ++i)
    numbers.push_back(NumberTerm(program_.integers[i]));
  for (uint32_t i = set.reals.begin; i < set.reals.end; ++i)
    numbers.push_back(NumberTerm(program_.reals[i]));
  if (!numbers.empty()) {
    std::sort(numbers.begin(), numbers.end());
    const std::vector<std::string_view> terms(numbers.begin(), numbers.end());
    PIGMENT_RETURN_IF_ERROR(
        sources_.inverted.AddTerms(key, FieldType::kNumber, terms, sources_.control, rows));
  }
  for (const bool value : {false, true}) {
    if (!(value ? set.has_true : set.has_false)) continue;
    std::string term;
    AppendBoolTerm(value, term);
    const std::string_view terms[] = {term};
    PIGMENT_RETURN_IF_ERROR(
        sources_.inverted.AddTerms(key, FieldType::kBool, terms, sources_.control, rows));
  }
  return Status::Ok();
}

Status RowBounder::AddRowsOfIds(const FilterSet& set, RowSet& rows) {
  constexpr uint32_t kIdsPerCheck = 64;
  for (uint32_t i = set.texts.begin; i < set.texts.end; ++i) {
    if ((i - set.texts.begin) % kIdsPerCheck == 0)
      PIGMENT_RETURN_IF_ERROR(sources_.control.Check());
    PIGMENT_ASSIGN_OR_RETURN(const std::optional<uint32_t> row,
                             sources_.records.FindRow(program_.texts[i]));
    if (row && !rows.Test(*row)) rows.Set(*row);
  }
  return Status::Ok();
}

Status RowBounder::AddMetadataRows(const FilterNode& node, RowSet& rows) {
  const std::string_view key = program_.texts[node.key];
  switch (node.op) {
    case FilterOp::kIn:
      return AddRowsOfSet(key, program_.sets[node.operand], rows);
    case FilterOp::kInRange: {
      const FilterRange& range = program_.ranges[node.operand];
      TermRange terms;
      if (range.low) terms.low = {NumberTerm(range.low->number), range.low->is_inside};
      if (range.high) terms.high = {NumberTerm(range.high->number), range.high->is_inside};
      return sources_.inverted.AddRange(key, FieldType::kNumber, terms, rows);
    }
    case FilterOp::kHasElement: {
      std::string term;
      const FieldType type = AppendElementTerm(program_.elements[node.operand], term);
      const std::string_view terms[] = {term};
      return sources_.inverted.AddTerms(key, type, terms, sources_.control, rows);
    }
    case FilterOp::kAnd:
    case FilterOp::kOr:
    case FilterOp::kHasSubstring:
    case FilterOp::kHasMatch:
      break;
  }
  return Internal("a clause on metadata has an operator of documents");
}

Result<RowBounds> RowBounder::BoundLeaf(const FilterNode& node) {
  PIGMENT_RETURN_IF_ERROR(sources_.control.Check());
  if (node.target == FilterTarget::kDocument) return Unknown();
  RowBounds bounds{RowSet::Nothing(sources_.rows)};
  switch (node.target) {
    case FilterTarget::kMetadata:
      PIGMENT_RETURN_IF_ERROR(AddMetadataRows(node, bounds.possible));
      break;
    case FilterTarget::kUri:
      if (node.op == FilterOp::kIn)
        PIGMENT_RETURN_IF_ERROR(
            AddTextRows("", FieldType::kUri, program_.sets[node.operand], bounds.possible));
      break;
    case FilterTarget::kId:
      PIGMENT_RETURN_IF_ERROR(AddRowsOfIds(program_.sets[node.operand], bounds.possible));
      break;
    case FilterTarget::kDocument:
      break;
  }
  if (!unindexed_.empty() && node.target != FilterTarget::kId) {
    bounds.certain = bounds.possible;
    bounds.possible.Unite(unindexed_);
  }
  if (!node.negated) return bounds;
  bounds.possible.Complement();
  if (bounds.certain) {
    bounds.certain->Complement();
    std::swap(bounds.possible, *bounds.certain);
  }
  return bounds;
}

Result<RowBounds> RowBounder::Run() {
  PIGMENT_ASSIGN_OR_RETURN(unindexed_, sources_.inverted.UnindexedRows());
  for (uint32_t i = 0;;) {
    const FilterNode& node = program_.nodes[i];
    const bool is_group = node.op == FilterOp::kAnd || node.op == FilterOp::kOr;
    if (is_group && HasRoom()) {
      open_.push_back({i, std::nullopt});
      ++i;
      continue;
    }
    PIGMENT_ASSIGN_OR_RETURN(RowBounds bounds,
                             is_group ? Result<RowBounds>(Unknown()) : BoundLeaf(node));
    i = node.end;
    // Upward until a group has a child left that can change its answer.
    while (true) {
      if (open_.empty()) return bounds;
      Group& group = open_.back();
      Combine(group, std::move(bounds));
      const uint32_t end = program_.nodes[group.node].end;
      if (i != end && !IsDecided(group)) break;
      i = end;
      bounds = *std::move(group.bounds);
      open_.pop_back();
    }
  }
}

}  // namespace

Result<RowBounds> BoundRows(const FilterProgram& program, const FilterSources& sources) {
  return RowBounder(program, sources).Run();
}

}  // namespace pigment
