// SPDX-License-Identifier: Apache-2.0
//
// The clock's hand.

#include "engine/block/block_cache.h"

#include <algorithm>

namespace pigment {
namespace {

// Reclaimed at a time, so that a scan does not stop at each block; never more than a part of the
// budget, or the blocks that are in use would have to go.
constexpr uint64_t kReclaimBytes = uint64_t{1} << 20;
constexpr uint64_t kReclaimShare = 16;

}  // namespace

BlockCache::BlockCache(MemoryBudget* budget) : budget_(budget) {
  budget_->SetReclaimer([this](uint64_t bytes) {
    return Reclaim(
        std::max(bytes, std::min(kReclaimBytes, budget_->limit_bytes() / kReclaimShare)));
  });
}

BlockCache::~BlockCache() { budget_->SetReclaimer(nullptr); }

void BlockCache::Add(EvictableBlocks* source) {
  const std::lock_guard lock(mutex_);
  sources_.push_back(source);
}

void BlockCache::Remove(EvictableBlocks* source) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(sources_.begin(), sources_.end(), source);
  if (found == sources_.end()) return;
  const auto index = static_cast<size_t>(found - sources_.begin());
  // The last one takes its place; where the hand was within either does not matter.
  *found = sources_.back();
  sources_.pop_back();
  if (source_ == index || source_ >= sources_.size()) group_ = 0;
  if (source_ >= sources_.size()) source_ = 0;
}

// The first round may only take away what says that a block was used; the second then finds it.
uint64_t BlockCache::Reclaim(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  uint64_t freed = 0;
  uint64_t left = 1;  // sources to visit
  left += 2 * sources_.size();
  while (freed < bytes && left > 0 && !sources_.empty()) {
    EvictableBlocks* const source = sources_[source_];
    if (group_ < source->groups() && source->has_loaded()) {
      freed += source->SweepGroup(group_++);
    } else {
      source_ = (source_ + 1) % sources_.size();
      group_ = 0;
      --left;
    }
  }
  bytes_evicted_.fetch_add(freed, std::memory_order_relaxed);
  return freed;
}

}  // namespace pigment
