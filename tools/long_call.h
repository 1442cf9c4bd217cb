// SPDX-License-Identifier: Apache-2.0
//
// Calls of the library that may take long: SIGINT ends them (an interrupted command leaves what the
// library leaves of a cancelled call), and on a terminal a line on standard error is drawn over
// that says how far they are. One thread.

#pragma once

#include <functional>
#include <string>

#include "pigment/pigment.h"

namespace pigment_tool {

// Runs `call` here, with options to give the library; a thread that looks on draws the line. What
// `call` throws comes out. REQUIRES: CatchInterrupts().
void RunLong(const std::string& what, const std::function<void(const pigment_call_options&)>& call);

// "compact: merge [####....] 45 %  4500 of 10000 rows  0:12 left", or of a phase of which nobody
// knows the end, "compact: index  0:07". `seconds` is how long the phase has been going on.
std::string PrintPhase(const std::string& what, const pigment_progress& progress, double seconds);

}  // namespace pigment_tool
