// SPDX-License-Identifier: Apache-2.0
//
// The memory of this process that is in RAM, as the kernel counts it. Header only.

#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace pigment {

inline uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace pigment
