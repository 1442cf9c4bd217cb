// SPDX-License-Identifier: Apache-2.0
//
// A deletions file: which rows of one segment are deleted, as of one flush of one collection.
// Written once, never changed. Pure functions over a file system; any thread.
//
//   offset size meaning
//   0      8    magic "PIGDEL\r\n"
//   8      2    format version, 1
//   10     2    reserved, zero
//   12     4    segment
//   16     16   uuid of the store
//   32     8    version of the deletions (in the file's name as well)
//   40     4    rows of the segment
//   44     4    deleted rows
//   48     8*w  bits, w = ceil(rows / 64) words, lowest bit first
//   48+8w  4    CRC32C of everything before

#pragma once

#include <cstdint>
#include <string>

#include "engine/base/files.h"
#include "engine/collection/row_bitmap.h"
#include "engine/segment/segment.h"

namespace pigment {

inline constexpr uint16_t kDeletionsFormat = 1;

struct DeletionsPlace {
  OwnerId store{};
  uint32_t segment = 0;
  uint64_t version = 0;
  uint32_t rows = 0;
};

// Exact size of the file for a segment of so many rows.
uint64_t DeletionsFileBytes(uint32_t rows);

// Creates `path` and syncs its bytes; the directory is the caller's to sync.
Status WriteDeletionsFile(FileSystem& files, const std::string& path, const DeletionsPlace& place,
                          const RowBitmap& deleted);

// kDataLoss with the detail and offset of what is wrong; a newer format: kVersionMismatch.
Result<RowBitmap> ReadDeletionsFile(FileSystem& files, const std::string& path,
                                    const DeletionsPlace& expected);

}  // namespace pigment
