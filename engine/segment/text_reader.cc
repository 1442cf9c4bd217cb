// SPDX-License-Identifier: Apache-2.0
//
// Groups of a segment's text index through cursors of its parts.

#include "engine/segment/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace pigment {
namespace {

constexpr uint64_t kIdentityBytesMax = uint64_t{8} << 20;

class PartBytes final : public TextBytes {
 public:
  PartBytes(BlockSource* source, const Root* root, BlockKind kind) : cursor_(source, root, kind) {}
  Result<std::string_view> View(uint64_t begin, uint64_t size, std::string& copy) override {
    return cursor_.ViewStream(begin, size, copy);
  }

 private:
  PartCursor cursor_;
};

class SegmentTextSource final : public TextSource {
 public:
  SegmentTextSource(BlockSource* source, const Root* root, const TextReader::Group& group)
      : TextSource(group.rows, group.documents, group.words, group.blocks),
        source_(source),
        root_(root),
        group_(group),
        blocks_(source, root, BlockKind::kTextTermBlocks),
        terms_(source, root, BlockKind::kTextTerms) {
    for (size_t i = 0; i < kLengthsKept; ++i)
      lengths_.emplace_back(source, root, BlockKind::kTextLengths);
  }

  Result<TextTermBlock> ReadBlock(uint32_t block) override {
    return blocks_.ReadElement<TextTermBlock>(uint64_t{group_.first_block} + block);
  }
  TextBytes& terms() override { return terms_; }
  std::unique_ptr<TextBytes> NewPostings() override {
    return std::make_unique<PartBytes>(source_, root_, BlockKind::kTextPostings);
  }
  Result<Lengths> ReadLengths(uint32_t row) override {
    const uint32_t row_of_segment = group_.first_row + row;
    PartCursor& lengths = lengths_[next_lengths_];
    next_lengths_ = (next_lengths_ + 1) % kLengthsKept;
    const PartCursor::ElementRun run = lengths.RunFrom(row_of_segment, sizeof(uint32_t));
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* const bytes, lengths.Block(run.block));
    // From the begin of the block, or of the group where that lies within.
    const auto in_block = static_cast<uint32_t>(run.within / sizeof(uint32_t));
    const uint32_t before = std::min(in_block, row);
    return Lengths{row - before, std::min(before + run.count, group_.rows - (row - before)),
                   bytes + run.within - before * sizeof(uint32_t)};
  }
  Status Damaged(const std::string& message) const override {
    return PartCursor(source_, root_, BlockKind::kTextPostings)
        .Damaged(Detail::kMiscounted, message);
  }

 private:
  BlockSource* const source_;
  const Root* const root_;
  const TextReader::Group group_;
  PartCursor blocks_;
  std::vector<PartCursor> lengths_;  // in turns, so that the blocks of the last calls stay
  size_t next_lengths_ = 0;
  PartBytes terms_;
};

}  // namespace

Result<std::string> TextReader::ReadIdentity() {
  PartCursor head(source_, root_, BlockKind::kTextHead);
  if (head.bytes() > kIdentityBytesMax)
    return head.Damaged(Detail::kMiscounted, fmt::format("{} bytes of a head", head.bytes()));
  std::string identity;
  PIGMENT_RETURN_IF_ERROR(head.ReadStream(0, head.bytes(), identity));
  return identity;
}

Result<std::vector<TextReader::Group>> TextReader::ReadGroups() {
  PartCursor groups(source_, root_, BlockKind::kTextGroups);
  const PartCursor blocks(source_, root_, BlockKind::kTextTermBlocks);
  const uint64_t count = groups.bytes() / sizeof(TextGroupEntry);
  const uint64_t block_count = blocks.bytes() / sizeof(TextTermBlock);
  std::vector<Group> out;
  TextGroupEntry before{};
  for (uint64_t i = 0; i < count; ++i) {
    PIGMENT_ASSIGN_OR_RETURN(const TextGroupEntry entry, groups.ReadElement<TextGroupEntry>(i));
    if (entry.rows_end <= before.rows_end || entry.rows_end > root_->info.rows ||
        entry.blocks_end < before.blocks_end || entry.blocks_end > block_count ||
        entry.is_indexed > 1 || entry.documents > entry.rows_end - before.rows_end) {
      return groups.Damaged(
          Detail::kMiscounted,
          fmt::format(
              "the group of rows {} to {} of {} has {} documents and ends at block {} of {}",
              before.rows_end, entry.rows_end, root_->info.rows, entry.documents, entry.blocks_end,
              block_count));
    }
    out.push_back({.first_row = before.rows_end,
                   .rows = entry.rows_end - before.rows_end,
                   .first_block = before.blocks_end,
                   .blocks = entry.blocks_end - before.blocks_end,
                   .documents = entry.documents,
                   .words = entry.words,
                   .is_indexed = entry.is_indexed != 0});
    before = entry;
  }
  if (before.rows_end != root_->info.rows)
    return groups.Damaged(Detail::kMiscounted, "the groups have not all rows");
  return out;
}

std::unique_ptr<TextSource> TextReader::NewSource(const Group& group) const {
  return std::make_unique<SegmentTextSource>(source_, root_, group);
}

}  // namespace pigment
