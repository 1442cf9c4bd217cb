// SPDX-License-Identifier: Apache-2.0
//
// The mutable tail of a collection: records that were logged and not flushed yet, append-only. One writer (the log's apply order) appends; any number of
// readers hold TailViews, which see a fixed prefix and a fixed set of deletions.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
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

}  // namespace pigment
