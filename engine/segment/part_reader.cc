// SPDX-License-Identifier: Apache-2.0
//
// Pins, and the arithmetic from a part's blocks to those of the source.

#include "engine/segment/part_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/prefetch.h"

namespace pigment {

Result<PinnedBlock> PinChecked(BlockSource* source, uint32_t physical,
                               const BlockExpectation& expected) {
  PIGMENT_ASSIGN_OR_RETURN(PinnedBlock block, PinUnchecked(source, physical));
  PIGMENT_RETURN_IF_ERROR(source->verifies_on_load()
                              ? CheckBlockPlace(block.block(), expected, physical, source->name())
                              : CheckBlock(block.block(), expected, physical, source->name()));
  return block;
}

Result<const std::byte*> PartCursor::Block(uint32_t index) {
  if (index == index_ && bytes_ != nullptr) return bytes_;
  if (part_ == nullptr || (index >= part_->blocks && !(part_->is_packed() && index == 0))) {
    return Damaged(Detail::kMiscounted, fmt::format("block {} beyond its end is asked for", index));
  }
  Release();
  const uint32_t physical = root_->PhysicalOf(*part_, index);
  const uint32_t logical = part_->first + index;
  const uint64_t bit = uint64_t{1} << (logical % 64);
  const bool is_remembered = logical / 64 < checked_.size();
  index_ = index;
  if (is_remembered && (checked_[logical / 64].load(std::memory_order_relaxed) & bit) != 0) {
    if (const std::byte* const resident = source_->Resident(physical); resident != nullptr)
      return bytes_ = resident + kBlockHeaderBytes + part_->offset;
    PIGMENT_ASSIGN_OR_RETURN(pinned_, PinUnchecked(source_, physical));
    if (!verifies_on_load_) {
      PIGMENT_RETURN_IF_ERROR(CheckBlockPlace(pinned_.block(), root_->ExpectationOf(*part_, index),
                                              physical, source_->name()));
    }
  } else {
    PIGMENT_ASSIGN_OR_RETURN(pinned_,
                             PinChecked(source_, physical, root_->ExpectationOf(*part_, index)));
    if (is_remembered) checked_[logical / 64].fetch_or(bit, std::memory_order_relaxed);
  }
  return bytes_ = pinned_.payload() + part_->offset;
}

Status PartCursor::ReadStream(uint64_t offset, uint64_t size, std::string& out) {
  if (offset > bytes() || size > bytes() - offset) {
    return Damaged(Detail::kMiscounted,
                   fmt::format("{} bytes at {} lie beyond its {}", size, offset, bytes()));
  }
  while (size > 0) {
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload,
                             Block(static_cast<uint32_t>(offset / kBlockPayloadBytes)));
    const size_t within = static_cast<size_t>(offset % kBlockPayloadBytes);
    const size_t some = static_cast<size_t>(std::min<uint64_t>(size, kBlockPayloadBytes - within));
    const size_t end = out.size();
    out.resize(end + some);
    CopyBytes(out.data() + end, payload + within, some);
    offset += some;
    size -= some;
  }
  return Status::Ok();
}

Result<std::string_view> PartCursor::ViewStream(uint64_t offset, uint64_t size, std::string& copy) {
  const size_t within = static_cast<size_t>(offset % kBlockPayloadBytes);
  if (size == 0 || size > kBlockPayloadBytes - within || offset > bytes() ||
      size > bytes() - offset) {
    copy.clear();
    PIGMENT_RETURN_IF_ERROR(ReadStream(offset, size, copy));
    return std::string_view(copy);
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload,
                           Block(static_cast<uint32_t>(offset / kBlockPayloadBytes)));
  return std::string_view(reinterpret_cast<const char*>(payload) + within,
                          static_cast<size_t>(size));
}

PartCursor::ElementRun PartCursor::RunFrom(uint64_t index, uint64_t bytes) const {
  if (const uint32_t per_block = elements_per_block_; per_block != 0) {
    const auto place = static_cast<uint32_t>(index % per_block);
    return {static_cast<uint32_t>(index / per_block), place * bytes, per_block - place};
  }
  if (element_bytes() != 0)
    return {static_cast<uint32_t>(index) * BlocksPerElement(element_bytes()), 0, 0};
  const uint64_t offset = index * bytes;
  const auto within = static_cast<size_t>(offset % kBlockPayloadBytes);
  return {static_cast<uint32_t>(offset / kBlockPayloadBytes), within,
          static_cast<uint32_t>((kBlockPayloadBytes - within) / bytes)};
}

