// SPDX-License-Identifier: Apache-2.0
//
// BlockCache: which blocks of a store with a memory budget stay in memory. It gives the budget back
// what the least recently used blocks of all sources take whenever a charge does not fit. A store
// without a limit has none. Any thread. One per store, owned by what outlives its sources.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/base/memory_budget.h"

namespace pigment {

// A source whose blocks can be given up.
class EvictableBlocks {
 public:
  virtual ~EvictableBlocks() = default;
  virtual uint32_t groups() const = 0;  // of 64 blocks
  virtual bool has_loaded() const = 0;
  // Passes the clock's hand over one group: what nobody pins and nobody used since the hand was
  // here last is given up and released to the budget. Returns its bytes.
  virtual uint64_t SweepGroup(uint32_t group) = 0;
};

class BlockCache {
 public:
  // Becomes the reclaimer of `budget` (borrowed), for as long as it lives: set up both before
  // anything is charged.
  explicit BlockCache(MemoryBudget* budget);
  ~BlockCache();

  // A source tells of itself before its first load and before it dies.
  void Add(EvictableBlocks* source);
  void Remove(EvictableBlocks* source);

  // Gives up blocks of at least `bytes`, where so many are not pinned. Returns what was freed.
  uint64_t Reclaim(uint64_t bytes);

  uint64_t bytes_evicted() const { return bytes_evicted_.load(std::memory_order_relaxed); }

 private:
  MemoryBudget* const budget_;
  std::atomic<uint64_t> bytes_evicted_{0};
  // Guards the members below. Held while a source sweeps, which takes that source's mutex of the
  // group; nobody waits for this one while holding such a mutex.
  std::mutex mutex_;
  std::vector<EvictableBlocks*> sources_;
  size_t source_ = 0;  // the hand
  uint32_t group_ = 0;
};

}  // namespace pigment
