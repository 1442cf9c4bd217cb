// SPDX-License-Identifier: Apache-2.0
//
// The handle of a host's segment, shared by the shims that open and that search it. Freeing it
// touches memory only.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "c_api/error.h"
#include "c_api/host_block_source.h"
#include "engine/segment/host_rank_search.h"
#include "engine/segment/pending_reader.h"
#include "engine/segment/segment.h"

struct pigment_segment : pigment::abi::Handle<pigment::abi::HandleKind::kSegment> {
  explicit pigment_segment(const pigment_page_source& from) : source(from) {}

  pigment::abi::HostBlockSource source;
  std::unique_ptr<pigment::Segment> segment;
  mutable pigment::HostRowNumbers text_lengths;   // that searches met
  mutable pigment::HostRowNumbers sparse_masses;  // likewise
  // A bit for each row that a search was told to be dead; empty: for none.
  mutable std::vector<uint8_t> dead_rows;
};

namespace pigment::abi {

// A chain of a host's pending pages, with the segments that its source names.
class HostPending {
 public:
  HostPending(const pigment_page_source& source, uint32_t stamp, uint32_t first, uint32_t last)
      : pages_(source),
        reader_(
            {.source = &pages_, .stamp = stamp, .first = first, .last = last, .shared = &shared_}) {
    for (size_t i = 0; i < source.segment_count; ++i)
      shared_.Add(source.segments[i]->segment.get());
  }

  PendingReader& reader() { return reader_; }

 private:
  HostBlockSource pages_;
  SharedVectors shared_;
  PendingReader reader_;
};

}  // namespace pigment::abi
