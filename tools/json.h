// SPDX-License-Identifier: Apache-2.0
//
// JSON, by nlohmann's header; what each source would compile of it again is compiled once, in
// json.cc.

#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

extern template class nlohmann::basic_json<>;

namespace pigment_tool {

// On standard error: {"error":{"status","name","message"}}. Bytes that are no UTF-8 are replaced.
void PrintErrorAsJson(int status, std::string_view name, std::string_view message);

}  // namespace pigment_tool
