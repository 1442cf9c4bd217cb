// SPDX-License-Identifier: Apache-2.0
//
// What searches of a collection with a text index share: its analyzer, the parameters of BM25, and
// text indexes in memory of rows that have none on disk. A version keeps it, and it the budget.
// Any thread.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/base/memory_budget.h"
#include "engine/collection/row_bitmap.h"
#include "engine/fulltext/text_group.h"
#include "engine/record/record.h"
#include "engine/record/text_index.h"
#include "engine/segment/segment.h"

namespace pigment {

// The index of rows that follow each other, in memory.
struct TextPiece {
  uint32_t first_row = 0;
  std::shared_ptr<const TextGroup> group;
};

// Indexes of the rows of one chunk of a tail: of all 256, of sixteen, of one; a longer one takes
// the place of those within it. Made by the first search that wants them.
class ChunkText {
 public:
  // Of the first rows of `rows`, which are the chunk's. `budget` is charged as long as they are.
  Result<std::vector<TextPiece>> Cover(std::span<const std::shared_ptr<const Record>> rows,
                                       const Analyzer& analyzer,
                                       const std::shared_ptr<MemoryBudget>& budget,
                                       const CallControl& control);

 private:
  std::mutex mutex_;
  std::map<std::pair<uint32_t, uint32_t>, std::shared_ptr<const TextGroup>> pieces_;  // begin, rows
};

class CollectionText {
 public:
  CollectionText(std::shared_ptr<const Analyzer> analyzer, std::shared_ptr<MemoryBudget> budget)
      : analyzer_(std::move(analyzer)), budget_(std::move(budget)) {}

  const std::shared_ptr<const Analyzer>& analyzer() const { return analyzer_; }
  const std::shared_ptr<MemoryBudget>& budget() const { return budget_; }

  // Of `rows` rows of a segment from `first` on, which have no index that could be used: made of
  // their documents, and kept as long as the segment is open.
  Result<std::shared_ptr<const TextGroup>> OfSegment(const std::shared_ptr<const Segment>& segment,
                                                     uint32_t first, uint32_t rows,
                                                     const CallControl& control);

  // Documents and words among the deleted rows of a segment; those that were counted last are kept.
  struct Counts {
    uint64_t documents = 0;
    uint64_t words = 0;
  };
  template <typename Count>
  Result<Counts> CountDeleted(uint32_t segment, const std::shared_ptr<const RowBitmap>& deleted,
                              const Count& count) {
    {
      std::lock_guard lock(mutex_);
      const auto found = deleted_.find(segment);
      if (found != deleted_.end() && found->second.first == deleted) return found->second.second;
    }
    PIGMENT_ASSIGN_OR_RETURN(const Counts counts, count());
    std::lock_guard lock(mutex_);
    deleted_.insert_or_assign(segment, std::pair(deleted, counts));
    return counts;
  }

 private:
  struct Place {
    uint32_t segment;
    uint32_t first;
    auto operator<=>(const Place&) const = default;
  };
  struct Made {
    std::weak_ptr<const Segment> segment;
    std::shared_ptr<const TextGroup> group;
  };

  const std::shared_ptr<const Analyzer> analyzer_;
  const std::shared_ptr<MemoryBudget> budget_;
  std::mutex mutex_;  // guards the members below; nothing is called while it is held
  std::map<Place, Made> made_;
  std::map<uint32_t, std::pair<std::shared_ptr<const RowBitmap>, Counts>> deleted_;  // by segment
};

// What a version says of it.
struct VersionText {
  std::shared_ptr<CollectionText> shared;  // null: the collection has no text index
  double k1 = 0;
  double b = 0;
};

}  // namespace pigment
