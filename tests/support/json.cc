// SPDX-License-Identifier: Apache-2.0
//
// What tests use of JSON, compiled.

#include "tests/support/json.h"

template class nlohmann::basic_json<>;
