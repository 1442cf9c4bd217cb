// SPDX-License-Identifier: Apache-2.0
//
// ContainsIds: the tail is walked once against a table of the ids; segments are asked by their
// sorted index for what is still missing.

#include "engine/collection/contains.h"

#include <optional>
#include <unordered_map>

namespace pigment {
namespace {

constexpr uint32_t kRowsPerCheck = 1024;

Status LookInTail(const TailView& tail, std::span<const std::string_view> ids,
                  const CallControl& control, std::vector<bool>& found) {
  if (tail.rows == 0) return Status::Ok();
  std::unordered_multimap<std::string_view, size_t> asked;
  asked.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) asked.emplace(ids[i], i);
  for (uint32_t row = 0; row < tail.rows; ++row) {
    if (row % kRowsPerCheck == 0) PIGMENT_RETURN_IF_ERROR(control.Check());
    if (!tail.IsLive(row)) continue;
    const auto [begin, end] = asked.equal_range(tail.row(row).id);
    for (auto it = begin; it != end; ++it) found[it->second] = true;
  }
  return Status::Ok();
}

}  // namespace

Result<std::vector<bool>> ContainsIds(const Version& version, std::span<const std::string_view> ids,
                                      const CallControl& control) {
  std::vector<bool> found(ids.size());
  if (ids.empty()) return found;
  PIGMENT_RETURN_IF_ERROR(LookInTail(version.tail, ids, control, found));
  for (size_t i = 0; i < ids.size(); ++i) {
    for (size_t s = version.segments.size(); s-- > 0 && !found[i];) {
      PIGMENT_RETURN_IF_ERROR(control.Check());
      const SegmentView& view = version.segments[s];
      PIGMENT_ASSIGN_OR_RETURN(const std::optional<uint32_t> row, view.segment->FindRow(ids[i]));
      if (row && view.IsLive(*row)) found[i] = true;
    }
  }
  return found;
}

}  // namespace pigment
