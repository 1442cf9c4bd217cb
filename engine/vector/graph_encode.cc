// SPDX-License-Identifier: Apache-2.0
//
// Nodes of entries: see the header.

#include "engine/vector/graph_encode.h"

#include <algorithm>
#include <vector>

namespace pigment {

void GraphEncoder::EncodeEntryNode(uint32_t number, std::byte* out) const {
  const std::vector<float> origin(points_.dimension());
  const std::span<const uint32_t> entries = graph_.entries();
  const size_t first = size_t{number} * places_;
  Encode(origin, entries.subspan(first, std::min<size_t>(places_, entries.size() - first)), out);
}

}  // namespace pigment
