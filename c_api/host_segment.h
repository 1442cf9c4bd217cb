// SPDX-License-Identifier: Apache-2.0
//
// The handle of a host's segment, shared by the shims that open and that search it. Freeing it
// touches memory only.

#pragma once

#include <memory>

#include "c_api/error.h"
#include "c_api/host_block_source.h"
#include "engine/segment/host_text_search.h"
#include "engine/segment/segment.h"

struct pigment_segment : pigment::abi::Handle<pigment::abi::HandleKind::kSegment> {
  explicit pigment_segment(const pigment_page_source& from) : source(from) {}

  pigment::abi::HostBlockSource source;
  std::unique_ptr<pigment::Segment> segment;
  mutable pigment::HostTextLengths text_lengths;  // that searches met
};
