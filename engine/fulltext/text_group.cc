// SPDX-License-Identifier: Apache-2.0
//
// Occurrences are collected in the order of the text, then sorted by term: positions need not be
// kept, they are where an occurrence stands.

#include "engine/fulltext/text_group.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"

namespace pigment {
namespace {

constexpr uint32_t kNoTerm = 0xFFFFFFFF;
// A word of the table and what Finish takes for its term.
constexpr uint64_t kWordBytes = 192;
// An occurrence: term, row and place, and the encoded bytes.
constexpr uint64_t kOccurrenceBytes = 20;
constexpr uint64_t kRowBytes = 12;
constexpr uint64_t kChargeBytes = uint64_t{64} << 10;
constexpr uint64_t kOccurrencesMax = std::numeric_limits<uint32_t>::max() - 1;

}  // namespace

void TextGroup::Rebase(uint64_t terms_before, uint64_t postings_before) {
  for (TextTermBlock& block : blocks) {
    block.terms_begin += terms_before;
    block.postings_begin += postings_before;
  }
}

uint32_t TextGroupBuilder::Numbering::Of(std::string_view text, bool* is_new) {
  if (texts_.size() * 2 >= slots_.size()) Grow();
  const uint64_t hash = Xxh3_64(AsBytes(text), seed_);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const auto number = static_cast<uint32_t>(slots_[slot]) - 1;
    if (slots_[slot] >> 32 == hash >> 32 && texts_[number] == text) {
      *is_new = false;
      return number;
    }
  }
  texts_.emplace_back(text);
  slots_[slot] = hash >> 32 << 32 | texts_.size();
  *is_new = true;
  return count() - 1;
}

void TextGroupBuilder::Numbering::Grow() {
  std::vector<uint64_t> larger(slots_.size() * 2, 0);
  const size_t mask = larger.size() - 1;
  for (uint32_t number = 0; number < count(); ++number) {
    const uint64_t hash = Xxh3_64(AsBytes(texts_[number]), seed_);
    size_t slot = hash & mask;
    while (larger[slot] != 0) slot = (slot + 1) & mask;
    larger[slot] = hash >> 32 << 32 | (uint64_t{number} + 1);
  }
  slots_ = std::move(larger);
}

TextGroupBuilder::TextGroupBuilder(const Analyzer& analyzer, MemoryBudget* budget, uint64_t seed)
    : reader_(analyzer), reservation_(budget), words_(seed), terms_(seed) {}

Status TextGroupBuilder::Charge(uint64_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= charged_) return Status::Ok();
  const uint64_t more = std::max(kChargeBytes, bytes_ - charged_);
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow(more));
  charged_ += more;
  return Status::Ok();
}

Status TextGroupBuilder::AddWord(std::string_view word) {
  if (occurrences_.size() >= kOccurrencesMax) {
    return ResourceExhausted(Detail::kMemory, "a row group has more words than can be numbered");
  }
  // A word is a term's by its first bytes; so many are enough to tell it from others.
  word = word.substr(0, 2 * kTermBytesMax);
  bool is_new = false;
  const uint32_t number = words_.Of(word, &is_new);
  uint64_t bytes = kOccurrenceBytes;
  if (is_new) {
    PIGMENT_RETURN_IF_ERROR(reader_.TermOf(word, term_));
    bool is_new_term = false;
    terms_of_words_.push_back(term_.empty() ? kNoTerm : terms_.Of(term_, &is_new_term));
    bytes += kWordBytes + word.size() + term_.size();
  }
  const uint32_t term = terms_of_words_[number];
  occurrences_.push_back(term);
  if (term != kNoTerm) ++lengths_.back();
  return Charge(bytes);
}

Status TextGroupBuilder::Add(const std::string_view* document) {
  lengths_.push_back(0);
  PIGMENT_RETURN_IF_ERROR(Charge(kRowBytes));
  if (document != nullptr) {
    PIGMENT_RETURN_IF_ERROR(reader_.VisitWords(*document, [&](const Word& word) {
      return AddWord(document->substr(word.begin, word.end - word.begin));
    }));
  }
  row_ends_.push_back(static_cast<uint32_t>(occurrences_.size()));
  return Status::Ok();
}

std::vector<TextGroupBuilder::Place> TextGroupBuilder::SortOccurrences(
    std::vector<uint32_t>& begins) {
  begins.assign(size_t{terms_.count()} + 1, 0);
  for (const uint32_t term : occurrences_) {
    if (term != kNoTerm) ++begins[term + 1];
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<uint32_t> next(begins.begin(), begins.end() - 1);
  std::vector<Place> places(begins.back());
  uint32_t at = 0;
  for (uint32_t row = 0; row < lengths_.size(); ++row) {
    for (const uint32_t begin = at; at < row_ends_[row]; ++at) {
      if (occurrences_[at] != kNoTerm) places[next[occurrences_[at]]++] = {row, at - begin};
    }
  }
  std::vector<uint32_t>().swap(occurrences_);
  return places;
}

EncodedSize TextGroupBuilder::AppendList(std::span<const Place> places, TextGroup& group,
                                         uint32_t* documents) {
  rows_.clear();
  frequencies_.clear();
  positions_.clear();
  for (const Place& place : places) {
    if (rows_.empty() || rows_.back() != place.row) {
      rows_.push_back(place.row);
      frequencies_.push_back(0);
    }
    ++frequencies_.back();
    positions_.push_back(place.position);
  }
  *documents = static_cast<uint32_t>(rows_.size());
  return AppendTextPostings({rows_, frequencies_, positions_, group.lengths}, group.postings);
}

TextGroup TextGroupBuilder::Finish() {
  std::vector<uint32_t> begins;
  const std::vector<Place> places = SortOccurrences(begins);
  std::vector<uint32_t> order(terms_.count());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [this](uint32_t a, uint32_t b) { return terms_.text(a) < terms_.text(b); });
  TextGroup group;
  group.lengths = std::move(lengths_);
  for (const uint32_t length : group.lengths) {
    group.documents += length != 0;
    group.words += length;
  }
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const uint32_t term = order[rank];
    const bool is_first = rank % kTextTermsPerBlock == 0;
    if (is_first) {
      group.blocks.push_back({.terms_begin = group.terms.size(),
                              .postings_begin = group.postings.size(),
                              .terms_bytes = 0,
                              .terms = 0});
    }
    TextList list;
    const EncodedSize size =
        AppendList(std::span(places).subspan(begins[term], begins[term + 1] - begins[term]), group,
                   &list.documents);
    list.postings_bytes = size.postings_bytes;
    list.positions_bytes = size.positions_bytes;
    AppendTextTerm(is_first ? std::string_view() : terms_.text(order[rank - 1]), terms_.text(term),
                   list, group.terms);
    TextTermBlock& block = group.blocks.back();
    block.terms_bytes = static_cast<uint32_t>(group.terms.size() - block.terms_begin);
    ++block.terms;
  }
  return group;
}

}  // namespace pigment
