// SPDX-License-Identifier: Apache-2.0
//
// Cancellation, deadline and minimal position of one call, read from pigment_call_options. A
// CallContext keeps the cancel token alive while the call runs, so that the caller may free the
// handle meanwhile. One thread.

#pragma once

#include <cstdint>
#include <memory>

#include "c_api/error.h"
#include "engine/base/call_control.h"

namespace pigment::abi {

struct CallContext {
  std::shared_ptr<CancelToken> token;
  CallControl control;
  uint64_t min_position = 0;
};

Result<CallContext> ReadCallOptions(const pigment_call_options* options);

}  // namespace pigment::abi
