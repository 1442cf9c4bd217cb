// SPDX-License-Identifier: Apache-2.0
//
// Refusals of what is beyond a limit.

#include "engine/base/limits.h"

#include <fmt/format.h>

namespace pigment {

std::string NamingLimit(const Limit& limit, std::string_view reason) {
  return fmt::format("{} (limit {}: {})", reason, limit.name, limit.most);
}

Status BeyondLimit(const Limit& limit, std::string_view reason) {
  const Detail detail = limit.code == Code::kResourceExhausted ? Detail::kLimit : Detail::kNone;
  return Status(limit.code, detail, NamingLimit(limit, reason));
}

}  // namespace pigment
