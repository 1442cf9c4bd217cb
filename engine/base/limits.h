// SPDX-License-Identifier: Apache-2.0
//
// What the engine refuses to go beyond: the table of limits.def as constants, for the code that
// enforces them, and as data, for whoever asks and for the refusals. Constants; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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

// The rows by the names of the constants.
namespace limit {
#define PIGMENT_LIMIT(constant, type, value, name, code, what) \
  inline constexpr Limit constant{name, static_cast<uint64_t>(value), Code::code, what};
#include "engine/base/limits.def"
#undef PIGMENT_LIMIT
}  // namespace limit

inline constexpr Limit kLimits[] = {
#define PIGMENT_LIMIT(constant, type, value, name, code, what) limit::constant,
#include "engine/base/limits.def"
#undef PIGMENT_LIMIT
};

// What is beyond a limit: `reason` says what, and how much of it; name and number of the limit come
// behind it. The code is the table's, the detail kLimit where it is kResourceExhausted.
Status BeyondLimit(const Limit& limit, std::string_view reason);
// The message alone, for a refusal that has a code or detail of its own.
std::string NamingLimit(const Limit& limit, std::string_view reason);

}  // namespace pigment
