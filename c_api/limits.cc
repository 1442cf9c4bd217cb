// SPDX-License-Identifier: Apache-2.0
//
// The table of limits as JSON. Any thread.

#include "engine/base/limits.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "c_api/error.h"
#include "c_api/json_text.h"

namespace {

std::string LimitsJson() {
  std::string json = "[";
  for (const pigment::Limit& limit : pigment::kLimits) {
    if (json.size() > 1) json += ",";
    json += fmt::format(
        R"({{"name":{},"most":{},"status":{},"of":{}}})", pigment::abi::QuoteJson(limit.name),
        limit.most,
        pigment::abi::QuoteJson(pigment::FindCodeInfo(static_cast<int>(limit.code))->name),
        pigment::abi::QuoteJson(limit.what));
  }
  return json + "]";
}

}  // namespace

pigment_status pigment_limits(pigment_buffer** json, pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (json != nullptr) *json = nullptr;
      },
      [&]() -> pigment::Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{json, "json"}}));
        *json = pigment::abi::NewBuffer(LimitsJson());
        return pigment::Status::Ok();
      });
}
