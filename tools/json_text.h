// SPDX-License-Identifier: Apache-2.0
//
// JSON from outside: what is nested deeper than anything that means something here is refused, for
// what is done with a value later takes stack by its depth.

#pragma once

#include <string>
#include <string_view>

#include "tools/json.h"

namespace pigment_tool {

// Throws Failure (INVALID_ARGUMENT).
nlohmann::json ParseJson(std::string_view text);

bool IsUtf8(std::string_view text);

// With U+FFFD for what is no UTF-8.
std::string AsUtf8(std::string_view text);

}  // namespace pigment_tool
