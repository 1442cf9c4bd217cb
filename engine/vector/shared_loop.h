// SPDX-License-Identifier: Apache-2.0
//
// Shares the pieces of a loop out among threads: for builds and searches whose steps each write
// what is theirs.

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "engine/vector/build_pause.h"

namespace pigment {

// Does begin .. end - 1; asks `pause` every few milliseconds, and ends with its error. One thread
// at a time.
using LoopBody = std::function<Status(uint32_t begin, uint32_t end, const BuildPause& pause)>;

// 0 .. count - 1 in pieces of at most `piece`, on `threads` threads: the caller's and others, fewer
// where the system gives none. Each has a body of its own, made by it. `pause` (may be empty) is
// asked by the caller's thread alone, while the others stand still, because a host's may free what
// they work on and never return: at the begin and some twenty times a second. The first error, also
// want of memory, ends all pieces and is given.
Status ShareLoop(uint32_t threads, uint32_t count, uint32_t piece, const BuildPause& pause,
                 const std::function<LoopBody()>& make_body);

// Shares a loop over vectors in an order: calls what make_visit() gives, once for each thread, for
// all of them; `pause` is asked before each.
template <typename MakeVisit>
Status ShareVectors(uint32_t threads, std::span<const uint32_t> order, const BuildPause& pause,
                    const MakeVisit& make_visit) {
  constexpr uint32_t kPiece = 256;
  return ShareLoop(threads, static_cast<uint32_t>(order.size()), kPiece, pause, [&]() -> LoopBody {
    return [order, visit = make_visit()](uint32_t begin, uint32_t end,
                                         const BuildPause& ask) -> Status {
      for (uint32_t i = begin; i < end; ++i) {
        if (ask) PIGMENT_RETURN_IF_ERROR(ask());
        visit(order[i]);
      }
      return Status::Ok();
    };
  });
}

}  // namespace pigment
