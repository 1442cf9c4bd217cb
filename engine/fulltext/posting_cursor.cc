// SPDX-License-Identifier: Apache-2.0
//
// Opening, decoding and seeking posting lists.

#include "engine/fulltext/posting_cursor.h"

#include <algorithm>
#include <cstring>

#include "engine/base/prefetch.h"

namespace pigment {

namespace {

// The block behind one is decoded next, mostly, after those of other lists.
void ExpectBehind(std::string_view block) {
  constexpr size_t kBytes = 256;
  ExpectBytes(block.data() + block.size(), kBytes);
}

}  // namespace

Result<PostingCursor> PostingCursor::Open(TextSource* source, const TextList& list,
                                          LengthReader& lengths) {
  PostingCursor cursor(source);
  cursor.list_ = list;
  cursor.documents_ = list.documents;
  if (list.documents > source->rows()) return cursor.Damaged();
  cursor.bytes_ = source->NewPostings();
  if (list.documents >= kPostingsPerBlock) {
    PIGMENT_RETURN_IF_ERROR(cursor.ReadEntries());
    return cursor;
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view bytes,
                           cursor.bytes_->View(list.begin, list.postings_bytes, cursor.copy_));
  if (!DecodeShortPostings(AsBytes(bytes), list.documents, source->rows(), cursor.all_rows_,
                           cursor.all_frequencies_))
    return cursor.Damaged();
  cursor.MakeEntries(lengths);
  return cursor;
}

PostingCursor PostingCursor::Of(TextSource* source, std::vector<uint32_t> rows,
                                std::vector<uint32_t> frequencies, LengthReader& lengths) {
  PostingCursor cursor(source);
  cursor.documents_ = static_cast<uint32_t>(rows.size());
  cursor.all_rows_ = std::move(rows);
  cursor.all_frequencies_ = std::move(frequencies);
  cursor.MakeEntries(lengths);
  return cursor;
}

Status PostingCursor::ReadEntries() {
  const size_t blocks = (size_t{list_.documents} + kPostingsPerBlock - 1) / kPostingsPerBlock;
  const size_t bytes = blocks * sizeof(PostingEntry);
  if (bytes > list_.postings_bytes) return Damaged();
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view stored, bytes_->View(list_.begin, bytes, copy_));
  entries_.resize(blocks);
  std::memcpy(entries_.data(), stored.data(), bytes);
  const PostingEntry* before = nullptr;
  for (const PostingEntry& entry : entries_) {
    if (entry.last_row >= source_->rows() ||
        (before != nullptr &&
         (entry.last_row <= before->last_row || entry.postings_end < before->postings_end ||
          entry.positions_end < before->positions_end)))
      return Damaged();
    before = &entry;
  }
  if (before->postings_end != list_.postings_bytes - bytes ||
      before->positions_end != list_.positions_bytes)
    return Damaged();
  return Status::Ok();
}

void PostingCursor::MakeEntries(LengthReader& lengths) {
  for (size_t first = 0; first < all_rows_.size(); first += kPostingsPerBlock) {
    const size_t end = std::min(first + kPostingsPerBlock, all_rows_.size());
    PostingEntry entry{.last_row = all_rows_[end - 1],
                       .postings_end = 0,
                       .positions_end = static_cast<uint32_t>(list_.positions_bytes),
                       .impacts = {}};
    for (size_t i = first; i < end; ++i)
      entry.impacts.Add(all_frequencies_[i], lengths.Of(all_rows_[i]));
    entries_.push_back(entry);
  }
}

uint32_t PostingCursor::BlockOf(uint32_t row, uint32_t from) const {
  // Steps that double, then a binary search between the last two.
  uint32_t step = 1;
  uint32_t end = from;
  while (end < blocks() && entries_[end].last_row < row) {
    from = end + 1;
    end += step;
    step *= 2;
  }
  end = std::min(end, blocks());
  const auto found = std::lower_bound(
      entries_.begin() + from, entries_.begin() + end, row,
      [](const PostingEntry& entry, uint32_t wanted) { return entry.last_row < wanted; });
  return static_cast<uint32_t>(found - entries_.begin());
}

Status PostingCursor::Load(uint32_t block) {
  if (block == loaded_) return Status::Ok();
  const size_t first = size_t{block} * kPostingsPerBlock;
  const size_t count = std::min<size_t>(kPostingsPerBlock, documents_ - first);
  at_ = 0;
  loaded_ = block;
  ++blocks_loaded_;
  if (!all_rows_.empty()) {
    rows_ = std::span(all_rows_).subspan(first, count);
    frequencies_ = std::span(all_frequencies_).subspan(first, count);
    return Status::Ok();
  }
  block_rows_.resize(kPostingsPerBlock);
  block_frequencies_.resize(kPostingsPerBlock);
  const std::span<uint32_t> rows = std::span(block_rows_).first(count);
  const std::span<uint32_t> frequencies = std::span(block_frequencies_).first(count);
  const uint64_t begin = block == 0 ? 0 : entries_[block - 1].postings_end;
  const int64_t before = block == 0 ? -1 : static_cast<int64_t>(entries_[block - 1].last_row);
  loaded_ = 0xFFFFFFFF;
  PIGMENT_ASSIGN_OR_RETURN(
      const std::string_view bytes,
      bytes_->View(list_.begin + entries_.size() * sizeof(PostingEntry) + begin,
                   entries_[block].postings_end - begin, copy_));
  ExpectBehind(bytes);
  if (!DecodePostingBlock(AsBytes(bytes), before, entries_[block].last_row, rows, frequencies))
    return Damaged();
  rows_ = rows;
  frequencies_ = frequencies;
  loaded_ = block;
  return Status::Ok();
}

Result<uint32_t> PostingCursor::SeekRow(uint32_t row) {
  if (SeekBlock(row) == blocks()) return source_->rows();
  PIGMENT_RETURN_IF_ERROR(Load(block_));
  // Rows that are asked for one after the other lie near each other.
  while (rows_[at_] < row) ++at_;
  return rows_[at_];
}

Result<uint32_t> PostingCursor::FrequencyOf(uint32_t row) {
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t found, SeekRow(row));
  return found == row ? frequencies_[at_] : 0;
}

Result<std::span<const uint32_t>> PostingCursor::Positions() {
  if (decoded_positions_ != loaded_) {
    const uint64_t begin = loaded_ == 0 ? 0 : entries_[loaded_ - 1].positions_end;
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view bytes,
                             bytes_->View(list_.begin + list_.postings_bytes + begin,
                                          entries_[loaded_].positions_end - begin, copy_));
    if (!DecodePositions(AsBytes(bytes), frequencies_, positions_, position_ends_))
      return Damaged();
    decoded_positions_ = loaded_;
  }
  const uint32_t begin = at_ == 0 ? 0 : position_ends_[at_ - 1];
  return std::span<const uint32_t>(positions_).subspan(begin, position_ends_[at_] - begin);
}

}  // namespace pigment
