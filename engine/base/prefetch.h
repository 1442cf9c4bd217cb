// SPDX-License-Identifier: Apache-2.0
//
// Memory that is likely to be read soon, asked for ahead. Never a fault, whatever the address; any
// thread.

#pragma once

#include <cstddef>

namespace pigment {

// From which level of caches on; what waits in the first is soon pushed out by other reads.
enum class CacheLevel { kFirst = 3, kSecond = 2 };  // as the compiler numbers them

// The cache lines that begin every 64 bytes from `begin` on.
template <CacheLevel kLevel = CacheLevel::kFirst>
inline void ExpectBytes(const void* begin, size_t bytes) {
  constexpr size_t kLineBytes = 64;
  // GCC takes what only prefetches for a function without effects, and drops each call that
  // it does not inline.
  __asm__ volatile("");
  for (size_t at = 0; at < bytes; at += kLineBytes)
    __builtin_prefetch(static_cast<const char*>(begin) + at, 0, static_cast<int>(kLevel));
}

}  // namespace pigment
