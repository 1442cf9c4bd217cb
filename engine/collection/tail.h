// SPDX-License-Identifier: Apache-2.0
//
// The mutable tail of a collection: records that were logged and not flushed yet, append-only. One
// writer (the log's apply order, under the collection's state lock) appends; any number of readers
// hold TailViews, which see a fixed prefix and a fixed set of deletions.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/made_once.h"
#include "engine/collection/collection_text.h"
#include "engine/collection/row_bitmap.h"
#include "engine/record/record.h"
#include "engine/vector/chunk_codes.h"

namespace pigment {

// What the first search of a full chunk, or of a full quarter of one that is not, leaves to those
// behind it.
struct CodedRows {
  ChunkCodes codes;
  // By the rows' places in the chunk: they are three steps from it otherwise.
  std::array<const float*, kChunkRows> vectors;
};

// Records in chunks of a fixed capacity that never move once appended, found by id through a hash
// table that only grows: the writer adds, readers look up beside it without a lock, and each passes
// over the rows that it does not see. All chunks of a tail but the last have kRows rows; that one
// begins small, because most tails of most stores stay so, and is replaced by one of twice the
// size.
struct TailChunk {
  static constexpr uint32_t kRows = kChunkRows;
  static constexpr uint32_t kQuarterRows = kRows / 4;
  std::vector<std::shared_ptr<const Record>> rows;  // reserved to the capacity when made

  explicit TailChunk(uint32_t capacity) : slots_(size_t{2} * capacity) { rows.reserve(capacity); }
  TailChunk(const TailChunk&) = delete;
  TailChunk& operator=(const TailChunk&) = delete;
  uint32_t capacity() const { return static_cast<uint32_t>(slots_.size() / 2); }
  // REQUIRES: rows.size() < capacity(). `hash` is HashOfId of the record's id.
  void Append(std::shared_ptr<const Record> record, uint64_t hash);
  // The newest row below `limit` that has this id and that `is_live` says yes to.
  template <typename IsLive>
  std::optional<uint32_t> Find(std::string_view id, uint64_t hash, uint32_t limit,
                               const IsLive& is_live) const {
    std::optional<uint32_t> found;
    const size_t slots = slots_.size();
    for (size_t slot = hash % slots;; slot = (slot + 1) % slots) {
      const uint32_t entry = slots_[slot].load(std::memory_order_acquire);
      if (entry == 0) return found;
      const uint32_t row = entry % (kRows * 2) - 1;
      if (entry / (kRows * 2) == TagOf(hash) && row < limit && rows[row]->id == id && is_live(row))
        found = row;  // along a chain rows of one id ascend
    }
  }

  // Of a chunk of kRows rows, and of a quarter whose rows are all there; made by searches.
  const MadeOnce<const CodedRows>& searched() const { return searched_; }
  const MadeOnce<const CodedRows>& searched_quarter(size_t i) const { return quarters_[i]; }

  // For searches of documents.
  ChunkText& text() const {
    ChunkText* const text = text_.get();
    return text != nullptr ? *text : text_.Keep(std::make_unique<ChunkText>());
  }

 private:
  static uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 41); }

  // 0: free; otherwise a tag of 23 bits above the row's number + 1 in 9 bits.
  std::vector<std::atomic<uint32_t>> slots_;
  MadeOnce<const CodedRows> searched_;
  std::array<MadeOnce<const CodedRows>, 3> quarters_;  // with the fourth the chunk is full
  MadeOnce<ChunkText> text_;
};

uint64_t HashOfId(std::string_view id);

class Graft;

// What the first rows of a tail hang by.
struct TailGraft {
  std::shared_ptr<const Graft> graft;  // on a segment that may be gone
  std::vector<const float*> vectors;   // of the rows: they are four steps from the view otherwise
};

struct TailView {
  std::vector<std::shared_ptr<const TailChunk>> chunks;
  uint32_t rows = 0;
  std::shared_ptr<const RowBitmap> deleted;  // null: nothing is deleted
  std::shared_ptr<const TailGraft> hung;     // null: none of them hang

  const Record& row(uint32_t index) const {
    return *chunks[index / TailChunk::kRows]->rows[index % TailChunk::kRows];
  }
  bool IsLive(uint32_t index) const {
    return !deleted || index >= deleted->rows() || !deleted->Test(index);
  }
  std::optional<uint32_t> Find(std::string_view id) const;  // the live row
};

// Bytes of memory that a record takes, nearly.
uint64_t RecordBytes(const Record& record);

// The writer's side.
class Tail {
 public:
  void Append(std::shared_ptr<const Record> record);
  // The newest live row: an update appends the successor before the predecessor is erased.
  std::optional<uint32_t> Find(std::string_view id) const;
  // Marks rows as deleted; views taken before do not see it.
  void Erase(std::span<const uint32_t> rows);

  // What was made of the first rows of `view`; does nothing where that is of another tail.
  void SetHung(const TailView& view, std::shared_ptr<const TailGraft> hung);
  const std::shared_ptr<const TailGraft>& hung() const { return hung_; }
  // Whether a search has looked at the codes of the chunk that this row is in.
  bool WasSearched(uint32_t row) const {
    return chunks_[row / TailChunk::kRows]->searched().get() != nullptr;
  }

  TailView View() const;
  // The live rows from `first` on as a tail of their own, sharing the records.
  Tail After(uint32_t first) const;

  const Record& row(uint32_t index) const {
    return *chunks_[index / TailChunk::kRows]->rows[index % TailChunk::kRows];
  }
  bool IsLive(uint32_t index) const {
    return !deleted_ || index >= deleted_->rows() || !deleted_->Test(index);
  }
  uint32_t rows() const { return rows_; }    // dead ones included
  uint64_t bytes() const { return bytes_; }  // dead ones included

 private:
  void MakeRoom();

  std::vector<std::shared_ptr<TailChunk>> chunks_;
  uint32_t rows_ = 0;
  uint64_t bytes_ = 0;
  std::shared_ptr<const RowBitmap> deleted_;
  std::shared_ptr<const TailGraft> hung_;
};

}  // namespace pigment
