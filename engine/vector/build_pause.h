// SPDX-License-Identifier: Apache-2.0
//
// How a build gives way.

#pragma once

#include <functional>

#include "engine/base/status.h"

namespace pigment {

// Asked at least every few milliseconds by whatever builds; its error ends the work.
using BuildPause = std::function<Status()>;

}  // namespace pigment
