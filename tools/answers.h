// SPDX-License-Identifier: Apache-2.0
//
// Prints what get, query and search give.

#pragma once

#include "pigment/pigment.h"

namespace pigment_tool {

// As a JSON array of records, or a table.
void PrintRecords(const pigment_result* result, bool is_json);

// As a JSON array of such arrays, one for each query; or tables.
void PrintAnswers(const pigment_result* result, bool is_json);

}  // namespace pigment_tool
