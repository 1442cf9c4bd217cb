// SPDX-License-Identifier: Apache-2.0
//
// What becomes of std::bad_alloc where an exception must not go further: a status that asks for no
// memory itself. Any thread.

#pragma once

#include <new>

#include "engine/base/status.h"

namespace pigment {

// kResourceExhausted, Detail::kMemory. Made when the program starts.
const Status& OutOfMemory() noexcept;

// What `body` returns, a Status or a Result; OutOfMemory() when it runs out of memory.
template <typename Body>
auto CatchOutOfMemory(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  }
}

}  // namespace pigment
