// SPDX-License-Identifier: Apache-2.0
//
// Streams, a block at a time.

#include "engine/segment/part_compare.h"

#include <algorithm>
#include <string>

namespace pigment {

Status CompareStream(PartCursor& part, uint64_t& begin, std::string_view expected) {
  std::string copy;
  for (uint64_t done = 0; done < expected.size();) {
    const uint64_t some = std::min<uint64_t>(kBlockPayloadBytes, expected.size() - done);
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view stored,
                             part.ViewStream(begin + done, some, copy));
    if (stored != expected.substr(done, some)) {
      return part.Damaged(
          Detail::kMiscounted,
          fmt::format("bytes from {} on are not those of the records", begin + done));
    }
    done += some;
  }
  begin += expected.size();
  return Status::Ok();
}

Status CompareEnd(const PartCursor& part, uint64_t bytes) {
  if (part.bytes() == bytes) return Status::Ok();
  return part.Damaged(Detail::kMiscounted,
                      fmt::format("{} bytes, of which the records make {}", part.bytes(), bytes));
}

}  // namespace pigment
