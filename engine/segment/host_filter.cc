// SPDX-License-Identifier: Apache-2.0
//
// Conditions one after the other; an empty set ends it.

#include "engine/segment/host_filter.h"

#include <algorithm>
#include <utility>

#include "engine/base/call_control.h"
#include "engine/segment/host_keys.h"

namespace pigment {
namespace {

bool IsElementKind(HostCondition::Kind kind) {
  return kind == HostCondition::Kind::kHasAny || kind == HostCondition::Kind::kHasAll;
}

bool IsInside(const TermRange& range, std::string_view key) {
  if (range.low && (key < range.low->term || (key == range.low->term && !range.low->is_inside)))
    return false;
  return !range.high ||
         !(key > range.high->term || (key == range.high->term && !range.high->is_inside));
}

// What the keys of one row say to one condition.
class ConditionState {
 public:
  explicit ConditionState(const HostCondition& condition) : condition_(condition) {}

  void See(const HostKey& key) {
    if (key.column != condition_.column) return;
    if (!key.is_element) is_present_ = true;
    if (key.is_element != IsElementKind(condition_.kind)) return;
    if (condition_.kind == HostCondition::Kind::kRange) {
      is_met_ = is_met_ || IsInside(condition_.range, key.bytes);
      return;
    }
    const bool is_wanted =
        std::binary_search(condition_.keys.begin(), condition_.keys.end(), key.bytes);
    if (!is_wanted) return;
    is_met_ = true;
    ++found_;
  }

  bool holds() const {
    switch (condition_.kind) {
      case HostCondition::Kind::kAnyOf:
      case HostCondition::Kind::kRange:
      case HostCondition::Kind::kHasAny:
        return is_met_;
      case HostCondition::Kind::kPresent:
        return is_present_;
      case HostCondition::Kind::kAbsent:
        return !is_present_;
      case HostCondition::Kind::kHasAll:
        return is_present_ && found_ == condition_.keys.size();
    }
    return false;
  }

 private:
  const HostCondition& condition_;
  bool is_present_ = false;
  bool is_met_ = false;
  size_t found_ = 0;  // of the keys; a row has each element once
};

}  // namespace

HostFilter::HostFilter(std::vector<HostCondition> conditions) : conditions_(std::move(conditions)) {
  for (HostCondition& condition : conditions_) {
    std::sort(condition.keys.begin(), condition.keys.end());
    condition.keys.erase(std::unique(condition.keys.begin(), condition.keys.end()),
                         condition.keys.end());
  }
}

Status HostFilter::AddRows(InvertedReader& reader, const HostCondition& condition,
                           RowSet& rows) const {
  const CallControl none;  // a host ends the call by its pins
  const bool is_element = IsElementKind(condition.kind);
  const std::string key = HostFieldKey(condition.column, is_element);
  const FieldType type = HostFieldType(is_element);
  const std::vector<std::string_view> terms(condition.keys.begin(), condition.keys.end());
  switch (condition.kind) {
    case HostCondition::Kind::kAnyOf:
    case HostCondition::Kind::kHasAny:
      return reader.AddTerms(key, type, terms, none, rows);
    case HostCondition::Kind::kRange:
      return reader.AddRange(key, type, condition.range, none, rows);
    case HostCondition::Kind::kPresent:
      return reader.AddField(key, type, rows);
    case HostCondition::Kind::kAbsent:
      PIGMENT_RETURN_IF_ERROR(reader.AddField(key, type, rows));
      rows.Complement();
      return Status::Ok();
    case HostCondition::Kind::kHasAll:
      PIGMENT_RETURN_IF_ERROR(
          reader.AddField(HostFieldKey(condition.column, false), HostFieldType(false), rows));
      for (const std::string_view& term : terms) {
        RowSet some = RowSet::Nothing(rows.rows());
        PIGMENT_RETURN_IF_ERROR(reader.AddTerms(key, type, {&term, 1}, none, some));
        rows.Intersect(some);
        if (rows.empty()) return Status::Ok();
      }
      return Status::Ok();
  }
  return Internal("a condition of no kind");
}

Result<HostFilter::Rows> HostFilter::RowsOf(const Segment& segment) const {
  const uint32_t count = segment.info().rows;
  Rows found{RowSet(count)};
  if (count == 0) return found;
  const std::unique_ptr<InvertedReader> reader = segment.NewInvertedReader();
  if (reader == nullptr) {
    return DataLoss(Detail::kMissing, "", -1,
                    "the segment has no index of keys, and a filter asks for it");
  }
  for (const HostCondition& condition : conditions_) {
    RowSet rows = RowSet::Nothing(count);
    PIGMENT_RETURN_IF_ERROR(AddRows(*reader, condition, rows));
    found.rows.Intersect(rows);
    if (found.rows.empty()) break;
  }
  PIGMENT_ASSIGN_OR_RETURN(const RowSet unindexed, reader->UnindexedRows());
  found.unindexed = unindexed.count();
  if (found.unindexed != 0) found.rows.Unite(unindexed);
  return found;
}

Result<bool> HostFilter::Matches(std::span<const std::byte> keys) const {
  std::vector<ConditionState> states(conditions_.begin(), conditions_.end());
  PIGMENT_RETURN_IF_ERROR(VisitHostKeys(keys, [&states](const HostKey& key) {
    for (ConditionState& state : states) state.See(key);
  }));
  return std::all_of(states.begin(), states.end(),
                     [](const ConditionState& state) { return state.holds(); });
}

}  // namespace pigment
