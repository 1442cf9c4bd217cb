// SPDX-License-Identifier: Apache-2.0
//
// How many descriptors this process has open: as many after a test as before it, or one was
// forgotten. Linux.

#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace pigment {

inline ptrdiff_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

}  // namespace pigment
