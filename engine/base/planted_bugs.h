// SPDX-License-Identifier: Apache-2.0
//
// Planted bugs: protocol mistakes that the crash harness must find. A source asks
// PIGMENT_PLANTED(kName) where the mistake would be; the answer is the constant false in every build
// but that of tests/planted, which compiles the asking sources a second time with
// PIGMENT_PLANTED_BUGS and turns one bug on at a time. Asked in .cc files only, never in headers.
// The switch is the process's; any thread may ask.

#pragma once

#include <cstdint>

#ifdef PIGMENT_PLANTED_BUGS
#include <optional>
#include <string_view>
#include <vector>
#endif

namespace pigment {

enum class PlantedBug : uint32_t {
#define PIGMENT_PLANTED_BUG(name, breaks) name,
#include "engine/base/planted_bugs.def"
#undef PIGMENT_PLANTED_BUG
};

}  // namespace pigment

#ifdef PIGMENT_PLANTED_BUGS

#define PIGMENT_PLANTED(name) (::pigment::IsPlanted(::pigment::PlantedBug::name))

namespace pigment {

// True when this bug is the one that is on; counts how often it was.
bool IsPlanted(PlantedBug bug);

// Turns one bug on, or none, and begins the count anew. No store may be open.
void SetPlantedBug(std::optional<PlantedBug> bug);
uint64_t PlantedBugReached();  // how often the bug that is on was met

struct PlantedBugDescription {
  PlantedBug bug;
  std::string_view name;
  std::string_view breaks;
};
const std::vector<PlantedBugDescription>& PlantedBugs();

}  // namespace pigment

#else

// The name must exist all the same.
#define PIGMENT_PLANTED(name) (static_cast<void>(::pigment::PlantedBug::name), false)

#endif
