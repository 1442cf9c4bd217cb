// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are a function of their seed, the same on every machine and in every version:
// for what is built by chance and stored, or must be built again alike. One thread each.

#pragma once

#include <cstdint>

namespace pigment {

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class SeededRandom {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  // Below `bound`, as evenly as 2^64 / bound allows. REQUIRES: bound > 0.
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(Next() % bound); }

 private:
  uint64_t state_;
};

}  // namespace pigment
