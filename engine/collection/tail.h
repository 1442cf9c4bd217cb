// SPDX-License-Identifier: Apache-2.0
//
// The mutable tail of a collection: records that were logged and not flushed yet, append-only. One
// writer (the log's apply order, under the collection's state lock) appends; any number of readers
// hold TailViews, which see a fixed prefix and a fixed set of deletions.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/collection/row_bitmap.h"
#include "engine/record/record.h"

namespace pigment {

// Records in fixed-size chunks that never move once appended.
struct TailChunk {
  static constexpr uint32_t kRows = 256;
  std::vector<std::shared_ptr<const Record>> rows;  // reserved to kRows when made
};

struct TailView {
  std::vector<std::shared_ptr<const TailChunk>> chunks;
  uint32_t rows = 0;
  std::shared_ptr<const RowBitmap> deleted;  // null: nothing is deleted

  const Record& row(uint32_t index) const {
    return *chunks[index / TailChunk::kRows]->rows[index % TailChunk::kRows];
  }
  bool IsLive(uint32_t index) const {
    return !deleted || index >= deleted->rows() || !deleted->Test(index);
  }
};

// Bytes of memory that a record takes, nearly.
uint64_t RecordBytes(const Record& record);

// The writer's side.
class Tail {
 public:
  // The newest row of an id is the one that Find gives.
  void Append(std::shared_ptr<const Record> record);
  std::optional<uint32_t> Find(std::string_view id) const;  // live row
  // Marks rows as deleted; views taken before do not see it.
  void Erase(std::span<const uint32_t> rows);

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
  std::vector<std::shared_ptr<TailChunk>> chunks_;
  uint32_t rows_ = 0;
  uint64_t bytes_ = 0;
  std::shared_ptr<const RowBitmap> deleted_;
  std::unordered_map<std::string_view, uint32_t> live_;  // keys point into the records
};

}  // namespace pigment
