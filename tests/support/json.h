// SPDX-License-Identifier: Apache-2.0
//
// JSON, by nlohmann's header; what each test would compile of it again is compiled once, in json.cc.

#pragma once

#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<>;
