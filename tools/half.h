// SPDX-License-Identifier: Apache-2.0
//
// IEEE halves, as files hold them.

#pragma once

#include <cmath>
#include <cstdint>

namespace pigment_tool {

inline float FromHalf(uint16_t bits) {
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

}  // namespace pigment_tool
