// SPDX-License-Identifier: Apache-2.0
//
// Repair: writes a new store with everything of a damaged one that can still be read, and never
// touches the damaged one. What is whole is copied as it is, ids, positions and all; what is not is
// taken apart and written anew. What was lost is in the report. One thread; nobody may write to the
// damaged store meanwhile. Memory: its log, and one segment at a time.
//
//   segment with damaged blocks   its readable live rows become a new segment
//   deletions unreadable          rows that live elsewhere are left out; others may come back
//   log damaged                   batches before and behind the damage are kept, where they validate;
//                                 their positions stay what they were
//   catalog damaged               what its valid edits say; segments and log batches that belong to
//                                 no collection any more become collections with generated names

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/base/files.h"
#include "engine/base/status.h"

namespace pigment {

struct RepairOptions {
  FileSystem* from_files = nullptr;  // null: the disk
  FileSystem* to_files = nullptr;    // null: the disk
  CallControl control;
};

struct RepairedCollection {
  std::string name;
  bool is_recovered = false;  // made from what no collection claimed; its name is generated
  uint64_t rows = 0;          // stored rows of segments that were kept, not counting deleted ones
  uint64_t rows_lost = 0;
  uint64_t deletions_lost = 0;  // rows that may have come back
  uint64_t segments_rewritten = 0;
};

struct RepairReport {
  enum class CatalogState { kWhole, kDamaged, kLost };
  CatalogState catalog = CatalogState::kWhole;
  uint64_t log_batches = 0;  // kept
  uint64_t log_batches_lost = 0;
  // False when bytes of the log do not validate: batches at its end may be lost that nothing counts,
  // or never were there (a torn end after a crash).
  bool is_log_whole = true;
  uint64_t shelf_records_lost = 0;  // of cold collections: what they had in no segment
  uint64_t position = 0;            // of the new store
  std::vector<RepairedCollection> collections;
  std::vector<std::string> messages;  // what was wrong, and what was done about it

  bool is_lossless() const;
};

// `from` without anything of a store: kNotFound. `to` as for a backup.
Result<RepairReport> RepairStore(const std::string& from, const std::string& to,
                                 const RepairOptions& options = {});

}  // namespace pigment
