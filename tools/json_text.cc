// SPDX-License-Identifier: Apache-2.0
//
// JSON from outside.

#include "tools/json_text.h"

#include <algorithm>

#include "tools/session.h"

namespace pigment_tool {
namespace {

constexpr size_t kDepthMax = 100;

// Of brackets outside of texts; for what is no JSON, of no meaning.
size_t DepthOf(std::string_view text) {
  size_t depth = 0;
  size_t deepest = 0;
  bool is_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (is_text) {
      if (letter == '\\') ++i;
      if (letter == '"') is_text = false;
    } else if (letter == '"') {
      is_text = true;
    } else if (letter == '[' || letter == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((letter == ']' || letter == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

nlohmann::json ParseJson(std::string_view text) {
  if (DepthOf(text) > kDepthMax) {
    throw Failure(PIGMENT_INVALID_ARGUMENT,
                  "JSON that is nested more than " + std::to_string(kDepthMax) + " deep");
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw Failure(PIGMENT_INVALID_ARGUMENT, std::string("no JSON: ") + error.what());
  }
}

bool IsUtf8(std::string_view text) {
  try {
    nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

std::string AsUtf8(std::string_view text) {
  const std::string quoted =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(quoted).get<std::string>();
}

}  // namespace pigment_tool
