// SPDX-License-Identifier: Apache-2.0
//
// The ways through the lists: one list, any of several, all, and row by row where few are allowed.

#include "engine/query/text_top.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

namespace pigment {
namespace {

// Rows are looked up one by one where so many postings are there for each that is allowed.
constexpr uint64_t kPostingsPerAllowedRow = 16;

// A sum that no sum with this score is below.
ScoreSum SumBelow(float score) {
  return static_cast<ScoreSum>(static_cast<double>(std::nextafterf(score, 0)) / kScoreUnit);
}

bool IsBetter(const TextHit& a, const TextHit& b) { return a.IsBetterThan(b); }

}  // namespace

void BestTexts::Offer(const TextHit& hit) {
  if (is_full()) {
    if (!hit.IsBetterThan(worst())) return;
    std::pop_heap(heap_.begin(), heap_.end(), IsBetter);
    heap_.back() = hit;
  } else {
    heap_.push_back(hit);
  }
  std::push_heap(heap_.begin(), heap_.end(), IsBetter);
  if (is_full()) floor_ = std::max(floor_, SumBelow(worst().score));
}

void BestTexts::ExpectAtLeast(ScoreSum sum) {
  floor_ = std::max(floor_, SumBelow(ScoreOfSum(sum)));
}

std::vector<TextHit> BestTexts::TakeSorted() {
  std::sort_heap(heap_.begin(), heap_.end(), IsBetter);
  return std::move(heap_);
}

bool TextScorer::MayEnter(ScoreSum bound, uint32_t first) const {
  if (!best_.is_full() || !best_.MayEnter(bound)) return best_.MayEnter(bound);
  const float score = ScoreOfSum(bound);
  const TextHit& worst = best_.worst();
  if (score != worst.score) return score > worst.score;
  // With equal scores the earlier ordinal wins. Those of a tail are in no order.
  if (rows_->first.source == RowPlace::kTail) return true;
  if (worst.place.source == rows_->first.source) return worst.place.row > rows_->first.row + first;
  return worst.ordinal > rows_->first_ordinal;
}

Status TextScorer::Offer(uint32_t row, ScoreSum sum) {
  const float score = ScoreOfSum(sum);
  const RowPlace place = rows_->PlaceOf(row);
  if (!rows_->allowed->Test(place.row)) return Status::Ok();
  TextHit hit{.score = score, .ordinal = 0, .place = place};
  if (place.source == RowPlace::kTail) {
    hit.ordinal = version_.tail.row(place.row).ordinal;
  } else {
    PIGMENT_ASSIGN_OR_RETURN(hit.ordinal, readers_.Of(place.source).ReadOrdinal(place.row));
  }
  if (best_.is_full() && !hit.IsBetterThan(best_.worst())) return Status::Ok();
  if (!filter_.passes_everything()) {
    PIGMENT_RETURN_IF_ERROR(control_.Check());
    PIGMENT_ASSIGN_OR_RETURN(const bool matches, filter_.Matches(place));
    if (!matches) return Status::Ok();
  }
  best_.Offer(hit);
  return Status::Ok();
}

TextScorer::List TextScorer::MakeList(const TextTerm& term) {
  List list{.cursor = term.cursor, .weight = term.weight, .bounds = {}};
  list.bounds.reserve(term.cursor->blocks());
  for (uint32_t block = 0; block < term.cursor->blocks(); ++block) {
    list.bounds.push_back(term.weight->Bound(term.cursor->impacts(block), shares_));
    list.bound = std::max(list.bound, list.bounds.back());
  }
  return list;
}

Status TextScorer::Search(TextRows& rows, std::span<const TextTerm> terms) {
  rows_ = &rows;
  std::vector<List> required, optional;
  uint64_t postings = 0;
  for (const TextTerm& term : terms) {
    (term.is_required ? required : optional).push_back(MakeList(term));
    postings += term.cursor->documents();
    counters_.text_blocks += term.cursor->blocks();
  }
  const uint64_t allowed = rows.allowed->count();
  Status status;
  if (allowed < rows.rows() && allowed * kPostingsPerAllowedRow < postings) {
    status = SearchAllowed(required, optional);
  } else if (!required.empty()) {
    status = SearchAll(required, optional);
  } else if (optional.size() == 1) {
    status = SearchOne(optional.front());
  } else {
    status = SearchAny(optional);
  }
  for (const TextTerm& term : terms) counters_.text_blocks_read += term.cursor->blocks_loaded();
  PIGMENT_RETURN_IF_ERROR(status);
  return rows.lengths->status();
}

// The blocks that promise most come first, so that most of the others are never decoded.
template <typename Visit>
Status TextScorer::VisitBestBlocks(List& list, const Visit& visit) {
  std::vector<std::pair<ScoreSum, uint32_t>> blocks;
  blocks.reserve(list.bounds.size());
  for (uint32_t block = 0; block < list.bounds.size(); ++block)
    blocks.emplace_back(list.bounds[block], ~block);  // of equal ones the first
  std::make_heap(blocks.begin(), blocks.end());
  while (!blocks.empty()) {
    std::pop_heap(blocks.begin(), blocks.end());
    const auto [bound, number] = blocks.back();
    blocks.pop_back();
    if (!best_.MayEnter(bound)) break;
    const uint32_t block = ~number;
    if (!MayEnter(bound, block == 0 ? 0 : list.cursor->last_row(block - 1) + 1)) continue;
    PIGMENT_RETURN_IF_ERROR(control_.Check());
    PIGMENT_RETURN_IF_ERROR(list.cursor->Load(block));
    const std::span<const uint32_t> rows = list.cursor->rows();
    const std::span<const uint32_t> frequencies = list.cursor->frequencies();
    for (size_t i = 0; i < rows.size(); ++i) {
      const ScoreSum sum = SumOf(list, rows[i], frequencies[i]);
      if (best_.MayEnter(sum)) PIGMENT_RETURN_IF_ERROR(visit(rows[i], sum));
    }
  }
  return Status::Ok();
}

Status TextScorer::SearchOne(List& list) {
  return VisitBestBlocks(list, [this](uint32_t row, ScoreSum sum) { return Offer(row, sum); });
}

Status TextScorer::ExpectBestOf(List& list) {
  std::vector<ScoreSum> best;  // a heap, the least on top
  return VisitBestBlocks(list, [&](uint32_t row, ScoreSum sum) {
    if (!rows_->allowed->Test(rows_->first.row + row)) return Status::Ok();
    best.push_back(sum);
    std::push_heap(best.begin(), best.end(), std::greater<>());
    if (best.size() > best_.k()) {
      std::pop_heap(best.begin(), best.end(), std::greater<>());
      best.pop_back();
    }
    if (best.size() == best_.k()) best_.ExpectAtLeast(best.front());
    return Status::Ok();
  });
}

Status TextScorer::SearchAny(std::vector<List>& lists) {
  sums_.assign(kWindowRows, 0);
  marks_.assign(kWindowRows / kMarksPerWord, 0);
  rows_of_window_.resize(kWindowRows);
  std::vector<List*> active;
  for (List& list : lists) active.push_back(&list);
  std::sort(active.begin(), active.end(),
            [](const List* a, const List* b) { return a->bound < b->bound; });
  // Where all rows pass, the list that promises most says how much there is to beat.
  const auto seed = std::find_if(active.rbegin(), active.rend(), [this](const List* list) {
    return list->cursor->documents() >= best_.k();
  });
  if (seed != active.rend() && filter_.passes_everything())
    PIGMENT_RETURN_IF_ERROR(ExpectBestOf(**seed));
  const uint32_t rows = rows_->rows();
  for (uint32_t begin = 0; begin < rows;) {
    std::erase_if(active, [&](List* list) {
      const PostingCursor& cursor = *list->cursor;
      while (list->block < cursor.blocks() && cursor.last_row(list->block) < begin) ++list->block;
      return list->block == cursor.blocks();
    });
    // Lists before `first` cannot lift a row together.
    size_t first = 0;
    ScoreSum before = 0;
    for (; first < active.size(); ++first) {
      before += active[first]->bound;
      if (MayEnter(before, begin)) break;
    }
    if (first == active.size()) return Status::Ok();
    // A window ends with a block, so that its bounds are tight, unless it were too short for what
    // it takes to begin one.
    uint32_t end = begin + kWindowRows;
    for (size_t i = first; i < active.size(); ++i)
      end = std::min(end, active[i]->cursor->last_row(active[i]->block) + 1);
    const auto least =
        static_cast<uint32_t>(std::min<size_t>(active.size() * kWindowRowsPerList, kWindowRows));
    end = std::min(std::max(end, begin + least), rows);
    if (MayEnter(BoundWindow(active, end), begin))
      PIGMENT_RETURN_IF_ERROR(SearchWindow(active, begin, end));
    begin = end;
  }
  return Status::Ok();
}

ScoreSum TextScorer::BoundWindow(std::span<List* const> lists, uint32_t end) {
  ScoreSum bound = 0;
  for (List* list : lists) {
    list->window_bound = 0;
    for (uint32_t block = list->block; block < list->bounds.size(); ++block) {
      if (block != list->block && list->cursor->last_row(block - 1) + 1 >= end) break;
      list->window_bound = std::max(list->window_bound, list->bounds[block]);
    }
    bound += list->window_bound;
  }
  return bound;
}

uint32_t TextScorer::PostingsBetween(const List& list, uint32_t begin, uint32_t end) const {
  return static_cast<uint32_t>(uint64_t{list.cursor->documents()} * (end - begin) / rows_->rows());
}

template <bool kMarks>
Status TextScorer::AddToWindow(List& list, uint32_t begin, uint32_t end) {
  PostingCursor& cursor = *list.cursor;
  for (uint32_t block = list.block; block < cursor.blocks(); ++block) {
    if (block != list.block && cursor.last_row(block - 1) + 1 >= end) break;
    PIGMENT_RETURN_IF_ERROR(control_.Check());
    PIGMENT_RETURN_IF_ERROR(cursor.Load(block));
    const std::span<const uint32_t> rows = cursor.rows();
    const auto place_of = [&](size_t from, uint32_t row) {
      const auto first = rows.begin() + static_cast<ptrdiff_t>(from);
      return static_cast<size_t>(std::lower_bound(first, rows.end(), row) - rows.begin());
    };
    size_t first = block == list.place_block ? list.place : 0;
    if (first < rows.size() && rows[first] < begin) first = place_of(first, begin);
    const size_t last = rows.back() < end ? rows.size() : place_of(first, end);
    const std::span<const uint32_t> some = rows.subspan(first, last - first);
    rows_->lengths->Of(some, lengths_.data());
    std::copy_n(cursor.frequencies().data() + first, some.size(), frequencies_.begin());
    WorthsOf(*list.weight, shares_, frequencies_.data(), lengths_.data(), some.size(),
             worths_.data());
    for (size_t i = 0; i < some.size(); ++i)
      sums_[some[i] - begin] += static_cast<ScoreSum>(worths_[i]);
    if constexpr (kMarks) {
      for (const uint32_t row : some)
        marks_[(row - begin) / kMarksPerWord] |= uint64_t{1} << ((row - begin) % kMarksPerWord);
    }
    list.place_block = block;
    list.place = static_cast<uint32_t>(last);
  }
  return Status::Ok();
}

Status TextScorer::SearchWindow(std::vector<List*>& lists, uint32_t begin, uint32_t end) {
  std::vector<List*> by_bound = lists;
  std::sort(by_bound.begin(), by_bound.end(),
            [](const List* a, const List* b) { return a->window_bound < b->window_bound; });
  size_t first = 0;
  ScoreSum before = 0;  // of the lists before `first`
  while (first < by_bound.size() && !MayEnter(before + by_bound[first]->window_bound, begin))
    before += by_bound[first++]->window_bound;
  uint64_t postings = 0;
  for (size_t i = first; i < by_bound.size(); ++i)
    postings += PostingsBetween(*by_bound[i], begin, end);
  // Of many rows that have something those are marked whose sums are enough, once these are there;
  // not where nothing is enough.
  const bool is_dense = postings * kRowsPerMark > end - begin && best_.floor() > before;
  for (size_t i = first; i < by_bound.size(); ++i) {
    PIGMENT_RETURN_IF_ERROR(is_dense ? AddToWindow<false>(*by_bound[i], begin, end)
                                     : AddToWindow<true>(*by_bound[i], begin, end));
  }
  // Of the others those of the highest bounds come first: they leave the fewest candidates. With
  // many lists before them the first leave nearly all, and are added before any are taken.
  if (first > kListsWithCandidates) {
    const size_t marked = is_dense ? end - begin : CountMarks(begin, end);
    const size_t last =
        std::max(first - std::min(first, kListsWithoutCandidates), kListsWithCandidates);
    while (first > last && IsLessToAdd(*by_bound[first - 1], marked, begin, end)) {
      before -= by_bound[--first]->window_bound;
      PIGMENT_RETURN_IF_ERROR(AddToWindow<false>(*by_bound[first], begin, end));
    }
  }
  if (is_dense) MarkAtLeast(sums_.data(), end - begin, best_.floor() - before, marks_.data());
  TakeCandidates(begin, end, before);
  while (first-- > 0 && !candidates_.empty()) {
    before -= by_bound[first]->window_bound;
    if (IsLessToAdd(*by_bound[first], candidates_.size(), begin, end)) {
      PIGMENT_RETURN_IF_ERROR(AddToWindow<false>(*by_bound[first], begin, end));
      KeepCandidates(begin, before);
    } else {
      PIGMENT_RETURN_IF_ERROR(LookUp(*by_bound[first], begin, before));
    }
  }
  for (const uint32_t row : candidates_) {
    const ScoreSum sum = sums_[row - begin];
    if (best_.MayEnter(sum)) PIGMENT_RETURN_IF_ERROR(Offer(row, sum));
  }
  std::fill_n(sums_.begin(), end - begin, 0);
  std::fill_n(marks_.begin(), (end - begin + kMarksPerWord - 1) / kMarksPerWord, 0);
  return Status::Ok();
}

size_t TextScorer::CountMarks(uint32_t begin, uint32_t end) const {
  size_t count = 0;
  for (size_t word = 0; word * kMarksPerWord < end - begin; ++word)
    count += static_cast<size_t>(std::popcount(marks_[word]));
  return count;
}

void TextScorer::TakeCandidates(uint32_t begin, uint32_t end, ScoreSum rest) {
  candidates_ = rows_of_window_;
  size_t left = 0;
  for (size_t word = 0; word * kMarksPerWord < end - begin; ++word) {
    for (uint64_t bits = marks_[word]; bits != 0; bits &= bits - 1) {
      const auto place =
          static_cast<uint32_t>(word * kMarksPerWord + static_cast<size_t>(std::countr_zero(bits)));
      // Without a branch, which nobody foresees; here and in KeepCandidates.
      candidates_[left] = begin + place;
      left += best_.MayEnter(sums_[place] + rest) ? 1 : 0;
    }
  }
  candidates_ = candidates_.first(left);
}

void TextScorer::KeepCandidates(uint32_t begin, ScoreSum rest) {
  size_t left = 0;
  for (const uint32_t row : candidates_) {
    candidates_[left] = row;
    left += best_.MayEnter(sums_[row - begin] + rest) ? 1 : 0;
  }
  candidates_ = candidates_.first(left);
}

Status TextScorer::LookUp(List& list, uint32_t begin, ScoreSum rest) {
  PostingCursor& cursor = *list.cursor;
  size_t left = 0;
  for (const uint32_t row : candidates_) {
    PIGMENT_RETURN_IF_ERROR(paced_.Step());
    ScoreSum& sum = sums_[row - begin];
    const uint32_t block = cursor.SeekBlock(row);
    if (block != cursor.blocks()) {
      // What the block promises spares most of them a look into it.
      if (!best_.MayEnter(sum + list.bounds[block] + rest)) continue;
      PIGMENT_ASSIGN_OR_RETURN(const uint32_t frequency, cursor.FrequencyOf(row));
      if (frequency != 0) sum += SumOf(list, row, frequency);
    }
    if (best_.MayEnter(sum + rest)) candidates_[left++] = row;
  }
  candidates_ = candidates_.first(left);
  return Status::Ok();
}

// In step with the shortest list, whose blocks are passed by where they promise too little.
Status TextScorer::SearchAll(std::vector<List>& required, std::vector<List>& optional) {
  std::sort(required.begin(), required.end(), [](const List& a, const List& b) {
    return a.cursor->documents() < b.cursor->documents();
  });
  List& lead = required.front();
  ScoreSum others = 0;
  for (const List& list : required) others += &list != &lead ? list.bound : 0;
  for (const List& list : optional) others += list.bound;
  uint32_t checked_block = lead.cursor->blocks();
  const uint32_t rows = rows_->rows();
  for (uint32_t row = 0; row < rows;) {
    lead.block = lead.cursor->BlockOf(row, lead.block);
    if (lead.block == lead.cursor->blocks()) break;
    if (lead.block != checked_block) {
      checked_block = lead.block;
      PIGMENT_RETURN_IF_ERROR(control_.Check());
      if (!MayEnter(lead.bounds[lead.block] + others, row)) {
        row = lead.cursor->last_row(lead.block) + 1;
        continue;
      }
    }
    PIGMENT_ASSIGN_OR_RETURN(row, lead.cursor->SeekRow(row));
    if (row >= rows) break;
    ScoreSum sum = 0;
    uint32_t next = row;
    for (List& list : required) {
      PIGMENT_RETURN_IF_ERROR(paced_.Step());
      PIGMENT_ASSIGN_OR_RETURN(next, list.cursor->SeekRow(row));
      if (next != row) break;
      PIGMENT_ASSIGN_OR_RETURN(const uint32_t frequency, list.cursor->FrequencyOf(row));
      sum += SumOf(list, row, frequency);
    }
    if (next != row) {
      row = next;
      continue;
    }
    for (List& list : optional) {
      PIGMENT_RETURN_IF_ERROR(paced_.Step());
      PIGMENT_ASSIGN_OR_RETURN(const uint32_t frequency, list.cursor->FrequencyOf(row));
      if (frequency != 0) sum += SumOf(list, row, frequency);
    }
    if (best_.MayEnter(sum)) PIGMENT_RETURN_IF_ERROR(Offer(row, sum));
    ++row;
  }
  return Status::Ok();
}

Status TextScorer::SearchAllowed(std::vector<List>& required, std::vector<List>& optional) {
  const uint32_t first = rows_->first.row;
  for (uint32_t place = rows_->allowed->Next(first);
       place < rows_->allowed->rows() && place - first < rows_->rows();
       place = rows_->allowed->Next(place + 1)) {
    PIGMENT_RETURN_IF_ERROR(paced_.Step());
    const uint32_t row = place - first;
    ScoreSum sum = 0;
    bool matches = !required.empty();
    for (size_t i = 0; i < required.size() && matches; ++i) {
      PIGMENT_ASSIGN_OR_RETURN(const uint32_t frequency, required[i].cursor->FrequencyOf(row));
      matches = frequency != 0;
      if (matches) sum += SumOf(required[i], row, frequency);
    }
    if (!required.empty() && !matches) continue;
    for (List& list : optional) {
      PIGMENT_RETURN_IF_ERROR(paced_.Step());
      PIGMENT_ASSIGN_OR_RETURN(const uint32_t frequency, list.cursor->FrequencyOf(row));
      if (frequency == 0) continue;
      matches = true;
      sum += SumOf(list, row, frequency);
    }
    if (matches && best_.MayEnter(sum)) PIGMENT_RETURN_IF_ERROR(Offer(row, sum));
  }
  return Status::Ok();
}

}  // namespace pigment
