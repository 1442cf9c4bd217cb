// SPDX-License-Identifier: Apache-2.0
//
// Sets of rows, word by word.

#include "engine/inverted/row_set.h"

#include <algorithm>
#include <utility>

#include "engine/base/bits.h"

namespace pigment {

RowSet RowSet::Nothing(uint32_t rows) {
  RowSet nothing(rows);
  nothing.count_ = 0;
  nothing.words_ = std::make_shared<uint64_t[]>(nothing.word_count());
  return nothing;
}

uint64_t RowSet::Word(size_t word) const {
  if (words_ != nullptr) return words_[word];
  const uint64_t left = rows_ - word * 64;
  return left < 64 ? (uint64_t{1} << left) - 1 : ~uint64_t{0};
}

std::span<uint64_t> RowSet::MutableWords() {
  if (words_ == nullptr || words_.use_count() != 1) {
    auto own = std::make_shared_for_overwrite<uint64_t[]>(word_count());
    for (size_t word = 0; word < word_count(); ++word) own[word] = Word(word);
    words_ = std::move(own);
  }
  return {words_.get(), word_count()};
}

void RowSet::Recount() { count_ = words_ == nullptr ? rows_ : CountSetBits(words()); }

void RowSet::Set(uint32_t row) {
  MutableWords()[row / 64] |= uint64_t{1} << (row % 64);
  ++count_;
}

void RowSet::Clear(uint32_t row) {
  MutableWords()[row / 64] &= ~(uint64_t{1} << (row % 64));
  --count_;
}

uint32_t RowSet::Next(uint32_t from) const {
  if (words_ == nullptr) return std::min(from, rows_);
  return NextSetBit(words(), from, rows_);
}

void RowSet::Intersect(const RowSet& other) {
  if (other.words_ == nullptr) return;
  if (words_ == nullptr) {
    *this = other;
    return;
  }
  const std::span<uint64_t> words = MutableWords();
  for (size_t i = 0; i < words.size(); ++i) words[i] &= other.words_[i];
  Recount();
}

void RowSet::Unite(const RowSet& other) {
  if (words_ == nullptr) return;
  if (other.words_ == nullptr) {
    *this = other;
    return;
  }
  const std::span<uint64_t> words = MutableWords();
  for (size_t i = 0; i < words.size(); ++i) words[i] |= other.words_[i];
  Recount();
}

void RowSet::Subtract(const RowSet& other) {
  if (other.words_ == nullptr) {
    *this = Nothing(rows_);
    return;
  }
  const std::span<uint64_t> words = MutableWords();
  for (size_t i = 0; i < words.size(); ++i) words[i] &= ~other.words_[i];
  Recount();
}

void RowSet::Complement() {
  RowSet all(rows_);
  all.Subtract(*this);
  *this = std::move(all);
}

}  // namespace pigment
