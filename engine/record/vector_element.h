// SPDX-License-Identifier: Apache-2.0
//
// What a collection keeps of each number of a vector: what its configuration, the catalog and a
// segment's root agree on. Plain values; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pigment {

// Numbers are stored.
enum class VectorElement : uint8_t {
  kF32 = 0,
  kF16 = 1,  // rounded when it is written, so that every answer is about the numbers that are kept
  kBit = 2,  // 0 or 1, and no other number
};

// "f32", "f16", "bit"; empty for a number that is none of them.
constexpr std::string_view VectorElementName(VectorElement element) {
  switch (element) {
    case VectorElement::kF32:
      return "f32";
    case VectorElement::kF16:
      return "f16";
    case VectorElement::kBit:
      return "bit";
  }
  return {};
}

constexpr uint32_t VectorElementBits(VectorElement element) {
  switch (element) {
    case VectorElement::kF32:
      return 32;
    case VectorElement::kF16:
      return 16;
    case VectorElement::kBit:
      return 1;
  }
  return 32;
}

// Bytes of a vector, whole ones.
constexpr size_t VectorBytes(VectorElement element, size_t dimension) {
  return (dimension * VectorElementBits(element) + 7) / 8;
}

}  // namespace pigment
