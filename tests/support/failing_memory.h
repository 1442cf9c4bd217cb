// SPDX-License-Identifier: Apache-2.0
//
// An operator new for test programs that use this, which fails on demand: the n-th allocation of
// the thread that asked for it, and some or all behind it; or which calls something there, so that
// a test can do what another thread might have done just then. Other threads get their memory.

#pragma once

#include <cstdint>

namespace pigment {

inline constexpr uint64_t kForGood = UINT64_MAX;

// `span` allocations fail, the `at`-th from now on first, counted while resumed; `at` 0: none.
void FailAllocations(uint64_t at, uint64_t span);
// At the `at`-th allocation from now on, counted while resumed, `call(argument)` runs first, once;
// what it allocates itself is not counted. None fails.
void CallAtAllocation(uint64_t at, void (*call)(void* argument), void* argument);
void ResumeFailingAllocations();
void PauseFailingAllocations();
uint64_t AllocationsMade();    // since either of the first two, while resumed
uint64_t AllocationsFailed();  // likewise

}  // namespace pigment
