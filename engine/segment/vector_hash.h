// SPDX-License-Identifier: Apache-2.0
//
// Vectors by what they are: a host's segment may have the hashes of its vectors, sorted
// (hash_index.h), so that a pending row whose vector a row of a segment has need not have it again
// (host_pages.h). What is hashed are the numbers as the segment gives them, in 32 bits, however it
// keeps them; so a hash stays right when rows are merged into another segment. Seeded with the
// segments' owner, so that nobody can choose vectors that collide. One thread each; segments are
// borrowed.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/segment/segment.h"

namespace pigment {

Hash128 HashVector(const OwnerId& owner, std::span<const float> vector);
// What the index of a segment keeps of it.
constexpr uint32_t StoredHash(const Hash128& hash) { return static_cast<uint32_t>(hash.low >> 32); }

// Segments in which the vectors of pending rows are.
class SharedVectors {
 public:
  void Add(const Segment* segment) { segments_.push_back(segment); }

  // The vector with this hash of any of the segments, deleted rows' too; false: none has it.
  Result<bool> Read(const Hash128& hash, uint32_t dimension, std::vector<float>* vector) const;

 private:
  std::vector<const Segment*> segments_;
};

}  // namespace pigment
