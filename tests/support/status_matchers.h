// SPDX-License-Identifier: Apache-2.0
//
// ASSERT_OK and friends: a failed Status or Result prints itself.

#pragma once

#include <gtest/gtest.h>

#include <ostream>

#include "engine/base/status.h"

namespace pigment {

inline void PrintTo(const Status& status, std::ostream* out) { *out << status.ToString(); }

inline const Status& StatusOf(const Status& status) { return status; }
template <typename T>
Status StatusOf(const Result<T>& result) {
  return result.status();
}

}  // namespace pigment

#define ASSERT_OK(expression)                                            \
  do {                                                                   \
    const ::pigment::Status status_ = ::pigment::StatusOf(expression);   \
    ASSERT_TRUE(status_.ok()) << #expression ": " << status_.ToString(); \
  } while (false)
#define EXPECT_OK(expression)                                            \
  do {                                                                   \
    const ::pigment::Status status_ = ::pigment::StatusOf(expression);   \
    EXPECT_TRUE(status_.ok()) << #expression ": " << status_.ToString(); \
  } while (false)
// The code of `expression`, whole status printed when it is another.
#define EXPECT_CODE(expression, expected)                                          \
  do {                                                                             \
    const ::pigment::Status status_ = ::pigment::StatusOf(expression);             \
    EXPECT_EQ(status_.code(), expected) << #expression ": " << status_.ToString(); \
  } while (false)
