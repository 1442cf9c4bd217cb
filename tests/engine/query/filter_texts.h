// SPDX-License-Identifier: Apache-2.0
//
// Filters of one part, from their JSON, and long texts to make them of. Header only.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/query/filter.h"

namespace pigment {

inline Result<std::shared_ptr<const Filter>> Where(std::string_view json) {
  return Filter::Parse(json, std::nullopt);
}

inline Result<std::shared_ptr<const Filter>> WhereDocument(std::string_view json) {
  return Filter::Parse(std::nullopt, json);
}

inline std::string Repeated(std::string_view piece, size_t count) {
  std::string text;
  text.reserve(piece.size() * count);
  for (size_t i = 0; i < count; ++i) text += piece;
  return text;
}

}  // namespace pigment
