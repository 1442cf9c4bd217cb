// SPDX-License-Identifier: Apache-2.0
//
// Links in memory: see the header.

#include "engine/vector/graph.h"

#include <numeric>

namespace pigment {

Status Graph::Reserve(uint32_t count, uint32_t degree_max) {
  const uint64_t places = uint64_t{count} * degree_max;
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow((places + 2 * uint64_t{count}) * sizeof(uint32_t)));
  degree_max_ = degree_max;
  links_.resize(places);
  degrees_.resize(count);
  return Status::Ok();
}

uint64_t Graph::link_count() const {
  return std::accumulate(degrees_.begin(), degrees_.end(), uint64_t{0});
}

bool Graph::AddLink(uint32_t vector, uint32_t to) {
  if (degrees_[vector] == degree_max_) return false;
  links_[size_t{vector} * degree_max_ + degrees_[vector]++] = to;
  return true;
}

}  // namespace pigment
