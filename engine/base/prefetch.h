// SPDX-License-Identifier: Apache-2.0
//
// Memory that is likely to be read soon, asked for ahead. Never a fault, whatever the address; any
// thread.

#pragma once

#include <cstddef>

namespace pigment {

// The cache lines that begin every 64 bytes from `begin` on, into all levels of caches.
inline void ExpectBytes(const void* begin, size_t bytes) {
  constexpr size_t kLineBytes = 64;
  for (size_t at = 0; at < bytes; at += kLineBytes)
    __builtin_prefetch(static_cast<const char*>(begin) + at, 0, 3);
}

}  // namespace pigment
