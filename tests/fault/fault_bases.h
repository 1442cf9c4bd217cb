// SPDX-License-Identifier: Apache-2.0
//
// The stores that fault sweeps begin with, as images, with the model of each. Header only; one
// thread.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/base/disk_files.h"
#include "tests/fault/fault_steps.h"

namespace pigment {

inline const CollectionPlace kBusy{.name = "busy"};
inline const CollectionPlace kCold{.name = "cold"};
inline const CollectionPlace kOther{.tenant = "acme", .database = "main", .name = "busy"};

struct Base {
  StoreImage image;
  StoreState state;
};

// Runs `steps` on a new store without any fault; what a kill would leave when not closed.
inline Base Build(const std::vector<FaultStep>& steps, bool is_closed, uint32_t flush_rows_max = 16384) {
  FaultWorld world;
  world.options.flush_rows_max = flush_rows_max;
  EXPECT_OK(world.files.MakeDirectory("disk"));
  EXPECT_OK(world.files.SyncDirectory(""));
  EXPECT_OK(world.Open());
  for (const FaultStep& step : steps) {
    EXPECT_OK(step.run(world)) << step.name;
    step.effect(world.state);
  }
  if (is_closed) {
    EXPECT_OK(CloseStep().run(world));
  } else {
    world.files.CutPower({.keep = PowerCut::Keep::kEverything});
    world.store.reset();
  }
  return {CaptureImage(world.files, "disk"), world.state};
}

inline std::vector<FaultStep> Writes(uint64_t seed, const CollectionPlace& place, int batches) {
  BatchMaker maker(seed, 3, 20);
  std::vector<FaultStep> steps;
  for (int i = 0; i < batches; ++i) steps.push_back(WriteStep(place, maker.Batch(6)));
  return steps;
}

inline std::vector<FaultStep> Join(std::vector<std::vector<FaultStep>> parts) {
  std::vector<FaultStep> all;
  for (auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline std::vector<FaultStep> TwoTenants() {
  return {CreateStep(kBusy), CreateStep(kCold), CreateTenantStep("acme"),
          CreateDatabaseStep("acme", "main"), CreateStep(kOther)};
}

// Segments with deletions, a tail in the log, several tenants.
inline std::vector<FaultStep> Mixed() {
  return Join({TwoTenants(),
               Writes(1, kBusy, 8),
               {FlushStep(kBusy)},
               Writes(2, kBusy, 6),
               Writes(3, kOther, 4),
               {FlushStep(kBusy)},
               Writes(4, kBusy, 4),
               Writes(5, kCold, 3)});
}

struct Bases {
  Base nothing{.image = {{"disk/", ""}}, .state = {}};
  Base empty{.image = {{"disk/", ""}, {"disk/db/", ""}}, .state = {}};
  Base fresh = Build({}, true);
  Base logged = Build(Join({TwoTenants(), Writes(1, kBusy, 8), Writes(2, kCold, 2)}), true);
  Base mixed = Build(Mixed(), true);
  Base killed = Build(Mixed(), false);
  Base segmented = Build(Join({Mixed(), {FlushAllStep()}}), true);
};

// What the disk's errors become.
inline Code CodeOf(int error) { return ErrnoStatus(error, "", "").code(); }

}  // namespace pigment
