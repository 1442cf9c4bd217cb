// SPDX-License-Identifier: Apache-2.0
//
// Sparse vectors as the ABI has them. Pure functions.

#pragma once

#include <string_view>

#include "c_api/error.h"
#include "engine/segment/host_sparse.h"

namespace pigment::abi {

// What the host's struct says, borrowed; checked, and so is the metric. `name`: of the argument.
Result<HostSparseVector> ReadSparseVector(const pigment_sparse_vector* vector, int32_t metric,
                                          std::string_view name);

}  // namespace pigment::abi
