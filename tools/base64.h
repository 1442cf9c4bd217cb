// SPDX-License-Identifier: Apache-2.0
//
// Base64 of RFC 4648, for documents that are no UTF-8 and so no JSON text.

#pragma once

#include <string>
#include <string_view>

namespace pigment_tool {

std::string ToBase64(std::string_view bytes);
std::string FromBase64(std::string_view text);  // throws Failure

}  // namespace pigment_tool
