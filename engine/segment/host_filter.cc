// SPDX-License-Identifier: Apache-2.0
//
// Conditions one after the other; an empty set ends it.

#include "engine/segment/host_filter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/bits.h"
#include "engine/base/call_control.h"
#include "engine/base/substring.h"
#include "engine/inverted/gram.h"
#include "engine/record/clause_tree.h"
#include "engine/segment/host_keys.h"

namespace pigment {
namespace {

// What the sets of open groups may take, beyond those of the first levels.
constexpr uint64_t kOpenBytesMax = uint64_t{16} << 20;
constexpr size_t kLevelsAlways = 32;

HostKey::Kind KeyKindOf(HostCondition::Kind kind) {
  if (kind == HostCondition::Kind::kHasText) return HostKey::Kind::kGrams;
  if (kind == HostCondition::Kind::kHasAny || kind == HostCondition::Kind::kHasAll ||
      kind == HostCondition::Kind::kClauses)
    return HostKey::Kind::kElement;
  return HostKey::Kind::kValue;
}

// Whether grams, ascending and three bytes each, have one that begins with `prefix`.
bool HasGram(std::string_view grams, std::string_view prefix) {
  size_t begin = 0, end = grams.size() / kGramBytes;
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (grams.substr(middle * kGramBytes, kGramBytes) < prefix) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return grams.substr(begin * kGramBytes, prefix.size()) == prefix && !grams.empty();
}

bool MayHaveText(std::string_view grams, std::string_view text) {
  if (text.size() < kGramBytes) return HasGram(grams, text);
  for (size_t i = 0; i + kGramBytes <= text.size(); ++i)
    if (!HasGram(grams, text.substr(i, kGramBytes))) return false;
  return true;
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
  explicit ConditionState(const HostCondition& condition)
      : condition_(condition), has_(condition.clauses.size()) {}

  void See(const HostKey& key) {
    if (key.column != condition_.column) return;
    if (key.kind == HostKey::Kind::kValue) is_present_ = true;
    if (key.kind != KeyKindOf(condition_.kind)) return;
    if (condition_.kind == HostCondition::Kind::kHasText) {
      is_met_ =
          std::any_of(condition_.keys.begin(), condition_.keys.end(),
                      [&key](const std::string& text) { return MayHaveText(key.bytes, text); });
      return;
    }
    if (condition_.kind == HostCondition::Kind::kRange) {
      is_met_ = is_met_ || IsInside(condition_.range, key.bytes);
      return;
    }
    if (condition_.kind == HostCondition::Kind::kClauses) {
      for (size_t i = 0; i < has_.size(); ++i)
        has_[i] = has_[i] || HasElement(condition_.clauses[i], key.bytes);
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
      case HostCondition::Kind::kHasText:
        return is_met_;
      case HostCondition::Kind::kPresent:
        return is_present_;
      case HostCondition::Kind::kAbsent:
        return !is_present_;
      case HostCondition::Kind::kHasAll:
        return is_present_ && found_ == condition_.keys.size();
      case HostCondition::Kind::kClauses:
        return ClausesHold(condition_.clauses,
                           [this](uint32_t i) { return condition_.clauses[i].MayHold(has_[i]); });
    }
    return false;
  }

 private:
  static bool HasElement(const HostClause& clause, std::string_view bytes) {
    if (std::binary_search(clause.keys.begin(), clause.keys.end(), bytes)) return true;
    return std::any_of(clause.ranges.begin(), clause.ranges.end(),
                       [bytes](const TermRange& range) { return IsInside(range, bytes); });
  }

  const HostCondition& condition_;
  std::vector<bool> has_;  // by clause: an element that it asks for
  bool is_present_ = false;
  bool is_met_ = false;
  size_t found_ = 0;  // of the keys; a row has each element once
};

// The rows for which a clause without children may hold, into `rows`, which is Nothing.
Status AddRowsOfClause(InvertedReader& reader, const std::string& key, const HostClause& clause,
                       RowSet& rows) {
  const CallControl none;
  const bool says_nothing = clause.negated && !clause.is_exact;
  if (!says_nothing) {
    const std::vector<std::string_view> terms(clause.keys.begin(), clause.keys.end());
    if (!terms.empty())
      PIGMENT_RETURN_IF_ERROR(
          reader.AddTerms(key, HostFieldType(HostKey::Kind::kElement), terms, none, rows));
    for (const TermRange& range : clause.ranges) {
      RowSet inside = RowSet::Nothing(rows.rows());
      PIGMENT_RETURN_IF_ERROR(
          reader.AddRange(key, HostFieldType(HostKey::Kind::kElement), range, none, inside));
      rows.Unite(inside);
    }
  }
  if (clause.negated) rows.Complement();
  return Status::Ok();
}

}  // namespace

HostFilter::HostFilter(std::vector<HostCondition> conditions) : conditions_(std::move(conditions)) {
  for (HostCondition& condition : conditions_) {
    if (condition.kind == HostCondition::Kind::kHasText)
      for (std::string& text : condition.keys) text = FoldAscii(text);
    std::sort(condition.keys.begin(), condition.keys.end());
    condition.keys.erase(std::unique(condition.keys.begin(), condition.keys.end()),
                         condition.keys.end());
  }
}

Status HostFilter::AddRows(InvertedReader& reader, const HostCondition& condition,
                           RowSet& rows) const {
  const CallControl none;  // a host ends the call by its pins
  const HostKey::Kind kind = KeyKindOf(condition.kind);
  const std::string key = HostFieldKey(condition.column, kind);
  const FieldType type = HostFieldType(kind);
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
      PIGMENT_RETURN_IF_ERROR(reader.AddField(HostFieldKey(condition.column, HostKey::Kind::kValue),
                                              HostFieldType(HostKey::Kind::kValue), rows));
      for (const std::string_view& term : terms) {
        RowSet some = RowSet::Nothing(rows.rows());
        PIGMENT_RETURN_IF_ERROR(reader.AddTerms(key, type, {&term, 1}, none, some));
        rows.Intersect(some);
        if (rows.empty()) return Status::Ok();
      }
      return Status::Ok();
    case HostCondition::Kind::kHasText:
      for (const std::string_view text : terms)
        PIGMENT_RETURN_IF_ERROR(AddRowsWithText(reader, condition.column, text, rows));
      return Status::Ok();
    case HostCondition::Kind::kClauses:
      break;
  }
  return Internal("a condition of no kind");
}

