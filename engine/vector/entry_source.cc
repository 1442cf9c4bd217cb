// SPDX-License-Identifier: Apache-2.0

#include "engine/vector/entry_source.h"

#include <fmt/format.h>

namespace pigment {

Status LinkBeyondTheEnd(uint32_t link, uint32_t count) {
  return DataLoss(Detail::kMiscounted, "", -1,
                  fmt::format("a node links to {}, where {} are", link, count));
}

}  // namespace pigment
