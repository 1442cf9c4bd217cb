// SPDX-License-Identifier: Apache-2.0
//
// Version: what one reader sees of a collection: a set of immutable segments with their deletion
// bitmaps, and a prefix of the tail. Pinned by shared ownership, never blocks a writer, and never
// changes. Any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/collection/collection_text.h"
#include "engine/collection/row_bitmap.h"
#include "engine/collection/tail.h"
#include "engine/record/index_rules.h"
#include "engine/segment/graft.h"
#include "engine/segment/segment.h"

namespace pigment {

struct SegmentView {
  std::shared_ptr<const Segment> segment;
  std::shared_ptr<const RowBitmap> deleted;  // null: nothing is deleted
  uint32_t deleted_rows = 0;
  std::shared_ptr<const Graft> graft;  // on another's index, which may be gone; null: none

  bool IsLive(uint32_t row) const { return !deleted || !deleted->Test(row); }
};

struct Version {
  uint64_t position = 0;   // log position up to which writes are visible
  uint32_t dimension = 0;  // 0 while nothing was added
  uint64_t live_rows = 0;
  std::vector<SegmentView> segments;  // ascending by ordinal ranges: rows of an earlier segment
                                      // were inserted earlier, except those kept by upsert
  TailView tail;
  SharedRules rules;          // what may be filtered by; null: everything
  uint32_t search_width = 0;  // of queries that say neither recall nor width; 0: by recall
  // Metadata may have objects, and paths are keys.
  bool nested_metadata = false;
  VersionText text;
  std::shared_ptr<MemoryBudget> budget;  // of the store, for what a read takes; null: none
};

}  // namespace pigment
