// SPDX-License-Identifier: Apache-2.0
//
// The keys of a host's rows, row by row, out of an index that has them by value (inverted_part.h).
// A window of rows is put together at a time, so memory is bounded however many rows and keys there
// are. One thread; the segment is borrowed.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/segment/host_keys.h"
#include "engine/segment/segment.h"

namespace pigment {

class HostKeyReader {
 public:
  // A window takes some `bytes_max`; one row is read however many keys it has. Besides, the fields
  // of a row group pass through memory, one after the other.
  HostKeyReader(const Segment* segment, uint64_t bytes_max)
      : segment_(segment), bytes_max_(bytes_max) {}

  // The keys of a row as host_keys.h stores them, valid until the next call; none of a row that is
  // in no index. Rows are asked for in ascending order. REQUIRES: row < rows of the segment.
  Result<std::span<const std::byte>> Read(uint32_t row);

 private:
  Status ReadWindow(uint32_t first);
  // To a row of the window; returns the bytes that this takes.
  size_t Append(size_t number, const HostKey& key);
  void Encode(const std::string& row);

  const Segment* const segment_;
  const uint64_t bytes_max_;
  uint32_t first_ = 0;              // of the window
  std::vector<std::string> rows_;   // of the window, each key with its column and length before it
  std::vector<size_t> last_heads_;  // where the last key of each begins
  std::vector<HostKey> keys_;       // of the row that is encoded
  std::vector<std::byte> encoded_;
};

}  // namespace pigment
