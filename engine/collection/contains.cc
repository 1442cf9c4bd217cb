// SPDX-License-Identifier: Apache-2.0
//
// ContainsIds: the tail by its hash table, segments by their sorted index, newest first.

#include "engine/collection/contains.h"

#include <optional>

namespace pigment {

Result<std::vector<bool>> ContainsIds(const Version& version, std::span<const std::string_view> ids,
                                      const CallControl& control) {
  std::vector<bool> found(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    PIGMENT_RETURN_IF_ERROR(control.Check());
    found[i] = version.tail.Find(ids[i]).has_value();
    for (size_t s = version.segments.size(); s-- > 0 && !found[i];) {
      const SegmentView& view = version.segments[s];
      PIGMENT_ASSIGN_OR_RETURN(const std::optional<uint32_t> row, view.segment->FindRow(ids[i]));
      found[i] = row && view.IsLive(*row);
    }
  }
  return found;
}

}  // namespace pigment