Result<std::span<const std::byte>> PartCursor::ViewElement(uint64_t index, uint64_t bytes,
                                                           std::string& copy) {
  const ElementRun run = RunFrom(index, bytes);
  if (run.count != 0) {
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload, Block(run.block));
    return std::span(payload + run.within, static_cast<size_t>(bytes));
  }
  copy.clear();
  PIGMENT_RETURN_IF_ERROR(ReadStream(index * bytes, bytes, copy));
  return std::as_bytes(std::span(copy));
}

const std::byte* PartCursor::LikelyBlock(uint32_t index) const {
  if (part_ == nullptr || index >= part_->blocks) return nullptr;
  const std::byte* const block = source_->Likely(root_->PhysicalOf(*part_, index));
  if (block == nullptr) return nullptr;
  // A pin looks there too.
  if (!verifies_on_load_) ExpectBytes(block + kBlockBytes - kBlockTrailerBytes, kBlockTrailerBytes);
  return block + kBlockHeaderBytes;
}

bool PartCursor::Expect(uint32_t block, size_t within, uint64_t size, bool was_asked_for) {
  const std::byte* const payload = LikelyBlock(block);
  if (payload == nullptr) {
    return !was_asked_for && part_ != nullptr && block < part_->blocks &&
           source_->ReadAhead(root_->PhysicalOf(*part_, block));
  }
  ExpectBytes(payload + within, std::min<uint64_t>(size, kBlockPayloadBytes - within));
  return false;
}

bool PartCursor::ExpectElement(uint64_t index, uint64_t bytes, uint64_t some) {
  const ElementRun run = RunFrom(index, bytes);
  return ExpectFrom(run.block, run.within, some);
}

bool PartCursor::ExpectRestOfElement(uint64_t index, uint64_t bytes, uint64_t some) {
  if (some == bytes) return false;
  const ElementRun run = RunFrom(index, bytes);
  const size_t within = run.within + static_cast<size_t>(some);
  if (within >= kBlockPayloadBytes)
    return ExpectFrom(run.block + 1, within - kBlockPayloadBytes, bytes - some);
  return ExpectFrom(run.block, within, bytes - some, true);
}

bool PartCursor::ExpectStream(uint64_t offset, uint64_t size) {
  return ExpectFrom(static_cast<uint32_t>(offset / kBlockPayloadBytes),
                    static_cast<size_t>(offset % kBlockPayloadBytes), size);
}

bool PartCursor::ExpectFrom(uint32_t block, size_t within, uint64_t size, bool was_asked_for) {
  bool is_far = Expect(block, within, size, was_asked_for);
  // Of what goes on, what lies in the next block; what is behind that comes by itself.
  const size_t here = kBlockPayloadBytes - within;
  if (here < size && Expect(block + 1, 0, size - here)) is_far = true;
  return is_far;
}

Status PartCursor::CopyStream(uint64_t offset, std::span<std::byte> out) {
  if (offset > bytes() || out.size() > bytes() - offset) {
    return Damaged(Detail::kMiscounted,
                   fmt::format("{} bytes at {} lie beyond its {}", out.size(), offset, bytes()));
  }
  while (!out.empty()) {
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload,
                             Block(static_cast<uint32_t>(offset / kBlockPayloadBytes)));
    const size_t within = static_cast<size_t>(offset % kBlockPayloadBytes);
    const size_t some = std::min(out.size(), kBlockPayloadBytes - within);
    CopyBytes(out.data(), payload + within, some);
    offset += some;
    out = out.subspan(some);
  }
  return Status::Ok();
}

Status PartCursor::Damaged(Detail detail, const std::string& message) const {
  uint32_t physical = root_->physical;
  if (part_ != nullptr && (part_->blocks != 0 || part_->is_packed())) {
    const uint32_t index = index_ < part_->blocks ? index_ : 0;
    physical = root_->PhysicalOf(*part_, index);
  }
  return DataLoss(detail, source_->name(),
                  static_cast<int64_t>(physical) * static_cast<int64_t>(kBlockBytes),
                  fmt::format("segment {} in \"{}\", part {}: {}", root_->info.segment,
                              source_->name(), BlockKindName(kind_), message));
}

}  // namespace pigment
