// SPDX-License-Identifier: Apache-2.0
//
// How far long work is: one piece after the other, each with so many units of which some are done.
// The thread that works tells, any thread asks; what is asked belongs together. A look costs a lock
// that is held for an assignment, so it is told every chunk of a file or few hundred rows, not
// each.

#pragma once

#include <cstdint>
#include <mutex>

namespace pigment {

class Progress {
 public:
  struct State {
    const char* phase = nullptr;  // null, as the unit: nothing has begun
    const char* unit = nullptr;
    uint64_t done = 0;   // never more than `total`, where that is known
    uint64_t total = 0;  // 0: nobody knows
  };

  // Both texts are static.
  void Begin(const char* phase, const char* unit, uint64_t total);
  void Advance(uint64_t units);
  State state() const;

 private:
  mutable std::mutex mutex_;
  State state_;
};

}  // namespace pigment
