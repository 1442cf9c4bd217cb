// SPDX-License-Identifier: Apache-2.0
//
// The newest segments first: a row that is updated again and again is in them.

#include "engine/segment/vector_hash.h"

#include <cstring>

namespace pigment {

Hash128 HashVector(const OwnerId& owner, std::span<const float> vector) {
  uint64_t seed;
  std::memcpy(&seed, owner.data(), sizeof seed);
  return Xxh3_128(std::as_bytes(vector), seed);
}

Result<bool> SharedVectors::Read(const Hash128& hash, uint32_t dimension,
                                 std::vector<float>* vector) const {
  bool found = false;
  for (size_t i = segments_.size(); i-- > 0 && !found;) {
    if (segments_[i]->info().dimension != dimension) continue;
    PIGMENT_RETURN_IF_ERROR(
        segments_[i]->VisitVector(hash, [&](uint32_t, std::span<const float> numbers) {
          vector->assign(numbers.begin(), numbers.end());
          found = true;
          return false;
        }));
  }
  return found;
}

}  // namespace pigment
