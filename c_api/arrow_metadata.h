// SPDX-License-Identifier: Apache-2.0
//
// Metadata that comes as a struct of Arrow: a field is a key. It becomes the JSON that every other
// metadata of a caller is, so that one parser knows the rules. Pure functions; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "c_api/arrow_column.h"

namespace pigment::abi {

// Fields are bools, numbers, texts, lists of one of these, or null altogether.
// REQUIRES: a kStruct.
Status CheckMetadataFields(const ArrowField& metadata);

// One object; absent where the row, or every field of it, is null.
// REQUIRES: CheckMetadataFields; row < rows().
Result<std::optional<std::string>> MetadataJson(const ArrowColumn& metadata, int64_t row);

}  // namespace pigment::abi
