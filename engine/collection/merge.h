// SPDX-License-Identifier: Apache-2.0
//
// One merge: rows of several segments become one segment, in the order of their ordinals. Runs on a
// thread of Maintenance, on a writer's or on that of Compact; owns nothing but what it writes.
// Which segments, and what becomes of the result, is CollectionState's to say (compaction.cc).

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/base/memory_budget.h"
#include "engine/collection/contents.h"
#include "engine/collection/segment_store.h"
#include "engine/record/configuration.h"
#include "engine/segment/kept_links.h"

namespace pigment {

// Asked for every few rows; its error ends the merge, which leaves nothing behind. `rows` is how
// many the merge under way reads: a smaller one of the same thread may be done within the call.
using MergePause = std::function<Status(uint64_t rows)>;

// Where rows of the inputs went. 4 bytes for each of their rows.
class RowMap {
 public:
  static constexpr uint32_t kDropped = kVectorIsGone;

  explicit RowMap(MemoryBudget* budget) : reservation_(budget) {}

  // Adds an input of `rows` rows; each counts as dropped until Set says where it went.
  Status AddInput(uint32_t rows);
  void Set(size_t input, uint32_t row, uint32_t to);
  // Appends where the rows of `input` went that are set in `deleted` (null: none are) and were not
  // dropped.
  void Translate(size_t input, const RowBitmap* deleted, std::vector<uint32_t>& to) const;
  // The same for an input all of whose rows are deleted.
  void TranslateAll(size_t input, std::vector<uint32_t>& to) const;
  // Of each row of `input` where it went, or kDropped.
  std::span<const uint32_t> of(size_t input) const { return rows_[input]; }

 private:
  Reservation reservation_;
  std::vector<std::vector<uint32_t>> rows_;
};

// What to merge: neighbours of one collection, with the deletions that the catalog stores. Only
// rows dead in those are dropped: replay of the log above the floor may ask for any other.
struct MergeJob {
  std::vector<SegmentSlot> inputs;
  uint32_t dimension = 0;
  Metric metric = Metric::kL2;
  VectorElement vector_element = VectorElement::kF32;
  IndexSettings index;                       // what the output has
  uint32_t index_rows_min = 0;               // from so many rows on
  uint32_t cluster_rows_min = 0xFFFFFFFF;    // of smaller ones: SmallIndexOf
  uint32_t threads = 1;                      // that build it
  SharedRules rules;                         // what is indexed of records
  std::shared_ptr<const Analyzer> analyzer;  // of a collection with a text index
  uint64_t names_epoch = 0;                  // of the segment store, before the output was begun
  CallControl told;                          // of the call that waits for it: how far it is
};

// What segments have that are worth it, and smaller ones of at least `rows_min` rows.
SegmentIndex IndexOf(const IndexSettings& settings);
SegmentIndex SmallIndexOf(const IndexSettings& settings, uint64_t rows, uint32_t rows_min);

struct MergedSegment {
  explicit MergedSegment(MemoryBudget* budget) : map(budget) {}

  std::optional<SegmentSlot> output;  // nullopt: no row was left
  RowMap map;
};

// Writes the rows of `job` as segment `number`, durable but for its name; on failure no file is
// left behind. Inputs that are damaged give their kDataLoss.
Result<MergedSegment> MergeSegments(SegmentStore& segments, const MergeJob& job, uint32_t number,
                                    const MergePause& pause);

// How many rows of inputs a merge may have: what it keeps of each (where it goes, and its id until
// the ids are sorted) takes three quarters of the memory that there is for merges at the most.
uint64_t MergeRowsMax(const SegmentStore& segments);

}  // namespace pigment
