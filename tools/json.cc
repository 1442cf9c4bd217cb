// SPDX-License-Identifier: Apache-2.0
//
// What all sources use of JSON, compiled.

#include "tools/json.h"

template class nlohmann::basic_json<>;
