// SPDX-License-Identifier: Apache-2.0
//
// What all sources use of JSON, compiled.

#include "tools/json.h"

#include <cstdio>

template class nlohmann::basic_json<>;

namespace pigment_tool {

void PrintErrorAsJson(int status, std::string_view name, std::string_view message) {
  const nlohmann::json error = {{"status", status}, {"name", name}, {"message", message}};
  std::fprintf(stderr, "%s\n",
               nlohmann::json({{"error", error}})
                   .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                   .c_str());
}

}  // namespace pigment_tool
