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
  nothing.words_.assign((size_t{rows} + 63) / 64, 0);
  return nothing;
}

uint64_t RowSet::Word(size_t word) const {
  if (!words_.empty()) return words_[word];
  const uint64_t left = rows_ - word * 64;
  return left < 64 ? (uint64_t{1} << left) - 1 : ~uint64_t{0};
}

std::span<uint64_t> RowSet::MutableWords() {
  if (words_.empty()) {
    words_.assign((size_t{rows_} + 63) / 64, ~uint64_t{0});
    if (rows_ % 64 != 0) words_.back() = (uint64_t{1} << (rows_ % 64)) - 1;
  }
  return words_;
}

void RowSet::Recount() { count_ = CountSetBits(words_); }

void RowSet::Set(uint32_t row) {
  words_[row / 64] |= uint64_t{1} << (row % 64);
  ++count_;
}

void RowSet::Clear(uint32_t row) {
  MutableWords()[row / 64] &= ~(uint64_t{1} << (row % 64));
  --count_;
}

uint32_t RowSet::Next(uint32_t from) const {
  if (words_.empty()) return std::min(from, rows_);
  return NextSetBit(words_, from, rows_);
}

void RowSet::Intersect(const RowSet& other) {
  if (other.words_.empty()) return;
  if (words_.empty()) {
    *this = other;
    return;
  }
  for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  Recount();
}

void RowSet::Unite(const RowSet& other) {
  if (words_.empty()) return;
  if (other.words_.empty()) {
    *this = other;
    return;
  }
  for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  Recount();
}

void RowSet::Subtract(const RowSet& other) {
  if (other.words_.empty()) {
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
