// SPDX-License-Identifier: Apache-2.0
//
// Vectors as bytes, as segments and pending pages keep them: numbers in 32 or 16 bits, little
// endian, or bits, the first of each byte its most significant, zeros behind the last. Pure
// functions; any thread.

#pragma once

#include <cstddef>
#include <span>

#include "engine/record/vector_element.h"

namespace pigment {

// Writes VectorBytes(element, vector.size()) bytes; `out` may be unaligned. REQUIRES: numbers that
// the element holds, others are rounded, or of bits become 1.
void PackVector(VectorElement element, std::span<const float> vector, std::byte* out);
// Reads as many numbers as `out` has room for; `packed` may be unaligned.
void UnpackVector(VectorElement element, const std::byte* packed, std::span<float> out);
// The same of `count` vectors that lie one behind the other, into count * dimension numbers.
void UnpackVectors(VectorElement element, const std::byte* packed, size_t dimension, size_t count,
                   float* out);

// True when each number is 0 or 1; otherwise *bad is the first that is not.
bool AreBits(std::span<const float> vector, size_t* bad);

}  // namespace pigment