Status HostFilter::AddRowsWithText(InvertedReader& reader, uint32_t column, std::string_view text,
                                   RowSet& rows) const {
  const CallControl none;
  const std::string key = HostFieldKey(column, HostKey::Kind::kGrams);
  if (text.empty()) return reader.AddField(key, FieldType::kGrams, rows);
  if (text.size() < kGramBytes)
    return reader.AddRange(key, FieldType::kGrams, TermRange::BeginningWith(text), none, rows);
  const std::vector<std::string> grams = GramsOf(text);
  const std::vector<std::string_view> terms(grams.begin(), grams.end());
  RowSet some(rows.rows());
  PIGMENT_RETURN_IF_ERROR(reader.KeepRowsOfAll(key, FieldType::kGrams, terms, none, some));
  rows.Unite(some);
  return Status::Ok();
}

// From the first clause to the last, with the groups that are open on a stack; a group is left as
// soon as its answer is known.
Status HostFilter::KeepRowsOfClauses(InvertedReader& reader, const HostCondition& condition,
                                     Rows& found) const {
  struct Group {
    uint32_t clause;
    std::optional<RowSet> rows;  // of the children so far
  };
  const std::vector<HostClause>& clauses = condition.clauses;
  if (clauses.empty()) return Status::Ok();
  const std::string key = HostFieldKey(condition.column, HostKey::Kind::kElement);
  const uint32_t count = found.rows.rows();
  std::vector<Group> open;
  for (uint32_t i = 0;;) {
    const bool is_group = clauses[i].op != HostClause::Op::kHasAny;
    if (is_group &&
        (open.size() < kLevelsAlways || open.size() * (count / 8 + 1) < kOpenBytesMax)) {
      open.push_back({i, std::nullopt});
      ++i;
      continue;
    }
    RowSet rows = is_group ? RowSet(count) : RowSet::Nothing(count);
    if (is_group) {
      found.unindexed = count;
    } else {
      PIGMENT_RETURN_IF_ERROR(AddRowsOfClause(reader, key, clauses[i], rows));
    }
    i = clauses[i].end;
    while (true) {
      if (open.empty()) {
        found.rows.Intersect(rows);
        return Status::Ok();
      }
      Group& group = open.back();
      const bool is_and = clauses[group.clause].op == HostClause::Op::kAnd;
      if (!group.rows) {
        group.rows = std::move(rows);
      } else {
        is_and ? group.rows->Intersect(rows) : group.rows->Unite(rows);
      }
      const uint32_t end = clauses[group.clause].end;
      if (i != end && !(is_and ? group.rows->empty() : group.rows->is_everything())) break;
      i = end;
      rows = *std::move(group.rows);
      open.pop_back();
    }
  }
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
    if (condition.kind == HostCondition::Kind::kClauses) {
      PIGMENT_RETURN_IF_ERROR(KeepRowsOfClauses(*reader, condition, found));
    } else {
      RowSet rows = RowSet::Nothing(count);
      PIGMENT_RETURN_IF_ERROR(AddRows(*reader, condition, rows));
      found.rows.Intersect(rows);
    }
    if (found.rows.empty()) break;
  }
  PIGMENT_ASSIGN_OR_RETURN(const RowSet unindexed, reader->UnindexedRows());
  if (!unindexed.empty()) found.rows.Unite(unindexed);
  found.unindexed = std::max(found.unindexed, unindexed.count());
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

Result<SearchedRows> SearchedRowsOf(const Segment& segment, std::span<const uint8_t> deleted,
                                    const std::optional<HostFilter>& filter) {
  const uint32_t rows = segment.info().rows;
  SearchedRows live;
  if (!deleted.empty()) {
    live.mask.assign((size_t{rows} + 63) / 64, 0);
    const size_t bytes = std::min(deleted.size(), live.mask.size() * sizeof(uint64_t));
    if (bytes != 0) std::memcpy(live.mask.data(), deleted.data(), bytes);
    for (uint64_t& word : live.mask) word = ~word;
    // Bits behind the last row must not make a block look wanted.
    if (rows % 64 != 0) live.mask.back() &= ~uint64_t{0} >> (64 - rows % 64);
  }
  if (filter) {
    PIGMENT_ASSIGN_OR_RETURN(HostFilter::Rows found, filter->RowsOf(segment));
    live.unindexed = found.unindexed;
    const std::span<const uint64_t> words = found.rows.MutableWords();
    if (live.mask.empty()) {
      live.mask.assign(words.begin(), words.end());
    } else {
      for (size_t i = 0; i < words.size(); ++i) live.mask[i] &= words[i];
    }
  }
  live.count = live.mask.empty() ? rows : CountSetBits(live.mask);
  return live;
}

}  // namespace pigment
