// SPDX-License-Identifier: Apache-2.0
//
// The clock that deadlines are given in. Any thread.

#include "engine/base/call_control.h"
#include "pigment/pigment.h"

int64_t pigment_now_ns(void) { return pigment::MonotonicNow(); }
