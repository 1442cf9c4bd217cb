// SPDX-License-Identifier: Apache-2.0
//
// Where a text occurs in another, byte by byte, on the widest SIMD there is. Pure; any thread.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pigment {

// The first place of `piece` in `text` that is not before `from`; npos where there is none. In time
// linear in the bytes of both, whatever they are.
size_t FindSubstring(std::string_view text, std::string_view piece, size_t from = 0);

// The same where letters of ASCII may be in any case. REQUIRES: those of `piece` are small.
size_t FindFolded(std::string_view text, std::string_view piece, size_t from = 0);

constexpr char FoldAscii(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + ('a' - 'A')) : byte;
}
std::string FoldAscii(std::string_view text);

}  // namespace pigment
