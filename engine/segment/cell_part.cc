// SPDX-License-Identifier: Apache-2.0
//
// Places of documents and groups of grams into parts.

#include "engine/segment/cell_part.h"

#include <utility>

#include "engine/segment/part_writer.h"

namespace pigment {

CellWriter::CellWriter(BlockPacker* packer, MemoryBudget* budget, uint64_t seed)
    : packer_(packer),
      budget_(budget),
      seed_(seed),
      group_bytes_max_(GroupBytesMax(budget)),
      groups_(packer, kGramKinds) {
  group_.emplace(budget, seed);
}

Status CellWriter::Add(const std::string_view* document) {
  if (rows_ % kRowsPerBegin == 0) {
    const bool is_full = !group_ || group_->bytes() >= group_bytes_max_;
    if (is_full && are_enough() && rows_ != groups_.rows_end()) {
      PIGMENT_RETURN_IF_ERROR(EndGroup());
      group_.emplace(budget_, seed_);
    }
    begin_ = bytes_;
  }
  const std::string_view text = document != nullptr ? *document : std::string_view();
  if (group_) {
    const Status added = group_->Add(text);
    if (added.code() == Code::kResourceExhausted) {
      group_.reset();
    } else {
      PIGMENT_RETURN_IF_ERROR(added);
    }
  }
  bytes_ += text.size();
  if (bytes_ == 0) {
    rows_before_ = ++rows_;
    return Status::Ok();
  }
  if (rows_ % kRowsPerBegin == 0) begins_.push_back(begin_);
  ends_.push_back(DocumentEndOf(bytes_ - begin_));
  ++rows_;
  return are_enough() ? PutPlaces() : Status::Ok();
}

Status CellWriter::PutPlaces() {
  PartWriter* const begins = packer_->Part(BlockKind::kDocumentBegins, sizeof(uint64_t));
  PartWriter* const ends = packer_->Part(BlockKind::kDocumentEnds, sizeof(uint32_t));
  for (uint32_t row = 0; row < rows_before_; ++row) {
    if (row % kRowsPerBegin == 0) PIGMENT_RETURN_IF_ERROR(begins->Add(uint64_t{0}));
    PIGMENT_RETURN_IF_ERROR(ends->Add(uint32_t{0}));
  }
  rows_before_ = 0;
  for (const uint64_t begin : begins_) PIGMENT_RETURN_IF_ERROR(begins->Add(begin));
  for (const uint32_t end : ends_) PIGMENT_RETURN_IF_ERROR(ends->Add(end));
  begins_.clear();
  ends_.clear();
  return Status::Ok();
}

Status CellWriter::EndGroup() {
  std::optional<RowGroupIndex> made;
  if (group_) made = group_->Finish();
  group_.reset();
  return groups_.Put(std::move(made), rows_);
}

Status CellWriter::Finish() { return are_enough() ? EndGroup() : Status::Ok(); }

}  // namespace pigment
