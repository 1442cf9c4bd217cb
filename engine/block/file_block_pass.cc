// SPDX-License-Identifier: Apache-2.0
//
// FileBlockPass.

#include "engine/block/file_block_pass.h"

#include <algorithm>
#include <utility>

#include "engine/block/file_block_source.h"

namespace pigment {
namespace {

// A walk that leaves out so many blocks or fewer still goes on from block to block.
constexpr uint32_t kGapBlocksMax = 4;

}  // namespace

Result<std::unique_ptr<FileBlockPass>> FileBlockPass::Make(FileBlockSource* source,
                                                           MemoryBudget* budget) {
  Reservation reservation(budget);
  PIGMENT_RETURN_IF_ERROR(reservation.Grow(size_t{kBufferBlocks} * kBlockBytes));
  return std::unique_ptr<FileBlockPass>(new FileBlockPass(source, std::move(reservation)));
}

FileBlockPass::FileBlockPass(FileBlockSource* source, Reservation reservation)
    : source_(source),
      reservation_(std::move(reservation)),
      bytes_(std::make_unique_for_overwrite<std::byte[]>(size_t{kBufferBlocks} * kBlockBytes)) {}

const std::string& FileBlockPass::name() const { return source_->name(); }
std::optional<uint32_t> FileBlockPass::blocks() const { return source_->blocks(); }

Result<const std::byte*> FileBlockPass::Pin(uint32_t physical) {
  const bool is_held = Holds(physical);
  const bool is_elsewhere = physical >= *source_->blocks() || (!is_held && pins_ != 0) ||
                            source_->Resident(physical) != nullptr;
  if (is_elsewhere) return source_->Pin(physical);
  if (!is_held) PIGMENT_RETURN_IF_ERROR(Load(physical));
  const uint32_t bit = uint32_t{1} << (physical - first_);
  if ((verified_ & bit) == 0) {
    PIGMENT_RETURN_IF_ERROR(source_->VerifyPassing(physical, AddressOf(physical)));
    verified_ |= bit;
  }
  ++pins_;
  return AddressOf(physical);
}

void FileBlockPass::Unpin(uint32_t physical, const std::byte* bytes) {
  if (Holds(physical) && bytes == AddressOf(physical)) {
    --pins_;
  } else {
    source_->Unpin(physical, bytes);
  }
}

Status FileBlockPass::Load(uint32_t physical) {
  const uint32_t end = first_ + count_;
  const bool goes_on = count_ == 0 || (physical >= end && physical - end <= kGapBlocksMax);
  count_ = 0;
  verified_ = 0;
  const uint32_t left = *source_->blocks() - physical;
  const uint32_t wanted = goes_on ? std::min(left, kBufferBlocks - physical % kBufferBlocks) : 1;
  PIGMENT_RETURN_IF_ERROR(
      source_->ReadPassing(physical, {bytes_.get(), size_t{wanted} * kBlockBytes}));
  first_ = physical;
  count_ = wanted;
  return Status::Ok();
}

}  // namespace pigment
