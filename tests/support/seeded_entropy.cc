// SPDX-License-Identifier: Apache-2.0
//
// The getrandom of test programs: the kernel's, except where a SeededEntropy lives.

#include "tests/support/seeded_entropy.h"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

namespace pigment {
namespace {

thread_local uint64_t state = 0;  // 0: the kernel's

uint64_t Next() {  // SplitMix64
  uint64_t number = state += 0x9E3779B97F4A7C15;
  if (state == 0) state = 1;
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EB;
  return number ^ (number >> 31);
}

}  // namespace

SeededEntropy::SeededEntropy(uint64_t seed) : before_(state) { state = seed * 2 + 1; }
SeededEntropy::~SeededEntropy() { state = before_; }

}  // namespace pigment

extern "C" ssize_t getrandom(void* buffer, size_t length, unsigned int flags) {
  if (pigment::state == 0) return syscall(SYS_getrandom, buffer, length, flags);
  auto* bytes = static_cast<unsigned char*>(buffer);
  for (size_t i = 0; i < length; ++i) bytes[i] = static_cast<unsigned char>(pigment::Next());
  return static_cast<ssize_t>(length);
}
