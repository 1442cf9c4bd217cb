// SPDX-License-Identifier: Apache-2.0
//
// A sweep over the lives of one log: random writes, purges, full disks, failing operations and power
// cuts, told by a seed, each followed by an open that must give back what was promised. The tests of
// the log want no difference; those of planted bugs want one. One thread.

#pragma once

#include <cstdint>
#include <string>

namespace pigment {

// What is wrong with the log after the history that `seed` tells; empty when nothing is.
std::string DifferenceOfLog(uint64_t seed);

}  // namespace pigment
