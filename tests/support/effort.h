// SPDX-License-Identifier: Apache-2.0
//
// How much the harnesses do: the environment variable PIGMENT_EFFORT, a factor on every count of
// theirs and on the floor of that count. Not set: 1, and 0.01 under sanitizers. Header only; any
// thread.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// gcc defines names of its own, clang has features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PIGMENT_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PIGMENT_IS_SANITIZED 1
#endif
#endif
#ifndef PIGMENT_IS_SANITIZED
#define PIGMENT_IS_SANITIZED 0
#endif

namespace pigment {

inline constexpr bool kIsSanitized = PIGMENT_IS_SANITIZED;

inline double Effort() {
  const char* const text = std::getenv("PIGMENT_EFFORT");
  if (text == nullptr || *text == '\0') return kIsSanitized ? 0.01 : 1;
  char* end = nullptr;
  const double effort = std::strtod(text, &end);
  if (*end != '\0' || !std::isfinite(effort) || effort <= 0) {
    std::fprintf(stderr, "PIGMENT_EFFORT is \"%s\", not a number above 0\n", text);
    std::abort();  // a run that does less than was asked for must not look like one that did it
  }
  return effort;
}

// `count` at an effort of 1, as many as this run is to do: at least one.
inline uint64_t AtEffort(uint64_t count) {
  return std::max<uint64_t>(
      1, static_cast<uint64_t>(std::llround(static_cast<double>(count) * Effort())));
}

// As many rounds of a test as this run is to do, or a floor of what they meet: a quarter under
// sanitizers, where each takes ten times as long.
template <typename Count>
constexpr Count Rounds(Count count) {
  return kIsSanitized ? (count + 3) / 4 : count;
}

// A deterministic choice of as many as the effort asks for.
class Share {
 public:
  bool IsNext() {
    due_ += std::min(1.0, Effort());
    if (due_ < 1) return false;
    due_ -= 1;
    return true;
  }

 private:
  double due_ = 1;
};

// Prints what was done and fails below the floor, which is given as of an effort of 1.
inline void ExpectFloor(const std::string& what, uint64_t count, uint64_t floor_at_one) {
  const uint64_t floor = AtEffort(floor_at_one);
  std::printf("effort: %s %llu (floor %llu)\n", what.c_str(),
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(floor));
  std::fflush(stdout);
  EXPECT_GE(count, floor) << "too few " << what;
}

}  // namespace pigment
