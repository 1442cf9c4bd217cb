// SPDX-License-Identifier: Apache-2.0
//
// Unsigned numbers, the highest byte first: as bytes they are in the order of the numbers.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pigment {

template <typename T>
void AppendBigEndian(T value, std::string& out) {
  for (size_t i = sizeof(T); i-- > 0;) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

// REQUIRES: so many bytes.
template <typename T>
T ReadBigEndian(std::string_view bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value << 8 | static_cast<uint8_t>(bytes[i]));
  return value;
}

}  // namespace pigment
