// SPDX-License-Identifier: Apache-2.0
//
// Rows of a host's index into a new segment: out of other segments when they are merged, out of
// pending pages when these are flushed. With vectors, row pointers and keys; rows without a vector
// too. One thread; everything is borrowed. After an error the new segment cannot be finished.

#pragma once

#include <cstdint>
#include <span>

#include "engine/segment/pending_reader.h"
#include "engine/segment/segment.h"
#include "engine/segment/segment_writer.h"

namespace pigment {

// Which rows are copied; the others are left alone.
enum class HostRows { kAll, kWithVector, kWithoutVector };

struct HostCopy {
  SegmentWriter* writer;
  HostRows rows;
  uint32_t dimension;      // of the writer
  bool row_keys;           // the writer's rows have keys
  uint64_t key_bytes_max;  // memory for keys of rows that come from a segment
  MemoryBudget* budget;    // of the writer; may be null
};

// The rows of a segment whose bit of `deleted` is clear; rows beyond it are live.
Status CopySegment(const Segment& segment, std::span<const uint8_t> deleted, const HostCopy& copy);

// The live entries of a chain.
Status CopyPending(PendingReader& pending, const HostCopy& copy);

}  // namespace pigment
