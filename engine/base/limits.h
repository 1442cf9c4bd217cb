// SPDX-License-Identifier: Apache-2.0
//
// What the engine refuses to go beyond: the table of limits.def as constants, for the code that
// enforces them, and as data, for whoever asks. Constants; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/status.h"

namespace pigment {

#define PIGMENT_LIMIT(constant, type, value, name, code, what) \
  inline constexpr type constant = value;
#include "engine/base/limits.def"
#undef PIGMENT_LIMIT

struct Limit {
  std::string_view name;
  uint64_t most;
  Code code;  // of what is beyond
  std::string_view what;
};

inline constexpr Limit kLimits[] = {
#define PIGMENT_LIMIT(constant, type, value, name, code, what) \
  {name, static_cast<uint64_t>(constant), Code::code, what},
#include "engine/base/limits.def"
#undef PIGMENT_LIMIT
};

}  // namespace pigment
