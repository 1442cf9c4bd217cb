// SPDX-License-Identifier: Apache-2.0
//
// Results: an owned ResultSet whose columns are shown to the caller without copying.

#pragma once

#include "engine/query/search.h"
#include "pigment/pigment.h"

namespace pigment::abi {

// Throws std::bad_alloc.
pigment_result* NewResult(ResultSet set);

}  // namespace pigment::abi
