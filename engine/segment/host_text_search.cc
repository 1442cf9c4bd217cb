// SPDX-License-Identifier: Apache-2.0
//
// Counting, and what passes look at.

#include "engine/segment/host_text_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/inverted/posting_list.h"
#include "engine/segment/host_keys.h"
#include "engine/segment/row_window.h"

namespace pigment {

Status HostTextSearch::ReadPendingText(std::span<const std::byte> keys) {
  const HostTextQuery& query = *query_;
  PendingText& text = pending_;
  const std::vector<std::string>& prefixes = query.prefixes();
  const std::span<const size_t> words = query.of_words(), wide = query.of_prefixes();
  text.counts.assign(prefixes.size(), 0);
  text.length = 0;
  text.is_there = false;
  size_t next = 0;  // in `words`, which ascend as elements do
  bool is_sound = true;
  PIGMENT_RETURN_IF_ERROR(
      VisitHostElements(keys, column(), &text.is_there, [&](std::string_view element) {
        if (element.starts_with(TextLengthPrefix())) {
          const auto read = ReadTextLength(element.substr(TextLengthPrefix().size()));
          is_sound = is_sound && read.has_value();
          if (!read) return;
          text.analyzer_mark = read->analyzer_mark;
          text.length = read->length;
          return;
        }
        const auto add = [&](size_t clause) {
          if (!element.starts_with(prefixes[clause])) return false;
          const auto read = query.CountIn(clause, element.substr(prefixes[clause].size()));
          is_sound = is_sound && read.has_value();
          if (read) text.counts[clause] = AddTextCounts(text.counts[clause], *read);
          return true;
        };
        for (const size_t clause : wide) add(clause);
        while (next < words.size() && prefixes[words[next]] < element)
          if (add(words[next++])) return;
      }));
  for (const uint32_t count : text.counts) is_sound = is_sound && (count == 0 || text.length != 0);
  if (is_sound) return Status::Ok();
  return DataLoss(Detail::kMiscounted, "", -1, "the words of a pending row are no words");
}

// ---- Counting

Status HostTextSearch::CheckMark(uint32_t analyzer_mark) const {
  if (analyzer_mark == query_->analyzer_mark()) return Status::Ok();
  return FailedPrecondition(Detail::kNone,
                            "the words of some texts were found by another version of the analyzer "
                            "or of ICU: the index must be made anew");
}

Status HostTextSearch::ScanUnindexed(const SegmentSource& source,
                                     const InvertedReader::Group& group) {
  return FailedPrecondition(
      Detail::kNone,
      fmt::format("rows {} to {} of segment {} cannot be ranked: there was not the memory for "
                  "their words when it was built",
                  group.first, group.first + group.rows, source.segment->info().segment));
}

Result<HostTextCounts> HostTextSearch::Count() {
  HostTextCounts counts;
  counts.documents.resize(query_->clauses().size());
  for (const SegmentSource& source : segments())
    PIGMENT_RETURN_IF_ERROR(CountSegment(source, counts));
  PIGMENT_RETURN_IF_ERROR(CountPending(counts));
  return counts;
}

Status HostTextSearch::CountSegment(const SegmentSource& source, HostTextCounts& counts) {
  return VisitGroups(
      source, [&](InvertedReader& reader, const InvertedReader::Group& group) -> Status {
        const RowMask live = LiveOf(source, group);
        const auto count_list = [&](std::span<const std::byte> list, uint64_t* rows) -> Status {
          PostingsHead head;
          if (!ReadPostingsHead(list, &head) ||
              (!live.empty() && !CountPostings(list, live, group.rows, &head.rows)))
            return Damaged(source, "a list of a word");
          *rows = head.rows;
          return Status::Ok();
        };
        PIGMENT_RETURN_IF_ERROR(
            VisitLists(reader, group, TextLengthPrefix(),
                       [&](std::string_view rest, std::span<const std::byte> list) -> Status {
                         const std::optional<TextLength> length = ReadTextLength(rest);
                         if (!length) return Damaged(source, "a length of texts");
                         PIGMENT_RETURN_IF_ERROR(CheckMark(length->analyzer_mark));
                         uint64_t rows = 0;
                         PIGMENT_RETURN_IF_ERROR(count_list(list, &rows));
                         counts.all.documents += rows;
                         counts.all.words += rows * length->length;
                         return Status::Ok();
                       }));
        for (const size_t clause : query_->of_words()) {
          PIGMENT_RETURN_IF_ERROR(
              VisitLists(reader, group, query_->prefixes()[clause],
                         [&](std::string_view, std::span<const std::byte> list) -> Status {
                           uint64_t rows = 0;
                           PIGMENT_RETURN_IF_ERROR(count_list(list, &rows));
                           counts.documents[clause] += rows;
                           return Status::Ok();
                         }));
        }
        for (const size_t clause : query_->of_prefixes()) {
          room_.assign((size_t{group.rows} + 63) / 64, 0);
          PIGMENT_RETURN_IF_ERROR(
              VisitLists(reader, group, query_->prefixes()[clause],
                         [&](std::string_view, std::span<const std::byte> list) -> Status {
                           return ApplyPostings(list, PostingsUse::kUnite, room_, group.rows)
                                      ? Status::Ok()
                                      : Damaged(source, "a list of a word");
                         }));
          for (size_t i = 0; i < room_.size(); ++i) {
            counts.documents[clause] +=
                static_cast<uint64_t>(std::popcount(live.empty() ? room_[i] : room_[i] & live[i]));
          }
        }
        return Status::Ok();
      });
}

Status HostTextSearch::CountPending(HostTextCounts& counts) {
  const PendingText& text = pending_;
  return VisitPending([&](uint64_t, std::span<const std::byte> keys) -> Status {
    PIGMENT_RETURN_IF_ERROR(ReadPendingText(keys));
    if (text.length == 0) return Status::Ok();
    PIGMENT_RETURN_IF_ERROR(CheckMark(text.analyzer_mark));
    ++counts.all.documents;
    counts.all.words += text.length;
    for (size_t clause = 0; clause < text.counts.size(); ++clause)
      counts.documents[clause] += text.counts[clause] != 0;
    return Status::Ok();
  });
}

// ---- Passes

HostTextScorer& HostTextSearch::scorer() {
  if (!scorer_) scorer_.emplace(query_->Scorer());
  return *scorer_;
}

bool HostTextSearch::Widen() {
  const bool was_narrow = only_with_words_;
  only_with_words_ = false;
  return was_narrow;
}

Status HostTextSearch::ScanPendingRow(uint64_t row_pointer, std::span<const std::byte> keys) {
  PIGMENT_RETURN_IF_ERROR(ReadPendingText(keys));
  const ScoreSum sum = ScoreOfCounts(*query_, scorer(), pending_.length,
                                     [this](size_t i) { return pending_.counts[i]; });
  rows_scored_ += sum != 0;
  if (sum != 0 || !only_with_words_)
    Offer({pending_.is_there ? -sum : HostRankHit::kNull, row_pointer});
  return Status::Ok();
}

Status HostTextSearch::ScanSegment(const SegmentSource& source) {
  std::optional<RowSet> has_text;
  return VisitGroups(source,
                     [&](InvertedReader& reader, const InvertedReader::Group& group) -> Status {
                       if (!only_with_words_ && !has_text) {
                         PIGMENT_ASSIGN_OR_RETURN(RowSet rows, RowsWithValue(source, reader));
                         has_text.emplace(std::move(rows));
                       }
                       PIGMENT_RETURN_IF_ERROR(SumGroup(source, reader, group));
                       return OfferGroup(source, group, has_text ? &*has_text : nullptr);
                     });
}

Status HostTextSearch::ReadRuns(InvertedReader& reader, const InvertedReader::Group& group) {
  const std::vector<std::string>& prefixes = query_->prefixes();
  rows_.clear();
  runs_.clear();
  for (size_t clause = 0; clause < prefixes.size(); ++clause) {
    const size_t first = runs_.size();
    PIGMENT_RETURN_IF_ERROR(VisitLists(
        reader, group, prefixes[clause],
        [&](std::string_view rest, std::span<const std::byte> list) -> Status {
          const std::optional<uint32_t> count = query_->CountIn(clause, rest);
          const size_t begin = rows_.size();
          if (!count || !ReadPostings(list, room_, group.rows, rows_))
            return DataLoss(Detail::kMiscounted, "", -1, "a list of a word is damaged");
          runs_.push_back({.clause = clause, .count = *count, .begin = begin, .end = rows_.size()});
          return Status::Ok();
        }));
    if (query_->clauses()[clause].is_prefix && first != runs_.size()) UniteRuns(first, group.rows);
  }
  return Status::Ok();
}

void HostTextSearch::UniteRuns(size_t first, uint32_t rows) {
  const size_t clause = runs_[first].clause, begin = runs_[first].begin;
  times_.assign(rows, 0);
  for (size_t i = first; i < runs_.size(); ++i)
    for (size_t at = runs_[i].begin; at < runs_[i].end; ++at)
      times_[rows_[at]] = AddTextCounts(times_[rows_[at]], runs_[i].count);
  runs_.resize(first);
  rows_.resize(begin);
  for (uint32_t row = 0; row < rows; ++row)
    if (times_[row] != 0) rows_.push_back(row);
  std::stable_sort(rows_.begin() + static_cast<ptrdiff_t>(begin), rows_.end(),
                   [this](uint32_t a, uint32_t b) { return times_[a] < times_[b]; });
  for (size_t at = begin; at < rows_.size(); ++at) {
    const uint32_t count = times_[rows_[at]];
    if (at == begin || runs_.back().count != count)
      runs_.push_back({.clause = clause, .count = count, .begin = at, .end = at});
    ++runs_.back().end;
  }
}

void HostTextSearch::KeepWhatIsRequired(uint32_t rows) {
  const HostTextQuery& query = *query_;
  if (query.required() == 0) return;
  times_.assign(rows, 0);
  for (const Run& run : runs_) {
    if (!query.clauses()[run.clause].is_required) continue;
    for (size_t at = run.begin; at < run.end; ++at) ++times_[rows_[at]];
  }
  std::erase_if(found_, [&](uint32_t row) {
    if (times_[row] == query.required()) return false;
    sums_[row] = 0;
    return true;
  });
}

Status HostTextSearch::SumGroup(const SegmentSource& source, InvertedReader& reader,
                                const InvertedReader::Group& group) {
  for (const uint32_t row : found_) sums_[row] = 0;
  found_.clear();
  if (sums_.size() < group.rows) sums_.resize(group.rows);
  room_.resize((size_t{group.rows} + 63) / 64);
  PIGMENT_RETURN_IF_ERROR(ReadRuns(reader, group));
  if (rows_.empty()) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(const std::span<const uint32_t> lengths,
                           NumbersOf(source, reader, group, TextLengthPrefix(),
                                     [](std::string_view rest) -> std::optional<uint32_t> {
                                       const std::optional<TextLength> length =
                                           ReadTextLength(rest);
                                       return length ? std::optional(length->length) : std::nullopt;
                                     }));
  const RowMask live = LiveOf(source, group);
  HostTextScorer& scorer = this->scorer();
  for (const Run& run : runs_) {
    for (size_t i = run.begin; i < run.end; ++i) {
      const uint32_t row = rows_[i];
      if (!IsAllowed(live, row)) continue;
      if (lengths[row] == 0) return Damaged(source, "a row has words and no length");
      const ScoreSum more = scorer.Of(run.clause, run.count, lengths[row]);
      if (sums_[row] == 0 && more != 0) found_.push_back(row);
      sums_[row] += more;
    }
  }
  KeepWhatIsRequired(group.rows);
  rows_scored_ += found_.size();
  return Status::Ok();
}

Status HostTextSearch::OfferGroup(const SegmentSource& source, const InvertedReader::Group& group,
                                  const RowSet* has_text) {
  PointerWindow pointers(source.segment);
  const auto offer = [&](uint32_t row, int64_t rank) {
    return OfferRow(pointers, group.first + row, rank);
  };
  // Ascending, because row pointers are read a block at a time.
  if (only_with_words_ && found_.size() * kSortedOfRows < group.rows) {
    std::sort(found_.begin(), found_.end());
    for (const uint32_t row : found_) PIGMENT_RETURN_IF_ERROR(offer(row, -sums_[row]));
    return Status::Ok();
  }
  if (only_with_words_) {
    for (uint32_t row = 0; row < group.rows; ++row)
      if (sums_[row] != 0) PIGMENT_RETURN_IF_ERROR(offer(row, -sums_[row]));
    return Status::Ok();
  }
  const RowMask live = LiveOf(source, group);
  for (uint32_t row = 0; row < group.rows; ++row) {
    if (!IsAllowed(live, row)) continue;
    const bool is_there = has_text->Test(group.first + row);
    PIGMENT_RETURN_IF_ERROR(offer(row, is_there ? -sums_[row] : HostRankHit::kNull));
  }
  return Status::Ok();
}

}  // namespace pigment
