// SPDX-License-Identifier: Apache-2.0
//
// Groups of a text index into parts.

#include "engine/segment/text_part.h"

#include <algorithm>
#include <utility>

#include "engine/segment/part_writer.h"

namespace pigment {
namespace {

// Of a group while it is made; with a limited budget a part of the limit.
constexpr uint64_t kGroupBytesMax = uint64_t{128} << 20;
constexpr uint64_t kGroupBytesMin = uint64_t{256} << 10;
constexpr uint64_t kGroupShare = 16;
// After a group without memory the next one is tried after so many rows.
constexpr uint32_t kRowsWithoutMemory = 1024;

uint64_t TextGroupBytesMax(const MemoryBudget* budget) {
  if (budget == nullptr || budget->limit_bytes() == 0) return kGroupBytesMax;
  return std::clamp(budget->limit_bytes() / kGroupShare, kGroupBytesMin, kGroupBytesMax);
}

}  // namespace

TextWriter::TextWriter(BlockPacker* packer, const Analyzer& analyzer, MemoryBudget* budget,
                       uint64_t seed)
    : packer_(packer),
      analyzer_(analyzer),
      budget_(budget),
      seed_(seed),
      group_bytes_max_(TextGroupBytesMax(budget)) {
  group_.emplace(analyzer_, budget_, seed_);
}

Status TextWriter::Add(const std::string_view* document) {
  const bool is_full = group_ ? group_->bytes() >= group_bytes_max_
                              : rows_ - written_.rows_end >= kRowsWithoutMemory;
  if (is_full) {
    PIGMENT_RETURN_IF_ERROR(EndGroup());
    group_.emplace(analyzer_, budget_, seed_);
  }
  ++rows_;
  if (!group_) return Status::Ok();
  const Status added = group_->Add(document);
  if (added.detail() != Detail::kMemory) return added;
  group_.reset();
  return Status::Ok();
}

Status TextWriter::EndGroup() {
  TextGroup group;
  const bool is_indexed = group_.has_value();
  if (is_indexed) {
    group = group_->Finish();
  } else {
    group.lengths.assign(rows_ - written_.rows_end, 0);
  }
  PartWriter* const lengths = packer_->Part(BlockKind::kTextLengths, sizeof(uint32_t));
  PartWriter* const blocks = packer_->Part(BlockKind::kTextTermBlocks, sizeof(TextTermBlock));
  PartWriter* const terms = packer_->Part(BlockKind::kTextTerms, 0);
  PartWriter* const postings = packer_->Part(BlockKind::kTextPostings, 0);
  group.Rebase(terms->bytes(), postings->bytes());
  for (const uint32_t length : group.lengths) PIGMENT_RETURN_IF_ERROR(lengths->Add(length));
  for (const TextTermBlock& block : group.blocks) PIGMENT_RETURN_IF_ERROR(blocks->Add(block));
  PIGMENT_RETURN_IF_ERROR(terms->AddStream(group.terms));
  PIGMENT_RETURN_IF_ERROR(postings->AddStream(group.postings));
  written_ = {.rows_end = rows_,
              .blocks_end = written_.blocks_end + static_cast<uint32_t>(group.blocks.size()),
              .documents = group.documents,
              .is_indexed = is_indexed,
              .words = group.words};
  group_.reset();
  return packer_->Part(BlockKind::kTextGroups, sizeof written_)->Add(written_);
}

Status TextWriter::Finish() {
  PIGMENT_RETURN_IF_ERROR(packer_->Part(BlockKind::kTextHead, 0)->AddStream(analyzer_.identity()));
  return EndGroup();
}

}  // namespace pigment
