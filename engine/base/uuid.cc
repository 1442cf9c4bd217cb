// SPDX-License-Identifier: Apache-2.0
//
// Uuid: entropy, text form.

#include "engine/base/uuid.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace pigment {
namespace {

constexpr std::array<size_t, 4> kHyphens = {8, 13, 18, 23};
constexpr size_t kTextLength = 36;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsHyphenPlace(size_t index) {
  for (const size_t place : kHyphens) {
    if (index == place) return true;
  }
  return false;
}

}  // namespace

Result<Uuid> Uuid::Random() {
  Uuid uuid;
  size_t filled = 0;
  while (filled < uuid.bytes.size()) {
    const ssize_t got = getrandom(uuid.bytes.data() + filled, uuid.bytes.size() - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return Status(Code::kUnavailable, fmt::format("system entropy cannot be read: {}",
                                                    std::generic_category().message(errno)));
    }
    filled += static_cast<size_t>(got);
  }
  uuid.bytes[6] = (uuid.bytes[6] & std::byte{0x0f}) | std::byte{0x40};  // version 4
  uuid.bytes[8] = (uuid.bytes[8] & std::byte{0x3f}) | std::byte{0x80};  // variant of RFC 4122
  return uuid;
}

Result<Uuid> Uuid::Parse(std::string_view text) {
  const auto refuse = [&] {
    return InvalidArgument(fmt::format(
        "not a uuid: \"{}\" (expected 8-4-4-4-12 hexadecimal digits)", text.substr(0, 100)));
  };
  if (text.size() != kTextLength) return refuse();
  Uuid uuid;
  size_t digit = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsHyphenPlace(i)) {
      if (text[i] != '-') return refuse();
      continue;
    }
    const int value = HexDigit(text[i]);
    if (value < 0) return refuse();
    uuid.bytes[digit / 2] |= static_cast<std::byte>(digit % 2 == 0 ? value << 4 : value);
    ++digit;
  }
  return uuid;
}

std::string Uuid::ToString() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(kTextLength);
  for (const std::byte byte : bytes) {
    if (IsHyphenPlace(text.size())) text += '-';
    text += kDigits[std::to_integer<size_t>(byte) >> 4];
    text += kDigits[std::to_integer<size_t>(byte) & 15];
  }
  return text;
}

}  // namespace pigment
