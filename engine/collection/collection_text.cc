// SPDX-License-Identifier: Apache-2.0
//
// Making text indexes in memory.

#include "engine/collection/collection_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "engine/segment/row_reader.h"

namespace pigment {
namespace {

// A group with the memory that it is charged.
struct ChargedGroup {
  std::shared_ptr<MemoryBudget> budget;  // outlives what is charged to it
  Reservation reservation;
  TextGroup group;
};

Result<std::shared_ptr<const TextGroup>> Charge(TextGroup group,
                                                const std::shared_ptr<MemoryBudget>& budget) {
  auto charged = std::make_shared<ChargedGroup>();
  charged->budget = budget;
  charged->reservation = Reservation(budget.get());
  PIGMENT_RETURN_IF_ERROR(charged->reservation.Grow(sizeof *charged + group.bytes()));
  charged->group = std::move(group);
  return std::shared_ptr<const TextGroup>(charged, &charged->group);
}

Result<std::shared_ptr<const TextGroup>> OfRecords(
    std::span<const std::shared_ptr<const Record>> rows, const Analyzer& analyzer,
    const std::shared_ptr<MemoryBudget>& budget, const CallControl& control) {
  TextGroupBuilder builder(analyzer, budget.get(), 0);
  for (const std::shared_ptr<const Record>& record : rows) {
    PIGMENT_RETURN_IF_ERROR(control.Check());
    const std::string_view document =
        record->document ? std::string_view(*record->document) : std::string_view();
    PIGMENT_RETURN_IF_ERROR(builder.Add(record->document ? &document : nullptr));
  }
  return Charge(builder.Finish(), budget);
}

}  // namespace

Result<std::vector<TextPiece>> ChunkText::Cover(std::span<const std::shared_ptr<const Record>> rows,
                                                const Analyzer& analyzer,
                                                const std::shared_ptr<MemoryBudget>& budget,
                                                const CallControl& control) {
  constexpr std::array<uint32_t, 3> kPieceRows = {256, 16, 1};
  std::vector<TextPiece> pieces;
  std::lock_guard lock(mutex_);
  for (uint32_t at = 0; at < rows.size();) {
    const uint32_t left = static_cast<uint32_t>(rows.size()) - at;
    const uint32_t count =
        *std::find_if(kPieceRows.begin(), kPieceRows.end(), [&](uint32_t n) { return n <= left; });
    std::shared_ptr<const TextGroup>& piece = pieces_[{at, count}];
    if (piece == nullptr) {
      PIGMENT_ASSIGN_OR_RETURN(piece,
                               OfRecords(rows.subspan(at, count), analyzer, budget, control));
      std::erase_if(pieces_, [&](const auto& other) {
        return other.first.first >= at && other.first.first < at + count &&
               other.first.second < count;
      });
    }
    pieces.push_back({at, piece});
    at += count;
  }
  return pieces;
}

Result<std::shared_ptr<const TextGroup>> CollectionText::OfSegment(
    const std::shared_ptr<const Segment>& segment, uint32_t first, uint32_t rows,
    const CallControl& control) {
  const Place place{segment->info().segment, first};
  {
    std::lock_guard lock(mutex_);
    const auto found = made_.find(place);
    if (found != made_.end() && found->second.segment.lock() == segment &&
        found->second.group->rows() == rows)
      return found->second.group;
  }
  TextGroupBuilder builder(*analyzer_, budget_.get(), 0);
  const std::unique_ptr<RowReader> reader = segment->NewReader();
  for (uint32_t row = first; row < first + rows; ++row) {
    PIGMENT_RETURN_IF_ERROR(control.Check());
    PIGMENT_ASSIGN_OR_RETURN(const RecordTexts texts, reader->ReadTexts(row, {.document = true}));
    PIGMENT_RETURN_IF_ERROR(builder.Add(texts.document ? &*texts.document : nullptr));
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::shared_ptr<const TextGroup> group,
                           Charge(builder.Finish(), budget_));
  std::lock_guard lock(mutex_);
  std::erase_if(made_, [](const auto& one) { return one.second.segment.expired(); });
  made_.insert_or_assign(place, Made{segment, group});
  return group;
}

}  // namespace pigment
