// SPDX-License-Identifier: Apache-2.0
//
// Base64.

#include "tools/base64.h"

#include <algorithm>
#include <cstdint>

#include "tools/session.h"

namespace pigment_tool {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string ToBase64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += k <= count ? kLetters[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::string FromBase64(std::string_view text) {
  const auto wrong = [] { throw Failure(PIGMENT_INVALID_ARGUMENT, "no base64"); };
  if (text.size() % 4 != 0) wrong();
  size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  uint32_t bits = 0;
  size_t held = 0;
  for (const char letter : text) {
    const size_t value = kLetters.find(letter);
    if (value == std::string_view::npos) wrong();
    bits = bits << 6 | static_cast<uint32_t>(value);
    held += 6;
    if (held >= 8) bytes += static_cast<char>(bits >> (held -= 8) & 0xFF);
  }
  return bytes;
}

}  // namespace pigment_tool
