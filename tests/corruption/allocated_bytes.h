// SPDX-License-Identifier: Apache-2.0
//
// How many bytes the program has from operator new, now and at most since the last reset: what is
// sized by a damaged number shows here. Under sanitizers, whose allocator stands in, always 0.

#pragma once

#include <cstddef>

namespace pigment {

size_t AllocatedBytes();
size_t PeakAllocatedBytes();
void ResetPeakAllocatedBytes();

}  // namespace pigment
