// SPDX-License-Identifier: Apache-2.0
//
// CallControl: the check that loops make.

#include "engine/base/call_control.h"

#include <chrono>
#include <ctime>

namespace pigment {

int64_t MonotonicNow() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

int64_t ThreadTimeNow() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

Status CallControl::Check() const {
  if (cancel != nullptr && cancel->is_set())
    return Status(Code::kCancelled, "the call was cancelled");
  if (deadline_ns != 0 && MonotonicNow() >= deadline_ns) {
    return Status(Code::kDeadlineExceeded, "the call's deadline has passed");
  }
  return Status::Ok();
}

}  // namespace pigment
