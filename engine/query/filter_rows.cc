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
#include "engine/query/filter_indexed.h"

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
  // Every clause but those on documents was decided for every row.
  bool decides_fields() const { return decides_fields_; }

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

  bool IsIndexed(const FilterNode& node) const;
  Result<RowBounds> BoundLeaf(const FilterNode& node);
  Result<RowBounds> BoundDocuments(const FilterNode& node);
  Status AddMetadataRows(const FilterNode& node, RowSet& rows);
  // A clause on a field of texts: REQUIRES an operator of TextMatches.
  Status AddTextClause(std::string_view key, FieldType type, const FilterNode& node, RowSet& rows);
  Status AddRowsOfSet(std::string_view key, const FilterSet& set, RowSet& rows);
  Status AddTextRows(std::string_view key, FieldType type, const FilterSet& set, RowSet& rows);
  Status AddRowsOfIds(const FilterSet& set, RowSet& rows);
  Status AddMatchingIds(const FilterNode& node, RowSet& rows);

  const FilterProgram& program_;
  const FilterSources sources_;
  RowSet unindexed_{0};
  bool decides_fields_ = true;
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

// Ids are in no order that a clause on many of them could use.
Status RowBounder::AddMatchingIds(const FilterNode& node, RowSet& rows) {
  constexpr uint32_t kRowsPerCheck = 64;
  for (uint32_t row = 0; row < sources_.rows; ++row) {
    if (row % kRowsPerCheck == 0) PIGMENT_RETURN_IF_ERROR(sources_.control.Check());
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view id, sources_.records.ReadId(row));
    if (program_.TextMatches(node, id)) rows.Set(row);
  }
  return Status::Ok();
}

Status RowBounder::AddTextClause(std::string_view key, FieldType type, const FilterNode& node,
                                 RowSet& rows) {
  switch (node.op) {
    case FilterOp::kIn:
      return AddTextRows(key, type, program_.sets[node.operand], rows);
    case FilterOp::kInTextRange: {
      const FilterTextRange& range = program_.text_ranges[node.operand];
      TermRange terms{.low = TermRange::Bound{range.low, true}};
      if (range.high) terms.high = {*range.high, range.takes_high};
      return sources_.inverted.AddRange(key, type, terms, sources_.control, rows);
    }
    case FilterOp::kEqualsFolded:
    case FilterOp::kStartsFolded:
      return sources_.inverted.AddFolded(
          key, type,
          {.text = program_.folded[node.operand], .is_prefix = node.op == FilterOp::kStartsFolded},
          sources_.control, rows);
    case FilterOp::kExists:
      return sources_.inverted.AddField(key, type, rows);
    case FilterOp::kInRange:  // no text is a number or a list
    case FilterOp::kHasElement:
      return Status::Ok();
    case FilterOp::kAnd:
    case FilterOp::kOr:
    case FilterOp::kHasSubstring:
    case FilterOp::kHasFolded:
    case FilterOp::kHasMatch:
      break;
  }
  return Internal("a clause on a field has an operator of documents");
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
      return sources_.inverted.AddRange(key, FieldType::kNumber, terms, sources_.control, rows);
    }
    case FilterOp::kHasElement: {
      std::string term;
      const FieldType type = AppendElementTerm(program_.elements[node.operand], term);
      const std::string_view terms[] = {term};
      return sources_.inverted.AddTerms(key, type, terms, sources_.control, rows);
    }
    case FilterOp::kExists:
      for (const FieldType type : kMetadataFieldTypes)
        PIGMENT_RETURN_IF_ERROR(sources_.inverted.AddField(key, type, rows));
      return sources_.inverted.AddFieldsBeginning(program_.texts[node.operand], sources_.control,
                                                  rows);
    case FilterOp::kInTextRange:
    case FilterOp::kEqualsFolded:
    case FilterOp::kStartsFolded:
    case FilterOp::kAnd:
    case FilterOp::kOr:
    case FilterOp::kHasSubstring:
    case FilterOp::kHasFolded:
    case FilterOp::kHasMatch:
      break;
  }
  return AddTextClause(key, FieldType::kText, node, rows);
}

// A segment may have less than its collection's schema says, after a repair.
bool RowBounder::IsIndexed(const FilterNode& node) const {
  const IndexRules* const rules = sources_.inverted.rules();
  const ValueTypes asked = TypesAsked(program_, node);
  return rules == nullptr || asked == 0 ||
         (rules->IndexedOf(KeyAsked(program_, node)) & asked) == asked;
}

// What has not what the clause looks for does not match, or matches for sure where it is negated.
Result<RowBounds> RowBounder::BoundDocuments(const FilterNode& node) {
  if (sources_.cells == nullptr) return Unknown();
  CellReader& reader = *sources_.cells;
  RowSet rows(sources_.rows);
  if (node.op == FilterOp::kHasMatch) {
    PIGMENT_ASSIGN_OR_RETURN(rows,
                             program_.regexes[node.operand]->RowsWith(reader, sources_.control));
  } else if (node.op == FilterOp::kHasFolded) {
    for (const std::string& piece : PlainPieces(program_.folded[node.operand])) {
      PIGMENT_ASSIGN_OR_RETURN(rows, reader.RowsWith(piece, std::move(rows), sources_.control));
    }
  } else {
    PIGMENT_ASSIGN_OR_RETURN(
        rows, reader.RowsWith(program_.texts[node.operand], std::move(rows), sources_.control));
  }
  if (!node.negated) return RowBounds{std::move(rows), RowSet::Nothing(sources_.rows)};
  rows.Complement();
  return RowBounds{RowSet(sources_.rows), std::move(rows)};
}

Result<RowBounds> RowBounder::BoundLeaf(const FilterNode& node) {
  PIGMENT_RETURN_IF_ERROR(sources_.control.Check());
  if (!IsIndexed(node)) {
    decides_fields_ = false;
    return Unknown();
  }
  if (LooksIntoDocuments(node)) return BoundDocuments(node);
  RowBounds bounds{RowSet::Nothing(sources_.rows)};
  switch (node.target) {
    case FilterTarget::kMetadata:
      PIGMENT_RETURN_IF_ERROR(AddMetadataRows(node, bounds.possible));
      break;
    case FilterTarget::kUri:
      PIGMENT_RETURN_IF_ERROR(AddTextClause("", FieldType::kUri, node, bounds.possible));
      break;
    case FilterTarget::kId:
      PIGMENT_RETURN_IF_ERROR(node.op == FilterOp::kIn
                                  ? AddRowsOfIds(program_.sets[node.operand], bounds.possible)
                                  : AddMatchingIds(node, bounds.possible));
      break;
    case FilterTarget::kDocument:
      PIGMENT_RETURN_IF_ERROR(
          sources_.inverted.AddField("", FieldType::kHasDocument, bounds.possible));
      break;
  }
  if (!unindexed_.empty() && node.target != FilterTarget::kId) {
    decides_fields_ = false;
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
    if (is_group) decides_fields_ = false;
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

Result<RowBounds> BoundRows(const FilterProgram& program, const FilterSources& sources,
                            bool* leaves_documents) {
  RowBounder bounder(program, sources);
  PIGMENT_ASSIGN_OR_RETURN(RowBounds bounds, bounder.Run());
  *leaves_documents = bounder.decides_fields();
  return bounds;
}

}  // namespace pigment
