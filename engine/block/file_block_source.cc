// SPDX-License-Identifier: Apache-2.0
//
// Loading of blocks into the arena.

#include "engine/block/file_block_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/base/planted_bugs.h"

namespace pigment {

Result<std::unique_ptr<FileBlockSource>> FileBlockSource::Open(std::unique_ptr<File> file,
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
  PIGMENT_ASSIGN_OR_RETURN(Arena arena, Arena::Reserve(size, path));
  return std::unique_ptr<FileBlockSource>(new FileBlockSource(
      std::move(file), segment, static_cast<uint32_t>(blocks), budget, std::move(arena)));
}

FileBlockSource::FileBlockSource(std::unique_ptr<File> file, uint32_t segment, uint32_t blocks,
                                 MemoryBudget* budget, Arena arena)
    : file_(std::move(file)),
      segment_(segment),
      blocks_(blocks),
      arena_(std::move(arena)),
      loaded_((blocks + kGroupBlocks - 1) / kGroupBlocks),
      mutex_count_(std::min(static_cast<uint32_t>(loaded_.size()), kMutexesMax)),
      mutexes_(std::make_unique<std::mutex[]>(mutex_count_)),
      budget_(budget) {}

FileBlockSource::~FileBlockSource() {
  if (budget_ != nullptr) budget_->Release(bytes_loaded());
}

Result<const std::byte*> FileBlockSource::Pin(uint32_t physical) {
  if (physical >= blocks_) {
    return DataLoss(
        Detail::kMissing, name(),
        static_cast<int64_t>(physical) * static_cast<int64_t>(kBlockBytes),
        fmt::format("block {} of \"{}\" is missing: there are {}", physical, name(), blocks_));
  }
  if (!IsLoaded(physical)) PIGMENT_RETURN_IF_ERROR(Load(physical));
  return arena_.data() + static_cast<size_t>(physical) * kBlockBytes;
}

// Reads `physical`, and what follows it in its group where the block before it is there already: a
// scan in progress.
Status FileBlockSource::Load(uint32_t physical) {
  const uint32_t group = physical / kGroupBlocks;
  const std::lock_guard lock(mutexes_[group % mutex_count_]);
  if (IsLoaded(physical)) return Status::Ok();  // somebody else was first
  uint32_t count = 1;
  if (physical > 0 && IsLoaded(physical - 1)) {
    const uint64_t group_end = (uint64_t{group} + 1) * kGroupBlocks;
    while (physical + count < blocks_ && physical + count < group_end &&
           !IsLoaded(physical + count))
      ++count;
  }
  if (budget_ == nullptr) return ReadRun(physical, count);
  if (count > 1 && !budget_->Charge(size_t{count} * kBlockBytes).ok()) count = 1;
  if (count == 1) PIGMENT_RETURN_IF_ERROR(budget_->Charge(kBlockBytes));
  const uint64_t before = std::popcount(loaded_[group].load(std::memory_order_relaxed));
  Status status = ReadRun(physical, count);
  const uint64_t after = std::popcount(loaded_[group].load(std::memory_order_relaxed));
  budget_->Release((count - (after - before)) * kBlockBytes);
  return status;
}

Status FileBlockSource::ReadRun(uint32_t first, uint32_t count) {
  const size_t bytes = size_t{count} * kBlockBytes;
  std::byte* to = arena_.data() + size_t{first} * kBlockBytes;
  reads_.fetch_add(1, std::memory_order_relaxed);
  PIGMENT_RETURN_IF_ERROR(file_->ReadAt(uint64_t{first} * kBlockBytes, {to, bytes}));
  uint64_t bits = 0;
  Status status;
  for (uint32_t i = 0; i < count; ++i) {
    const ConstBlockBytes block(to + size_t{i} * kBlockBytes, kBlockBytes);
    Status checked = CheckBlockBytes(block, first + i, name());
    if (checked.ok()) {
      const BlockTrailer trailer = ReadBlockTrailer(block);
      // What is numbered within its part is held against that number by whoever pins it.
      const uint32_t number = trailer.format == kBlockOfSegment ? first + i : trailer.logical;
      checked = CheckBlockPlace(block, {trailer.kind, segment_, number}, first + i, name());
    }
    if (checked.ok()) {
      bits |= uint64_t{1} << ((first + i) % kGroupBlocks);
    } else if (i == 0) {
      status =
          checked;  // the one that was asked for; damage behind it is reported to who asks for that
    }
  }
  loaded_[first / kGroupBlocks].fetch_or(bits, std::memory_order_release);
  blocks_loaded_.fetch_add(std::popcount(bits), std::memory_order_relaxed);
  return status;
}

}  // namespace pigment
