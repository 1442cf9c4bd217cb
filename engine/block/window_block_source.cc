// SPDX-License-Identifier: Apache-2.0
//
// WindowBlockSource: see the header.

#include "engine/block/window_block_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pigment {
namespace {

// Eight inputs that are read at once may take half of a limited budget.
constexpr uint64_t kWindowsShare = 16;

uint32_t WindowBlocks(const MemoryBudget* budget) {
  constexpr uint32_t kMost = WindowBlockSource::kWindowBlocks;
  if (budget == nullptr || budget->limit_bytes() == 0) return kMost;
  const uint64_t share =
      budget->limit_bytes() / (kWindowsShare * WindowBlockSource::kWindows * kBlockBytes);
  return static_cast<uint32_t>(std::clamp<uint64_t>(share, 1, kMost));
}

}  // namespace

WindowBlockSource::WindowBlockSource(std::unique_ptr<File> file, uint32_t segment, uint32_t blocks,
                                     MemoryBudget* budget)
    : file_(std::move(file)),
      segment_(segment),
      blocks_(blocks),
      window_blocks_(WindowBlocks(budget)),
      reservation_(budget) {}

Result<std::unique_ptr<WindowBlockSource>> WindowBlockSource::Open(std::unique_ptr<File> file,
                                                                   uint32_t segment,
                                                                   MemoryBudget* budget) {
  const std::string& path = file->path();
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  if (size % kBlockBytes != 0) {
    return DataLoss(Detail::kMisaligned, path, static_cast<int64_t>(size),
                    fmt::format("segment file \"{}\" has {} bytes, not a multiple of {}", path,
                                size, kBlockBytes));
  }
  const uint64_t blocks = size / kBlockBytes;
  if (blocks == 0 || blocks >= kNoBlock) {
    return DataLoss(Detail::kTruncated, path, 0,
                    fmt::format("segment file \"{}\" has {} blocks", path, blocks));
  }
  return std::unique_ptr<WindowBlockSource>(
      new WindowBlockSource(std::move(file), segment, static_cast<uint32_t>(blocks), budget));
}

Result<const std::byte*> WindowBlockSource::Pin(uint32_t physical) {
  if (physical >= blocks_) {
    return DataLoss(
        Detail::kMissing, name(),
        static_cast<int64_t>(physical) * static_cast<int64_t>(kBlockBytes),
        fmt::format("block {} of \"{}\" is missing: there are {}", physical, name(), blocks_));
  }
  const uint32_t first = physical / window_blocks_ * window_blocks_;
  Window* window = last_ != nullptr && last_->first == first ? last_ : nullptr;
  for (size_t i = 0; window == nullptr && i < windows_.size(); ++i) {
    if (windows_[i]->first == first) window = windows_[i].get();
  }
  if (window == nullptr) {
    PIGMENT_ASSIGN_OR_RETURN(window, FreeWindow());
    PIGMENT_RETURN_IF_ERROR(Load(*window, first));
  }
  const uint32_t index = physical - first;
  // Damage is told to whoever asks for the block, not to those who read its neighbours.
  if (!(window->verified >> index & 1)) PIGMENT_RETURN_IF_ERROR(CheckBlock(*window, index));
  window->used = ++clock_;
  ++window->pins;
  last_ = window;
  return window->bytes.get() + size_t{index} * kBlockBytes;
}

void WindowBlockSource::Unpin(uint32_t physical, const std::byte*) {
  const uint32_t first = physical / window_blocks_ * window_blocks_;
  for (const auto& window : windows_) {
    if (window->first == first) --window->pins;
  }
}

Result<WindowBlockSource::Window*> WindowBlockSource::FreeWindow() {
  Window* oldest = nullptr;
  for (const auto& window : windows_) {
    if (window->pins == 0 && (oldest == nullptr || window->used < oldest->used))
      oldest = window.get();
  }
  if (oldest != nullptr && windows_.size() >= kWindows) return oldest;
  if (Status status = reservation_.Grow(window_blocks_ * kBlockBytes); !status.ok()) {
    if (oldest != nullptr) return oldest;  // fewer windows: slower, and it works
    return status;
  }
  auto window = std::make_unique<Window>();
  window->bytes = std::make_unique_for_overwrite<std::byte[]>(window_blocks_ * kBlockBytes);
  windows_.push_back(std::move(window));
  return windows_.back().get();
}

Status WindowBlockSource::Load(Window& window, uint32_t first) {
  window.first = kNoBlock;
  window.verified = 0;
  const uint32_t count = std::min(window_blocks_, blocks_ - first);
  ++reads_;
  PIGMENT_RETURN_IF_ERROR(
      file_->ReadAt(uint64_t{first} * kBlockBytes,
                    {window.bytes.get(), static_cast<size_t>(count) * kBlockBytes}));
  window.first = first;
  for (uint32_t index = 0; index < count; ++index) {
    if (CheckBlock(window, index).ok()) window.verified |= 1u << index;
  }
  return Status::Ok();
}

Status WindowBlockSource::CheckBlock(const Window& window, uint32_t index) const {
  const ConstBlockBytes block(window.bytes.get() + size_t{index} * kBlockBytes, kBlockBytes);
  return CheckBlockOfFile(block, segment_, window.first + index, name());
}

}  // namespace pigment
