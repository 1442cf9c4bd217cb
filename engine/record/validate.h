// SPDX-License-Identifier: Apache-2.0
//
// Chroma's rules for names, ids and vectors, which every home and
// binding relies on. Pure functions; any thread. Errors are kInvalidArgument and name the object
// and the value.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/limits.h"
#include "engine/base/status.h"

namespace pigment {

Status CheckCollectionName(std::string_view name);  // also refuses `+` (Chroma's topology)
Status CheckDatabaseName(std::string_view name);
Status CheckTenantName(std::string_view name);

// Not empty as a list, no empty id, no duplicates ("expected ids to be unique, found duplicates of:
// a, b in add"). `operation` is the word for the message: "add", "get" …
Status CheckIds(const std::vector<std::string>& ids, std::string_view operation);

// 1 to kDimensionMax numbers; `what` has them: "embeddings", "options". Beyond: kResourceExhausted.
Status CheckDimensionRange(std::string_view what, uint64_t dimension);

// Finite f32 values; the error carries the row.
Status CheckVectors(std::span<const float> values, size_t rows, size_t dimension);
}  // namespace pigment
