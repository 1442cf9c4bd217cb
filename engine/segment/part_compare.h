// SPDX-License-Identifier: Apache-2.0
//
// What a whole check compares: a part with what it should be, made again from the records. A
// difference is damage of the part. One thread; everything is borrowed.

#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "engine/segment/part_reader.h"

namespace pigment {

template <typename T>
Status CompareElement(PartCursor& part, uint64_t number, const T& expected) {
  PIGMENT_ASSIGN_OR_RETURN(const T stored, part.ReadElement<T>(number));
  if (std::memcmp(&stored, &expected, sizeof stored) == 0) return Status::Ok();
  return part.Damaged(Detail::kMiscounted,
                      fmt::format("element {} is not that of the records", number));
}

// The bytes of a stream from `begin` on, which becomes their end.
Status CompareStream(PartCursor& part, uint64_t& begin, std::string_view expected);

// The part has so many bytes and no more.
Status CompareEnd(const PartCursor& part, uint64_t bytes);

}  // namespace pigment
