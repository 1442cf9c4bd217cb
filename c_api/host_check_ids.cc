// SPDX-License-Identifier: Apache-2.0
//
// The rules for ids of a call, for hosts that keep collections in tables of their own.

#include "c_api/columns.h"
#include "c_api/error.h"
#include "engine/record/validate.h"
#include "pigment/pigment_host.h"

using pigment::Status;

pigment_status pigment_check_ids(size_t count, const pigment_text_column* ids,
                                 const char* operation, size_t operation_size,
                                 pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{ids, "ids"}}));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view word,
                             pigment::abi::ReadText(operation, operation_size, "operation"));
    PIGMENT_ASSIGN_OR_RETURN(
        const pigment::abi::TextColumnView view,
        pigment::abi::ReadTextColumn(*ids, count, "ids", pigment::abi::TextKind::kUtf8));
    if (view.given()) PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckAllPresent(view, "ids"));
    return pigment::CheckIds(pigment::abi::CopyTexts(view), word);
  });
}
