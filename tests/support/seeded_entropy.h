// SPDX-License-Identifier: Apache-2.0
//
// SeededEntropy: while one lives, the system's entropy (getrandom) gives this thread numbers from a
// seed, so that a run can be had again, uuids included. A program that links it gets its getrandom.

#pragma once

#include <cstdint>

namespace pigment {

class SeededEntropy {
 public:
  explicit SeededEntropy(uint64_t seed);
  ~SeededEntropy();
  SeededEntropy(const SeededEntropy&) = delete;
  SeededEntropy& operator=(const SeededEntropy&) = delete;

 private:
  const uint64_t before_;
};

}  // namespace pigment
