// SPDX-License-Identifier: Apache-2.0
//
// Shares the pieces of a loop out among threads: for builds and searches whose steps each write what
// is theirs.

#pragma once

#include <cstdint>
#include <functional>

#include "engine/vector/products.h"

namespace pigment {

// Does begin .. end - 1; asks `pause` every few milliseconds, and ends with its error. One thread
// at a time.
using LoopBody = std::function<Status(uint32_t begin, uint32_t end, const BuildPause& pause)>;

// 0 .. count - 1 in pieces of at most `piece`, on `threads` threads: the caller's and others, fewer
// where the system gives none. Each has a body of its own, made by it. `pause` (may be empty) is
// asked by the caller's thread alone; the first error, also want of memory, ends all pieces and is
// given.
Status ShareLoop(uint32_t threads, uint32_t count, uint32_t piece, const BuildPause& pause,
                 const std::function<LoopBody()>& make_body);

}  // namespace pigment
