// SPDX-License-Identifier: Apache-2.0
//
// Opening indexes and counting what lives.

#include "engine/query/text_sources.h"

#include <algorithm>
#include <utility>

#include "engine/segment/text_reader.h"

namespace pigment {
namespace {

// Rows of a segment that are analyzed together where they have no index.
constexpr uint32_t kRowsPerPiece = 8192;

// Whether all rows from `first` up to `last` are in the set.
bool HasAll(const RowSet& set, uint32_t first, uint32_t last) {
  const std::span<const uint64_t> words = set.words();
  if (words.empty()) return true;
  for (uint32_t word = first / 64; word <= last / 64; ++word) {
    uint64_t wanted = ~uint64_t{0};
    if (word == first / 64) wanted &= ~uint64_t{0} << (first % 64);
    if (word == last / 64) wanted &= ~uint64_t{0} >> (63 - last % 64);
    if ((words[word] & wanted) != wanted) return false;
  }
  return true;
}

}  // namespace

void TextSources::Add(RowPlace first, uint64_t ordinal, std::unique_ptr<TextSource> source,
                      const RowSet* live, const RowSet& allowed) {
  TextRows rows;
  rows.first = first;
  rows.first_ordinal = ordinal;
  rows.lengths = std::make_unique<LengthReader>(source.get());
  rows.source = std::move(source);
  rows.live = live;
  rows.allowed = &allowed;
  statistics_.documents += rows.source->documents();
  statistics_.words += rows.source->words();
  rows_.push_back(std::move(rows));
}

Result<CollectionText::Counts> TextSources::CountDeleted(size_t first_of_segment,
                                                         const CallControl& control) {
  CollectionText::Counts counts;
  PacedCheck check(control);
  for (size_t i = first_of_segment; i < rows_.size(); ++i) {
    TextRows& rows = rows_[i];
    for (uint32_t row = 0; row < rows.rows(); ++row) {
      if (rows.live->Test(rows.first.row + row)) continue;
      PIGMENT_RETURN_IF_ERROR(check.Step());
      const uint32_t length = rows.lengths->Of(row);
      counts.documents += length != 0;
      counts.words += length;
    }
    PIGMENT_RETURN_IF_ERROR(rows.lengths->status());
  }
  return counts;
}

Status TextSources::AddSegment(uint32_t number, const RowSet& allowed, const CallControl& control,
                               SegmentReaders& readers) {
  const SegmentView& view = version_.segments[number];
  CollectionText& text = *version_.text.shared;
  if (view.segment->info().rows == 0) return Status::Ok();
  const RowSet* live = nullptr;
  if (view.deleted)
    live = live_.emplace_back(std::make_unique<const RowSet>(LiveRows(view))).get();
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t ordinal, readers.Of(number).ReadOrdinal(0));
  const size_t first_of_segment = rows_.size();
  const auto analyze = [&](uint32_t first, uint32_t end) -> Status {
    for (uint32_t row = first; row < end; row += kRowsPerPiece) {
      PIGMENT_ASSIGN_OR_RETURN(
          std::shared_ptr<const TextGroup> group,
          text.OfSegment(view.segment, row, std::min(kRowsPerPiece, end - row), control));
      Add({number, row}, ordinal, MakeMemoryTextSource(std::move(group)), live, allowed);
    }
    return Status::Ok();
  };
  const std::unique_ptr<TextReader> reader = view.segment->NewTextReader();
  std::string identity;
  if (reader != nullptr) {
    PIGMENT_ASSIGN_OR_RETURN(identity, reader->ReadIdentity());
  }
  if (identity != text.analyzer()->identity()) {
    PIGMENT_RETURN_IF_ERROR(analyze(0, view.segment->info().rows));
  } else {
    PIGMENT_ASSIGN_OR_RETURN(const std::vector<TextReader::Group> groups, reader->ReadGroups());
    for (const TextReader::Group& group : groups) {
      if (group.is_indexed) {
        Add({number, group.first_row}, ordinal, reader->NewSource(group), live, allowed);
      } else {
        PIGMENT_RETURN_IF_ERROR(analyze(group.first_row, group.first_row + group.rows));
      }
    }
  }
  if (live == nullptr) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(const CollectionText::Counts deleted,
                           text.CountDeleted(view.segment->info().segment, view.deleted, [&] {
                             return CountDeleted(first_of_segment, control);
                           }));
  statistics_.documents -= std::min(statistics_.documents, deleted.documents);
  statistics_.words -= std::min(statistics_.words, deleted.words);
  return Status::Ok();
}

Status TextSources::AddTail(const RowSet& allowed, const CallControl& control) {
  const TailView& tail = version_.tail;
  CollectionText& text = *version_.text.shared;
  const RowSet* live = nullptr;
  if (tail.deleted) {
    live = live_.emplace_back(std::make_unique<const RowSet>(LiveRows(tail))).get();
  }
  const size_t first_of_tail = rows_.size();
  for (uint32_t chunk = 0; chunk * TailChunk::kRows < tail.rows; ++chunk) {
    PIGMENT_RETURN_IF_ERROR(control.Check());
    const uint32_t first = chunk * TailChunk::kRows;
    const uint32_t count = std::min(TailChunk::kRows, tail.rows - first);
    PIGMENT_ASSIGN_OR_RETURN(
        const std::vector<TextPiece> pieces,
        tail.chunks[chunk]->text().Cover({tail.chunks[chunk]->rows.data(), count}, *text.analyzer(),
                                         text.budget(), control));
    for (const TextPiece& piece : pieces) {
      const uint32_t row = first + piece.first_row;
      Add({RowPlace::kTail, row}, tail.row(row).ordinal, MakeMemoryTextSource(piece.group), live,
          allowed);
    }
  }
  if (live == nullptr) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(const CollectionText::Counts deleted,
                           CountDeleted(first_of_tail, control));
  statistics_.documents -= deleted.documents;
  statistics_.words -= deleted.words;
  return Status::Ok();
}

Result<TextSources> TextSources::Open(const Version& version, const Plan& plan,
                                      const CallControl& control, SegmentReaders& readers) {
  TextSources sources(version);
  for (uint32_t number = 0; number < version.segments.size(); ++number) {
    PIGMENT_RETURN_IF_ERROR(control.Check());
    PIGMENT_RETURN_IF_ERROR(sources.AddSegment(number, plan.segments[number], control, readers));
  }
  PIGMENT_RETURN_IF_ERROR(sources.AddTail(plan.tail, control));
  return sources;
}

Result<uint64_t> CountLive(const TextRows& rows, PostingCursor& cursor,
                           const CallControl& control) {
  if (rows.live == nullptr) return uint64_t{cursor.documents()};
  uint64_t count = 0;
  uint32_t first = rows.first.row;
  for (uint32_t block = 0; block < cursor.blocks(); ++block) {
    const uint32_t last = rows.first.row + cursor.last_row(block);
    if (HasAll(*rows.live, first, last)) {
      count += std::min(kPostingsPerBlock, cursor.documents() - block * kPostingsPerBlock);
    } else {
      PIGMENT_RETURN_IF_ERROR(control.Check());
      PIGMENT_RETURN_IF_ERROR(cursor.Load(block));
      for (const uint32_t row : cursor.rows()) count += rows.live->Test(rows.first.row + row);
    }
    first = last + 1;
  }
  return count;
}

}  // namespace pigment
