// SPDX-License-Identifier: Apache-2.0
//
// ASSERT_OK, EXPECT_OK, EXPECT_CODE: a failed Status or Result prints itself. More text may be
// streamed into them.

#pragma once

#include <gtest/gtest.h>

#include <string>

#include "engine/base/status.h"

namespace pigment {

inline Status StatusOf(const Status& status) { return status; }
template <typename T>
Status StatusOf(const Result<T>& result) {
  return result.status();
}

template <typename T>
::testing::AssertionResult IsOk(const char* text, const T& value) {
  const Status status = StatusOf(value);
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << text << ": " << status.ToString();
}

template <typename T>
::testing::AssertionResult HasCode(const char* text, const char* code_text, const T& value,
                                   Code code) {
  const Status status = StatusOf(value);
  if (status.code() == code) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << text << ": " << status.ToString() << ", expected " << code_text;
}

// Runs the failure statement behind it once, if there is a failure. A loop, so that the macros work
// in an unbraced if.
class FailureOnce {
 public:
  explicit FailureOnce(const ::testing::AssertionResult& result)
      : message_(result.message()), is_pending_(!result) {}
  bool is_pending() const { return is_pending_; }
  void Done() { is_pending_ = false; }
  const char* message() const { return message_.c_str(); }

 private:
  const std::string message_;
  bool is_pending_;
};

}  // namespace pigment

#define PIGMENT_CHECK(failure, result) \
  for (::pigment::FailureOnce once(result); once.is_pending(); once.Done()) failure(once.message())
#define ASSERT_OK(expression) \
  PIGMENT_CHECK(GTEST_FATAL_FAILURE_, ::pigment::IsOk(#expression, expression))
#define EXPECT_OK(expression) \
  PIGMENT_CHECK(GTEST_NONFATAL_FAILURE_, ::pigment::IsOk(#expression, expression))
#define EXPECT_CODE(expression, code) \
  PIGMENT_CHECK(GTEST_NONFATAL_FAILURE_, ::pigment::HasCode(#expression, #code, expression, code))
