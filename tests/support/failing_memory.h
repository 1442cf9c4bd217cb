// SPDX-License-Identifier: Apache-2.0
//
// An operator new for test programs that use this, which fails on demand: the n-th allocation of
// the thread that asked for it, and some or all behind it. Other threads get their memory.

#pragma once

#include <cstdint>

namespace pigment {

inline constexpr uint64_t kForGood = UINT64_MAX;

// `span` allocations fail, the `at`-th from now on first, counted while resumed; `at` 0: none.
void FailAllocations(uint64_t at, uint64_t span);
void ResumeFailingAllocations();
void PauseFailingAllocations();
uint64_t AllocationsMade();    // since FailAllocations, while resumed
uint64_t AllocationsFailed();  // likewise

}  // namespace pigment
