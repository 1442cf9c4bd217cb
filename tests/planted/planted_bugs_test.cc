// SPDX-License-Identifier: Apache-2.0
//
// The switch of planted bugs: one at a time, counted, and off again.

#include "engine/base/planted_bugs.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace pigment {
namespace {

TEST(PlantedBugs, OneIsOnAtATimeAndCounted) {
  SetPlantedBug(std::nullopt);
  EXPECT_FALSE(PIGMENT_PLANTED(kPublishWithoutFileSync));
  SetPlantedBug(PlantedBug::kPublishWithoutFileSync);
  EXPECT_TRUE(PIGMENT_PLANTED(kPublishWithoutFileSync));
  EXPECT_FALSE(PIGMENT_PLANTED(kRetryFailedSync));
  EXPECT_EQ(PlantedBugReached(), 1u);
  SetPlantedBug(std::nullopt);
  EXPECT_FALSE(PIGMENT_PLANTED(kPublishWithoutFileSync));
  EXPECT_EQ(PlantedBugReached(), 0u);
}

TEST(PlantedBugs, EachHasANameAndSaysWhatItBreaks) {
  std::set<std::string_view> names, texts;
  for (const PlantedBugDescription& bug : PlantedBugs()) {
    EXPECT_TRUE(names.insert(bug.name).second) << bug.name;
    EXPECT_GT(bug.breaks.size(), 20u) << bug.name;
    EXPECT_TRUE(texts.insert(bug.breaks).second) << bug.breaks;
  }
}

}  // namespace
}  // namespace pigment
