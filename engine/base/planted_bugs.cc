// SPDX-License-Identifier: Apache-2.0
//
// The switch behind PIGMENT_PLANTED. Empty in a build without PIGMENT_PLANTED_BUGS.

#include "engine/base/planted_bugs.h"

#ifdef PIGMENT_PLANTED_BUGS

#include <atomic>

namespace pigment {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
std::atomic<uint32_t> current{kNone};
std::atomic<uint64_t> reached{0};

}  // namespace

bool IsPlanted(PlantedBug bug) {
  if (current.load(std::memory_order_relaxed) != static_cast<uint32_t>(bug)) return false;
  reached.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void SetPlantedBug(std::optional<PlantedBug> bug) {
  current.store(bug ? static_cast<uint32_t>(*bug) : kNone, std::memory_order_relaxed);
  reached.store(0, std::memory_order_relaxed);
}

uint64_t PlantedBugReached() { return reached.load(std::memory_order_relaxed); }

const std::vector<PlantedBugDescription>& PlantedBugs() {
  static const std::vector<PlantedBugDescription> bugs = {
#define PIGMENT_PLANTED_BUG(name, breaks) {PlantedBug::name, #name, breaks},
#include "engine/base/planted_bugs.def"
#undef PIGMENT_PLANTED_BUG
  };
  return bugs;
}

}  // namespace pigment

#endif
