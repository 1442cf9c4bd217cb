// SPDX-License-Identifier: Apache-2.0
//
// CrashExplorer: runs workloads over a CrashFileSystem, enumerates what a power cut may leave at
// every operation, and opens each such tree: the store opens by itself, holds everything that was
// acknowledged and a prefix of what was issued, answers as the model does, is whole in every block,
// and a second open changes no byte. Some are cut again while they recover, and some are written to
// and cut once more. Knows nothing of planted bugs; the first failure ends it. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/support/crash_states.h"
#include "tests/support/store_history.h"

namespace pigment {

struct CrashCounts {
  uint64_t workloads = 0;
  uint64_t states = 0;     // different trees that were opened
  uint64_t nested = 0;     // those of a cut during recovery, or of a write after it
  uint64_t met_again = 0;  // trees that had been opened before
};

struct CrashExplorerOptions {
  StoreOptions store;
  CrashStateOptions states;  // of the shortest workloads
  CrashStateOptions brief_states{.exhaustive_max = 6,
                                 .pairs_max = 8,
                                 .random_subsets = 8,
                                 .variants_max = 4};
  CrashStateOptions nested_states{.exhaustive_max = 4,
                                  .pairs_max = 0,
                                  .random_subsets = 4,
                                  .variants_max = 2};
  // One in so many trees is cut again while it recovers, and written to and cut again, and opened
  // twice (when recovery changed something).
  uint32_t nested_one_in = 150;
  uint32_t written_one_in = 200;
  uint32_t reopened_one_in = 2;
};

class CrashExplorer {
 public:
  explicit CrashExplorer(const CrashExplorerOptions& options) : options_(options) {}

  struct Workload {
    const CrashTree* tree = nullptr;
    StoreModelRef model;  // what the tree holds
    std::vector<StoreOperation> operations;
    size_t first_cut = 0;      // power is cut from this operation on: shorter workloads had the rest
    uint64_t fail_sync = 0;    // this sync of the run fails, counted from 1; 0: none
    uint64_t fail_write = 0;   // and this write
    uint64_t seed = 1;
    bool is_brief = false;  // fewer states at each operation: for workloads of which there are many
  };
  // The failure, or empty.
  std::string Explore(const Workload& workload);

  // Runs a workload whole, and gives the tree that it leaves when nothing fails.
  std::string Build(const Workload& workload, CrashTree* tree, StoreModelRef* model);

  const CrashCounts& counts() const { return counts_; }
  // Of the workload that was run last.
  uint64_t last_syncs() const { return last_syncs_; }
  uint64_t last_writes() const { return last_writes_; }

 private:
  struct HashOfHash {
    size_t operator()(const Hash128& hash) const { return hash.low; }
  };
  std::string Run(const Workload& workload, CrashFileSystem& files, StoreRun& run, size_t* begin);
  std::string CutEverywhere(const CrashTree& tree, const CrashFileSystem& files,
                            const std::vector<HistoryPoint>& points, size_t begin,
                            const CrashStateOptions& options, uint32_t depth);
  std::string Check(const CrashTree& tree, const Hash128& hash,
                    const std::vector<StoreModelRef>& allowed, uint32_t depth);
  std::string CheckAgain(const CrashTree& tree, const Hash128& hash, const StoreModelRef& model);
  std::string CutRecovery(const CrashTree& tree, const CrashFileSystem& files, const StoreRun& run);
  std::string CutWrite(const CrashTree& tree, const StoreModelRef& model, uint64_t seed);

  const CrashExplorerOptions options_;
  CrashCounts counts_;
  uint64_t last_syncs_ = 0;
  uint64_t last_writes_ = 0;
  std::unordered_map<Hash128, Hash128, HashOfHash> seen_;  // tree: what a store says that opens it
};

}  // namespace pigment
