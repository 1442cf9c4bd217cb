// SPDX-License-Identifier: Apache-2.0
//
// What a collection keeps of each number of a vector: what its configuration, the catalog and a
// segment's root agree on. Plain values; any thread.

#pragma once

#include <cstdint>
#include <string_view>

namespace pigment {

// Numbers are stored.
enum class VectorElement : uint8_t {
  kF32 = 0,
  kF16 = 1,  // rounded when it is written, so that every answer is about the numbers that are kept
};

// "f32", "f16"; empty for a number that is none of them.
constexpr std::string_view VectorElementName(VectorElement element) {
  switch (element) {
    case VectorElement::kF32:
      return "f32";
    case VectorElement::kF16:
      return "f16";
  }
  return {};
}

constexpr uint32_t VectorElementBytes(VectorElement element) {
  return element == VectorElement::kF16 ? 2 : 4;
}

}  // namespace pigment
