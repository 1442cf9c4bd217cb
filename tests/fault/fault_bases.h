// SPDX-License-Identifier: Apache-2.0
//
// The stores that fault sweeps begin with, as images, with the model of each. Header only; one
// thread.

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
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
inline Base Build(const std::vector<FaultStep>& steps, bool is_closed,
                  const StoreOptions& options = SmallReserveOptions()) {
  FaultWorld world;
  world.options = options;
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
inline std::vector<FaultStep> Mixed(uint64_t seed) {
  return Join({TwoTenants(),
               Writes(seed + 1, kBusy, 8),
               {FlushStep(kBusy)},
               Writes(seed + 2, kBusy, 6),
               Writes(seed + 3, kOther, 4),
               {FlushStep(kBusy)},
               Writes(seed + 4, kBusy, 4),
               Writes(seed + 5, kCold, 3)});
}

// Small files of the log, and so purges; whatever is small is shelved at close.
inline StoreOptions SmallLogOptions() {
  StoreOptions options = SmallReserveOptions();
  options.log_file_bytes_max = 900;
  return options;
}

inline StoreOptions SmallTailOptions(uint32_t rows) {
  StoreOptions options = SmallReserveOptions();
  options.flush_rows_max = rows;
  options.index_rows_min = 2 * rows;
  options.cluster_rows_min = rows;
  return options;
}

inline bool HasFiles(const Base& base, std::string_view ending, int count) {
  return std::count_if(base.image.begin(), base.image.end(),
                       [&](const auto& item) { return item.first.ends_with(ending); }) >= count;
}

// Several files of the log, and a shelf beside them: not just after a purge.
inline Base ManyLogs(uint64_t seed) {
  for (int batches = 4; batches < 40; ++batches) {
    Base base =
        Build(Join({Mixed(seed), Writes(seed + 6, kBusy, batches)}), false, SmallLogOptions());
    if (HasFiles(base, ".log", 2) && HasFiles(base, ".shelf", 1)) return base;
  }
  ADD_FAILURE() << "the log is purged again and again";
  return {};
}

// Another round has stores of the same kinds with other histories.
struct Bases {
  explicit Bases(uint64_t round = 0) : seed(1000 * round) {}

  std::vector<FaultStep> Writes(uint64_t number, const CollectionPlace& place, int batches) const {
    return pigment::Writes(seed + number, place, batches);
  }

  const uint64_t seed;
  Base nothing{.image = {{"disk/", ""}}, .state = {}};
  Base empty{.image = {{"disk/", ""}, {"disk/db/", ""}}, .state = {}};
  Base fresh = Build({}, true);
  Base logged =
      Build(Join({TwoTenants(), Writes(seed + 1, kBusy, 8), Writes(seed + 2, kCold, 2)}), true);
  Base mixed = Build(Mixed(seed), true);
  Base killed = Build(Mixed(seed), false);
  Base segmented = Build(Join({Mixed(seed), {FlushAllStep()}}), true);
  Base shelved = Build(Mixed(seed), true, SmallLogOptions());
  Base many_logs = ManyLogs(seed);
};

// What the disk's errors become.
inline Code CodeOf(int error) { return ErrnoStatus(error, "", "").code(); }

}  // namespace pigment
