// SPDX-License-Identifier: Apache-2.0
//
// Row groups into parts.

#include "engine/segment/inverted_part.h"

#include <algorithm>
#include <utility>

#include "engine/segment/part_writer.h"

namespace pigment {
namespace {

// Of a group while it is made; with a limited budget a part of the limit.
constexpr uint64_t kGroupBytesMax = uint64_t{96} << 20;
constexpr uint64_t kGroupBytesMin = uint64_t{64} << 10;
constexpr uint32_t kRowsPerWord = 64;

}  // namespace

uint64_t GroupBytesMax(const MemoryBudget* budget, uint64_t parts) {
  if (budget == nullptr || budget->limit_bytes() == 0) return kGroupBytesMax;
  return std::clamp(budget->limit_bytes() / parts, kGroupBytesMin, kGroupBytesMax);
}

Status RowGroupWriter::Put(std::optional<RowGroupIndex> made, uint32_t rows_end) {
  const bool is_indexed = made.has_value();
  RowGroupIndex group = is_indexed ? *std::move(made) : RowGroupIndex();
  PartWriter* const terms = packer_->Part(kinds_.terms, 0);
  PartWriter* const postings = packer_->Part(kinds_.postings, 0);
  PartWriter* const fields = packer_->Part(kinds_.fields, sizeof(FieldEntry));
  PartWriter* const blocks = packer_->Part(kinds_.blocks, sizeof(TermBlockEntry));
  group.Rebase(terms->bytes(), postings->bytes(), written_.blocks_end);
  for (const FieldEntry& field : group.fields) PIGMENT_RETURN_IF_ERROR(fields->Add(field));
  for (const TermBlockEntry& block : group.blocks) PIGMENT_RETURN_IF_ERROR(blocks->Add(block));
  PIGMENT_RETURN_IF_ERROR(terms->AddStream(group.terms));
  PIGMENT_RETURN_IF_ERROR(postings->AddStream(group.postings));
  written_ = {.rows_end = rows_end,
              .fields_end = written_.fields_end + static_cast<uint32_t>(group.fields.size()),
              .blocks_end = written_.blocks_end + static_cast<uint32_t>(group.blocks.size()),
              .is_indexed = is_indexed};
  return packer_->Part(kinds_.groups, sizeof written_)->Add(written_);
}

InvertedWriter::InvertedWriter(BlockPacker* packer, MemoryBudget* budget, uint64_t seed,
                               SharedRules rules, uint64_t budget_parts)
    : packer_(packer),
      groups_(packer, kMetadataKinds),
      budget_(budget),
      seed_(seed),
      rules_(std::move(rules)),
      group_bytes_max_(GroupBytesMax(budget, budget_parts)),
      group_(std::make_unique<RowGroupBuilder>(budget, seed, rules_)) {}

// Ends the group where one may end.
Status InvertedWriter::BeginRow(bool wants_group) {
  if (wants_group && rows_ % kRowsPerWord == 0 && rows_ != groups_.rows_end()) {
    PIGMENT_RETURN_IF_ERROR(EndGroup());
    group_ = std::make_unique<RowGroupBuilder>(budget_, seed_, rules_);
  }
  ++rows_;
  return Status::Ok();
}

Status InvertedWriter::AddUnindexed() {
  PIGMENT_RETURN_IF_ERROR(BeginRow(group_ != nullptr));
  group_.reset();
  return Status::Ok();
}

Status InvertedWriter::Add(const RowTerms& row) {
  PIGMENT_RETURN_IF_ERROR(BeginRow(group_ == nullptr || group_->bytes() >= group_bytes_max_));
  if (group_ == nullptr) return Status::Ok();
  const Status added = group_->Add(row);
  if (added.code() != Code::kResourceExhausted) return added;
  group_.reset();
  return Status::Ok();
}

Status InvertedWriter::EndGroup() {
  std::optional<RowGroupIndex> made;
  if (group_ != nullptr) made = group_->Finish();
  group_.reset();
  return groups_.Put(std::move(made), rows_);
}

Status InvertedWriter::Finish(uint32_t rows_min) {
  if (rows_ < rows_min) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(EndGroup());
  if (rules_ == nullptr) return Status::Ok();
  return packer_->Part(BlockKind::kIndexRules, 0)->AddStream(rules_->json);
}

}  // namespace pigment
