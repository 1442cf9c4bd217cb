// SPDX-License-Identifier: Apache-2.0
//
// Contents to a shelf and back. Part of Contents; its owner guards it.

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "engine/base/planted_bugs.h"
#include "engine/collection/contents.h"

namespace pigment {

Result<ShelvedTail> Contents::Shelve() const {
  ShelvedTail shelved;
  shelved.dimension = dimension_;
  for (const SegmentSlot& slot : segments_) {
    if (slot.deleted == slot.stored || PIGMENT_PLANTED(kShelfForgetsErased)) continue;
    for (uint32_t word = 0; word < slot.deleted->words(); ++word) {
      uint64_t bits = slot.deleted->Word(word) & ~(slot.stored ? slot.stored->Word(word) : 0);
      for (; bits != 0; bits &= bits - 1) {
        const uint32_t row = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        PIGMENT_ASSIGN_OR_RETURN(shelved.erased.emplace_back(), slot.segment->ReadId(row));
      }
    }
  }
  const TailView tail = tail_.View();
  for (uint32_t row = 0; row < tail.rows; ++row) {
    if (tail.IsLive(row))
      shelved.records.push_back(tail.chunks[row / TailChunk::kRows]->rows[row % TailChunk::kRows]);
  }
  return shelved;
}

Status Contents::Restore(ShelvedTail shelved) {
  const auto contradiction = [](std::string message) {
    return DataLoss(Detail::kMiscounted, "", -1, std::move(message));
  };
  std::vector<std::vector<uint32_t>> erased(segments_.size());
  for (const std::string& id : shelved.erased) {
    bool is_found = false;
    for (size_t index = segments_.size(); index-- > 0 && !is_found;) {
      const SegmentSlot& slot = segments_[index];
      PIGMENT_ASSIGN_OR_RETURN(const std::optional<uint32_t> row, slot.segment->FindRow(id));
      if (!row || (slot.deleted && slot.deleted->Test(*row))) continue;
      erased[index].push_back(*row);
      is_found = true;
    }
    if (!is_found) return contradiction("a shelf record erases an id that no segment has");
  }
  for (size_t index = 0; index < erased.size(); ++index) {
    if (erased[index].empty()) continue;
    SegmentSlot& slot = segments_[index];
    const RowBitmap before = slot.deleted ? *slot.deleted : RowBitmap(slot.entry.rows);
    const RowBitmap after = before.With(erased[index]);
    const auto rows = static_cast<uint32_t>(erased[index].size());
    if (after.Count() != slot.deleted_rows + uint64_t{rows})
      return contradiction("a shelf record erases an id twice");
    slot.deleted = std::make_shared<const RowBitmap>(after);
    slot.deleted_rows += rows;
    live_rows_ -= rows;
  }
  if (shelved.dimension != dimension_) {
    return contradiction(fmt::format("a shelf record has dimension {}, its collection {}",
                                     shelved.dimension, dimension_));
  }
  for (std::shared_ptr<const Record>& record : shelved.records) {
    if (record->ordinal == 0 || record->ordinal >= next_ordinal_ || tail_.Find(record->id)) {
      return contradiction(fmt::format("a shelf record has a record of ordinal {} before {}, twice "
                                       "or out of order",
                                       record->ordinal, next_ordinal_));
    }
    tail_.Append(std::move(record));
    ++live_rows_;
  }
  return Status::Ok();
}

}  // namespace pigment
