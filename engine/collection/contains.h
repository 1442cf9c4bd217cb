// SPDX-License-Identifier: Apache-2.0
//
// Which of some ids live in a version. Looks at ids alone: no record, vector or document is read.
// Any thread; everything is borrowed for the call.

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/base/status.h"
#include "engine/collection/version.h"

namespace pigment {

// One answer for each id, in order; an id that is asked twice is answered twice.
Result<std::vector<bool>> ContainsIds(const Version& version, std::span<const std::string_view> ids,
                                      const CallControl& control = {});

}  // namespace pigment
