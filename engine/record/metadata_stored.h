// SPDX-License-Identifier: Apache-2.0
//
// The scalars of stored metadata as they lie in the bytes (metadata.h): for the two that read it,
// into values and into JSON. Each reads one value; false: it is not what was written, or the bytes
// ended, which the reader knows. Any thread.

#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "engine/base/bytes.h"
#include "engine/base/status.h"

namespace pigment {

inline bool ReadStored(ByteReader& reader, std::string_view* value) {
  *value = reader.GetText();
  return reader.ok();
}
inline bool ReadStored(ByteReader& reader, int64_t* value) {
  *value = reader.Get<int64_t>();
  return reader.ok();
}
inline bool ReadStored(ByteReader& reader, double* value) {
  *value = reader.Get<double>();
  return reader.ok() && std::isfinite(*value);
}
inline bool ReadStored(ByteReader& reader, bool* value) {
  const uint8_t byte = reader.Get<uint8_t>();
  *value = byte != 0;
  return reader.ok() && byte <= 1;
}

// The least that an element of an array takes.
template <typename T>
inline constexpr size_t kStoredBytesMin = sizeof(T);
template <>
inline constexpr size_t kStoredBytesMin<std::string_view> = 4;

// What is wrong, before which byte; `what` where the bytes did not merely end.
Status DamagedMetadata(const ByteReader& reader, std::string_view what);

}  // namespace pigment
