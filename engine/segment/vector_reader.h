// SPDX-License-Identifier: Apache-2.0
//
// Reads single vectors of a segment, in any order: its cursor stays on its block. One thread;
// source and root are borrowed. At most one block is pinned.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/segment/part_reader.h"

namespace pigment {

class VectorReader {
 public:
  VectorReader(BlockSource* source, const Root* root);

  // As many numbers as the segment has dimensions, valid until the next call. REQUIRES: vector <
  // vectors.
  Result<const float*> Read(uint32_t vector);
  // It is likely to be read soon. True: it comes from a disk.
  bool Expect(uint32_t vector) {
    return vectors_.ExpectElement(vector, root_->info.vector_bytes());
  }

 private:
  const Root* const root_;
  PartCursor vectors_;
  std::vector<float> vector_;  // of what lies in more than one block, or as halves
};

}  // namespace pigment
