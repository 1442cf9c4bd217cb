// SPDX-License-Identifier: Apache-2.0
//
// Loading of blocks into the arena, and giving them up.

#include "engine/block/file_block_source.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "engine/base/call_control.h"
#include "engine/base/out_of_memory.h"
#include "engine/base/planted_bugs.h"
#include "engine/base/thread_pool.h"
#include "engine/block/file_block_pass.h"

namespace pigment {
namespace {

// Threads that load at once meet rarely with four mutexes for each.
constexpr uint32_t kMutexesPerCore = 4;
// The part of a budget that one read may fill ahead of what was asked for.
constexpr uint64_t kReadAheadShare = 64;

// A run of so many blocks is worth a system call for its memory.
constexpr uint32_t kPopulatedBlocksMin = 8;

// A block that took so long came from a disk, and others will: of so many that follow the file is
// told ahead. Those that the system has in its memory are there sooner than it is told.
constexpr int64_t kDiskNs = 50'000;
constexpr uint32_t kBlocksAhead = 64;

uint32_t MutexCount(uint32_t groups) { return std::min(groups, UsableCores() * kMutexesPerCore); }

}  // namespace

Result<std::unique_ptr<FileBlockSource>> FileBlockSource::Open(std::unique_ptr<File> file,
                                                               uint32_t segment,
                                                               const FileBlockOptions& options) {
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
  std::unique_ptr<FileMapping> mapping;
  if (options.map) {
    Result<std::unique_ptr<FileMapping>> mapped = file->Map(size);
    // What lives in memory cannot be mapped, and is read as ever.
    if (!mapped.ok() && mapped.status().code() != Code::kUnimplemented) return mapped.status();
    if (mapped.ok()) mapping = std::move(mapped).value();
  }
  PIGMENT_ASSIGN_OR_RETURN(Arena arena, Arena::Reserve(mapping ? 0 : size, path));
  return std::unique_ptr<FileBlockSource>(
      new FileBlockSource(std::move(file), segment, static_cast<uint32_t>(blocks), options,
                          std::move(arena), std::move(mapping)));
}

FileBlockSource::FileBlockSource(std::unique_ptr<File> file, uint32_t segment, uint32_t blocks,
                                 const FileBlockOptions& options, Arena arena,
                                 std::unique_ptr<FileMapping> mapping)
    : file_(std::move(file)),
      segment_(segment),
      blocks_(blocks),
      arena_(std::move(arena)),
      mapping_(std::move(mapping)),
      data_(mapping_ ? const_cast<std::byte*>(mapping_->bytes().data()) : arena_.data()),
      loaded_(mapping_ || !options.cache ? groups() : 0),
      states_(mapping_ || !options.cache ? 0 : blocks),
      checked_(mapping_ || options.cache ? 0 : groups()),
      mutex_count_(MutexCount(groups())),
      mutexes_(std::make_unique<std::mutex[]>(mutex_count_)),
      budget_(mapping_ ? nullptr : options.budget),
      cache_(states_.empty() ? nullptr : options.cache),
      wants_pass_(!mapping_ && !cache_ && uint64_t{blocks} * kBlockBytes >= options.pass_bytes_min),
      large_pages_(arena_.may_have_large_pages() && !cache_ ? blocks / kLargePageBlocks : 0) {
  if (cache_ != nullptr) cache_->Add(this);
}

FileBlockSource::~FileBlockSource() {
  if (cache_ != nullptr) cache_->Remove(this);
  if (budget_ != nullptr) budget_->Release(blocks_resident() * kBlockBytes);
}

Result<const std::byte*> FileBlockSource::Pin(uint32_t physical) {
  return PinAs(physical, Need::kUsual);
}

Result<const std::byte*> FileBlockSource::PinAs(uint32_t physical, Need need) {
  if (physical >= blocks_) {
    return DataLoss(
        Detail::kMissing, name(),
        static_cast<int64_t>(physical) * static_cast<int64_t>(kBlockBytes),
        fmt::format("block {} of \"{}\" is missing: there are {}", physical, name(), blocks_));
  }
  if (!states_.empty()) return PinCounted(physical, need);
  if (!IsLoaded(physical)) PIGMENT_RETURN_IF_ERROR(Load(physical, false, need));
  return AddressOf(physical);
}

Result<const std::byte*> FileBlockSource::PinCounted(uint32_t physical, Need need) {
  std::atomic<uint32_t>& state = states_[physical];
  // Counted first: from then on a loaded block cannot go.
  const uint32_t before = state.fetch_add(1, std::memory_order_acquire);
  if (before & kLoaded) {
    if (!(before & kUsed)) state.fetch_or(kUsed, std::memory_order_relaxed);
    return AddressOf(physical);
  }
  state.fetch_sub(1, std::memory_order_relaxed);
  PIGMENT_RETURN_IF_ERROR(Load(physical, true, need));
  return AddressOf(physical);
}

bool FileBlockSource::ReadAhead(uint32_t physical) {
  const uint32_t left = blocks_ahead_.load(std::memory_order_relaxed);
  if (left == 0 || physical >= blocks_ || IsLoaded(physical)) return false;
  blocks_ahead_.store(left - 1, std::memory_order_relaxed);
  file_->ReadAhead(uint64_t{physical} * kBlockBytes, kBlockBytes);
  return true;
}

// What follows the block in its group too, twice as much as is there without a gap before it: a
// scan in progress soon has whole groups, and who jumps about reads little that nobody asked for.
uint32_t FileBlockSource::RunLength(uint32_t physical) const {
  if (mapping_) return 1;
  uint32_t before = 0;
  while (before < kGroupBlocks / 2 && before < physical && IsLoaded(physical - 1 - before))
    ++before;
  if (before == 0) return 1;
  uint64_t most = std::min(2 * before, kGroupBlocks - physical % kGroupBlocks);
  if (budget_ != nullptr && budget_->limit_bytes() != 0) {
    most = std::min(most, budget_->limit_bytes() / (kReadAheadShare * kBlockBytes));
  }
  uint32_t count = 1;
  while (count < most && physical + count < blocks_ && !IsLoaded(physical + count)) ++count;
  return count;
}

Status FileBlockSource::Load(uint32_t physical, bool pin, Need need) {
  PIGMENT_RETURN_IF_ERROR(LoadRun(physical, pin, need));
  LoadLargePage(physical);
  return Status::Ok();
}

Status FileBlockSource::LoadRun(uint32_t physical, bool pin, Need need) {
  const uint32_t group = physical / kGroupBlocks;
  uint32_t count = RunLength(physical);
  // Before the mutex is taken: making room may have to take that of any group.
  if (budget_ != nullptr) {
    if (count > 1 && !budget_->Charge(size_t{count} * kBlockBytes).ok()) count = 1;
    if (count == 1 && need == Need::kUrgent) {
      budget_->ChargeAlways(kBlockBytes);
    } else if (count == 1) {
      PIGMENT_RETURN_IF_ERROR(budget_->Charge(kBlockBytes));
    }
  }
  Status status;
  uint64_t added = 0;
  {
    const std::lock_guard lock(MutexOf(group));
    // Counted before it is there, so that it cannot go before the caller has it.
    if (pin) states_[physical].fetch_add(1, std::memory_order_relaxed);
    if (!IsLoaded(physical)) {
      // Others may have loaded some of the run meanwhile: what is there must not be read over.
      uint32_t missing = 1;
      while (missing < count && !IsLoaded(physical + missing)) ++missing;
      status = CatchOutOfMemory([&] { return ReadRun(physical, missing, &added); });
    }
    if (pin && !status.ok()) states_[physical].fetch_sub(1, std::memory_order_relaxed);
  }
  if (budget_ != nullptr) budget_->Release((count - added) * kBlockBytes);
  return status;
}

void FileBlockSource::LoadLargePage(uint32_t physical) {
  const uint32_t page = physical / kLargePageBlocks;
  if (page >= large_pages_.size() || large_pages_[page].load(std::memory_order_relaxed)) return;
  constexpr uint32_t kGroups = kLargePageBlocks / kGroupBlocks;
  int loaded = 0;
  for (uint32_t group = page * kGroups; group < (page + 1) * kGroups; ++group)
    loaded += std::popcount(loaded_[group].load(std::memory_order_relaxed));
  if (loaded <= static_cast<int>(kLargePageBlocks / 2)) return;
  if (large_pages_[page].exchange(true, std::memory_order_relaxed)) return;
  // What cannot be had is told to who asks for it.
  const uint32_t end = (page + 1) * kLargePageBlocks;
  for (uint32_t block = page * kLargePageBlocks; block < end; ++block) {
    if (!IsLoaded(block)) (void)LoadRun(block, false, Need::kUsual);
  }
  arena_.MakeLargePage(size_t{page} * kLargePageBytes);
}

Result<std::unique_ptr<BlockSource>> FileBlockSource::NewPass() {
  if (!wants_pass_.exchange(false, std::memory_order_relaxed))
    return std::unique_ptr<BlockSource>();
  PIGMENT_ASSIGN_OR_RETURN(std::unique_ptr<FileBlockPass> pass, FileBlockPass::Make(this, budget_));
  return std::unique_ptr<BlockSource>(std::move(pass));
}

Status FileBlockSource::ReadPassing(uint32_t first, std::span<std::byte> out) {
  reads_.fetch_add(1, std::memory_order_relaxed);
  return file_->ReadAt(uint64_t{first} * kBlockBytes, out);
}

Status FileBlockSource::VerifyPassing(uint32_t physical, const std::byte* bytes) {
  PIGMENT_RETURN_IF_ERROR(
      CheckBlockOfFile(ConstBlockBytes(bytes, kBlockBytes), segment_, physical, name()));
  blocks_loaded_.fetch_add(1, std::memory_order_relaxed);
  return Status::Ok();
}

void FileBlockSource::SetLoaded(uint32_t physical, bool is_used) {
  if (states_.empty()) {
    loaded_[physical / kGroupBlocks].fetch_or(uint64_t{1} << (physical % kGroupBlocks),
                                              std::memory_order_release);
  } else {
    states_[physical].fetch_or(is_used ? kLoaded | kUsed : kLoaded, std::memory_order_release);
  }
}

Status FileBlockSource::VerifyBlock(uint32_t physical) const {
  return CheckBlockOfFile(ConstBlockBytes(AddressOf(physical), kBlockBytes), segment_, physical,
                          name());
}

Status FileBlockSource::ReadRun(uint32_t first, uint32_t count, uint64_t* added) {
  if (!mapping_) {
    reads_.fetch_add(1, std::memory_order_relaxed);
    const uint64_t offset = uint64_t{first} * kBlockBytes;
    if (count >= kPopulatedBlocksMin) arena_.Populate(offset, size_t{count} * kBlockBytes);
    const int64_t begin = MonotonicNow();
    PIGMENT_RETURN_IF_ERROR(file_->ReadAt(offset, {data_ + offset, size_t{count} * kBlockBytes}));
    if (count == 1 && MonotonicNow() - begin >= kDiskNs)
      blocks_ahead_.store(kBlocksAhead, std::memory_order_relaxed);
  }
  Status status;
  for (uint32_t i = 0; i < count; ++i) {
    Status checked = VerifyBlock(first + i);
    if (checked.ok()) {
      SetLoaded(first + i, i == 0);
      ++*added;
    } else if (i == 0) {
      // The one that was asked for; damage behind it is reported to who asks for that.
      status = std::move(checked);
    }
  }
  blocks_loaded_.fetch_add(*added, std::memory_order_relaxed);
  blocks_resident_.fetch_add(*added, std::memory_order_relaxed);
  return status;
}

uint64_t FileBlockSource::SweepGroup(uint32_t group) {
  const std::lock_guard lock(MutexOf(group));
  const uint32_t first = group * kGroupBlocks;
  const uint32_t end = std::min(blocks_, first + kGroupBlocks);
  uint64_t freed = 0;
  uint32_t run = 0;  // blocks before `block` that were given up, and whose memory goes in one call
  for (uint32_t block = first; block <= end; ++block) {
    bool is_free = false;
    if (block < end) {
      std::atomic<uint32_t>& state = states_[block];
      uint32_t unused = kLoaded;
      is_free = state.compare_exchange_strong(unused, 0, std::memory_order_acq_rel);
      if (unused == (kLoaded | kUsed)) state.fetch_and(~kUsed, std::memory_order_relaxed);
    }
    if (is_free) {
      ++run;
    } else if (run != 0) {
      // Pages are not larger than blocks on the machines that this runs on; where they were, the
      // call would fail and the memory stay, its contents unused.
      (void)madvise(data_ + size_t{block - run} * kBlockBytes, size_t{run} * kBlockBytes,
                    MADV_DONTNEED);
      freed += uint64_t{run} * kBlockBytes;
      run = 0;
    }
  }
  blocks_resident_.fetch_sub(freed / kBlockBytes, std::memory_order_relaxed);
  if (budget_ != nullptr) budget_->Release(freed);
  return freed;
}

}  // namespace pigment
