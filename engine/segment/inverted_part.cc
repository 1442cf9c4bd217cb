// SPDX-License-Identifier: Apache-2.0
//
// Row groups into parts.

#include "engine/segment/inverted_part.h"

#include <algorithm>

#include "engine/segment/part_writer.h"

namespace pigment {
namespace {

// Of a group while it is made; with a limited budget a part of the limit.
constexpr uint64_t kGroupBytesMax = uint64_t{96} << 20;
constexpr uint64_t kGroupBytesMin = uint64_t{64} << 10;
constexpr uint64_t kBudgetShare = 16;
constexpr uint32_t kRowsPerWord = 64;
// Segments of fewer rows have no index.
constexpr uint32_t kRowsMin = 64;

uint64_t GroupBytesMax(const MemoryBudget* budget) {
  if (budget == nullptr || budget->limit_bytes() == 0) return kGroupBytesMax;
  return std::clamp(budget->limit_bytes() / kBudgetShare, kGroupBytesMin, kGroupBytesMax);
}

}  // namespace

InvertedWriter::InvertedWriter(BlockPacker* packer, MemoryBudget* budget, uint64_t seed)
    : packer_(packer),
      budget_(budget),
      seed_(seed),
      group_bytes_max_(GroupBytesMax(budget)),
      group_(std::make_unique<RowGroupBuilder>(budget, seed)) {}

Status InvertedWriter::Add(const std::string_view* metadata, const std::string_view* uri) {
  const bool is_full = group_ == nullptr || group_->bytes() >= group_bytes_max_;
  if (is_full && rows_ % kRowsPerWord == 0 && rows_ != written_.rows_end) {
    PIGMENT_RETURN_IF_ERROR(EndGroup());
    group_ = std::make_unique<RowGroupBuilder>(budget_, seed_);
  }
  ++rows_;
  if (group_ == nullptr) return Status::Ok();
  const Status added = group_->Add(metadata, uri);
  if (added.code() != Code::kResourceExhausted) return added;
  group_.reset();
  return Status::Ok();
}

Status InvertedWriter::EndGroup() {
  RowGroupIndex group = group_ != nullptr ? group_->Finish() : RowGroupIndex();
  group_.reset();
  PartWriter* const terms = packer_->Part(BlockKind::kTerms, 0);
  PartWriter* const postings = packer_->Part(BlockKind::kPostings, 0);
  PartWriter* const fields = packer_->Part(BlockKind::kFields, sizeof(FieldEntry));
  PartWriter* const blocks = packer_->Part(BlockKind::kTermBlocks, sizeof(TermBlockEntry));
  group.Rebase(terms->bytes(), postings->bytes(), written_.blocks_end);
  for (const FieldEntry& field : group.fields) PIGMENT_RETURN_IF_ERROR(fields->Add(field));
  for (const TermBlockEntry& block : group.blocks) PIGMENT_RETURN_IF_ERROR(blocks->Add(block));
  PIGMENT_RETURN_IF_ERROR(terms->AddStream(group.terms));
  PIGMENT_RETURN_IF_ERROR(postings->AddStream(group.postings));
  written_ = {.rows_end = rows_,
              .fields_end = written_.fields_end + static_cast<uint32_t>(group.fields.size()),
              .blocks_end = written_.blocks_end + static_cast<uint32_t>(group.blocks.size()),
              .is_indexed = group.rows != 0};
  return packer_->Part(BlockKind::kRowGroups, sizeof written_)->Add(written_);
}

Status InvertedWriter::Finish() {
  if (rows_ < kRowsMin) return Status::Ok();
  return EndGroup();
}

}  // namespace pigment
