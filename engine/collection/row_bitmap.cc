// SPDX-License-Identifier: Apache-2.0
//
// RowBitmap: see the header.

#include "engine/collection/row_bitmap.h"

#include <algorithm>

#include "engine/base/bits.h"

namespace pigment {

uint64_t RowBitmap::Count() const {
  uint64_t count = 0;
  for (const auto& page : pages_) {
    if (page) count += CountSetBits(*page);
  }
  return count;
}

RowSet RowBitmap::Others() const {
  if (const RowSet* made = others_.get(); made != nullptr) return *made;
  auto others = std::make_unique<RowSet>(rows_);
  const std::span<uint64_t> rest = others->MutableWords();
  for (uint32_t word = 0; word < words(); ++word) rest[word] &= ~Word(word);
  others->Recount();
  return others_.Keep(std::move(others));
}

RowBitmap RowBitmap::With(std::span<const uint32_t> rows) const {
  RowBitmap changed = *this;
  // Pages that this call copied; their only other owner is `changed`, so they may still be written.
  std::vector<Page*> copied(pages_.size(), nullptr);
  for (const uint32_t row : rows) {
    Page*& page = copied[row / kPageRows];
    if (!page) {
      const auto& shared = pages_[row / kPageRows];
      auto copy = shared ? std::make_shared<Page>(*shared) : std::make_shared<Page>();
      page = copy.get();
      changed.pages_[row / kPageRows] = std::move(copy);
    }
    (*page)[row % kPageRows / 64] |= uint64_t{1} << (row % 64);
  }
  return changed;
}

RowBitmap RowBitmap::Grown(uint32_t rows) const {
  RowBitmap grown(rows);
  std::copy(pages_.begin(), pages_.end(), grown.pages_.begin());
  return grown;
}

RowBitmap RowBitmap::FromWords(uint32_t rows, std::span<const uint64_t> words) {
  RowBitmap bitmap(rows);
  for (size_t page = 0; page < bitmap.pages_.size(); ++page) {
    const auto slice = words.subspan(
        page * kPageWords, std::min<size_t>(kPageWords, words.size() - page * kPageWords));
    if (std::all_of(slice.begin(), slice.end(), [](uint64_t word) { return word == 0; })) continue;
    auto copy = std::make_shared<Page>();
    std::copy(slice.begin(), slice.end(), copy->begin());
    bitmap.pages_[page] = std::move(copy);
  }
  return bitmap;
}

}  // namespace pigment
