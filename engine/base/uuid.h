// SPDX-License-Identifier: Apache-2.0
//
// Uuid: 16 bytes, printed in the usual 8-4-4-4-12 form. Random ones are version 4 from the system's
// entropy.

#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

#include "engine/base/status.h"

namespace pigment {

struct Uuid {
  std::array<std::byte, 16> bytes{};

  static Result<Uuid> Random();
  // Accepts the hyphenated form in either case; otherwise kInvalidArgument naming the text.
  static Result<Uuid> Parse(std::string_view text);
  std::string ToString() const;
  bool is_nil() const { return bytes == decltype(bytes){}; }

  auto operator<=>(const Uuid&) const = default;
};

}  // namespace pigment
