// SPDX-License-Identifier: Apache-2.0
//
// What a shelf keeps of one collection: everything that its segments, with their stored deletions,
// do not say. Deletions are ids and not rows: a merge renumbers rows and does not care for shelves.
// Plain values.
//
// Bytes, little endian; texts are u32 length and bytes:
//   4     dimension
//   4     number of erased ids, then each as text
//   4     number of records, then each:
//           8    ordinal
//           4+n  id
//           4*d  embedding
//           1    flags: 1 document, 2 metadata, 4 uri
//           4+n  each of those that are there, metadata as engine/record/metadata.h has it

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/record/record.h"

namespace pigment {

struct ShelvedTail {
  uint32_t dimension = 0;
  std::vector<std::string> erased;  // live in the segments, and deleted or superseded since
  std::vector<std::shared_ptr<const Record>> records;  // live ones, in the order of the tail
};

std::string EncodeShelvedTail(const ShelvedTail& tail);
// Anything else: kDataLoss, Detail::kMiscounted, without a file.
Result<ShelvedTail> DecodeShelvedTail(std::span<const std::byte> bytes);

}  // namespace pigment
