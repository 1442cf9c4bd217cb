// SPDX-License-Identifier: Apache-2.0
//
// Rows of a gram as varints of what each exceeds the one before by, in chunks.

#include "engine/inverted/gram_lists.h"

#include <algorithm>
#include <bit>
#include <string>

namespace pigment {
namespace {

constexpr uint32_t kFirstSlots = 1024;
constexpr uint32_t kVarintBits = 7;
constexpr uint32_t kNoChunk = 0xFFFFFFFF;

std::string UnpackGram(uint32_t gram) {
  std::string bytes;
  for (uint32_t i = 0; i < (gram & 0xFF); ++i)
    bytes.push_back(static_cast<char>(gram >> (24 - 8 * i) & 0xFF));
  return bytes;
}

}  // namespace

Status GramLists::Charge(uint64_t bytes) {
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow(bytes));
  charged_ += bytes;
  return Status::Ok();
}

size_t GramLists::SlotOf(uint32_t gram) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = static_cast<size_t>(((gram ^ seed_) * 0x9E3779B97F4A7C15u) >> slot_shift_);
  while (slots_[slot] != 0 && terms_[slots_[slot] - 1].gram != gram) slot = (slot + 1) & mask;
  return slot;
}

Status GramLists::GrowSlots() {
  const size_t count = std::max<size_t>(slots_.size() * 2, kFirstSlots);
  // Twice each: the larger arrays and those that they replace.
  PIGMENT_RETURN_IF_ERROR(Charge(count * sizeof(uint32_t) + count * sizeof(Term)));
  terms_.reserve(count / 2);
  slots_.assign(count, 0);
  slot_shift_ = 64 - static_cast<uint32_t>(std::countr_zero(count));
  for (uint32_t i = 0; i < terms_.size(); ++i) slots_[SlotOf(terms_[i].gram)] = i + 1;
  return Status::Ok();
}

Status GramLists::AddByte(Term& term, uint8_t byte) {
  if (term.used == sizeof(Chunk::bytes)) {
    if (chunks_.size() == chunks_.capacity()) {
      const size_t more = std::max<size_t>(chunks_.capacity(), kFirstSlots);
      PIGMENT_RETURN_IF_ERROR(Charge(more * sizeof(Chunk) * 2));
      chunks_.reserve(chunks_.capacity() + more);
    }
    const auto added = static_cast<uint32_t>(chunks_.size());
    chunks_.push_back({});
    (term.first_chunk == kNoChunk ? term.first_chunk : chunks_[term.last_chunk].next) = added;
    term.last_chunk = added;
    term.used = 0;
  }
  chunks_[term.last_chunk].bytes[term.used++] = byte;
  return Status::Ok();
}

Status GramLists::Add(uint32_t gram, uint32_t row) {
  if (terms_.size() >= slots_.size() / 2) PIGMENT_RETURN_IF_ERROR(GrowSlots());
  const size_t slot = SlotOf(gram);
  if (slots_[slot] == 0) {
    terms_.push_back({.gram = gram,
                      .next_row = 0,
                      .first_chunk = kNoChunk,
                      .last_chunk = 0,
                      .used = sizeof(Chunk::bytes)});
    slots_[slot] = static_cast<uint32_t>(terms_.size());
  }
  Term& term = terms_[slots_[slot] - 1];
  if (term.next_row > row) return Status::Ok();
  for (uint32_t gap = row - term.next_row;;) {
    const bool is_last = gap >> kVarintBits == 0;
    const auto low = static_cast<uint8_t>(gap & 0x7F);
    PIGMENT_RETURN_IF_ERROR(AddByte(term, is_last ? low : static_cast<uint8_t>(low | 0x80)));
    if (is_last) break;
    gap >>= kVarintBits;
  }
  term.next_row = row + 1;
  return Status::Ok();
}

void GramLists::ReadCells(const Term& term, uint32_t rows_shift,
                          std::vector<uint32_t>& cells) const {
  cells.clear();
  uint32_t row = 0, gap = 0, shift = 0;
  for (uint32_t chunk = term.first_chunk;; chunk = chunks_[chunk].next) {
    const bool is_last = chunk == term.last_chunk;
    const uint32_t used = is_last ? term.used : static_cast<uint32_t>(sizeof(Chunk::bytes));
    for (uint32_t i = 0; i < used; ++i) {
      const uint8_t byte = chunks_[chunk].bytes[i];
      gap |= static_cast<uint32_t>(byte & 0x7F) << shift;
      shift += kVarintBits;
      if ((byte & 0x80) != 0) continue;
      const uint32_t cell = (row + gap) >> rows_shift;
      if (cells.empty() || cells.back() != cell) cells.push_back(cell);
      row += gap + 1;
      gap = shift = 0;
    }
    if (is_last) return;
  }
}

void GramLists::WriteTo(std::string_view key, FieldCells cells, RowGroupIndex& out) {
  slots_ = {};
  std::sort(terms_.begin(), terms_.end(),
            [](const Term& a, const Term& b) { return a.gram < b.gram; });
  FieldWriter field(key, FieldType::kGrams, out, cells);
  std::vector<bool> has_any(cells.count);
  std::vector<uint32_t> of_term;
  for (const Term& term : terms_) {
    ReadCells(term, cells.rows_shift, of_term);
    for (const uint32_t cell : of_term) has_any[cell] = true;
    field.AddTerm(UnpackGram(term.gram), of_term);
  }
  of_term.clear();
  for (uint32_t cell = 0; cell < cells.count; ++cell)
    if (has_any[cell]) of_term.push_back(cell);
  field.AddCheckpoint(of_term);
  field.Finish(field.blocks());
}

}  // namespace pigment
