// SPDX-License-Identifier: Apache-2.0
//
// A catalog that runs out of memory in an edit or a checkpoint: what follows is refused, or is
// there after reopening; what is said in memory is what is on disk, unless the catalog says that it
// is poisoned.

#include <gtest/gtest.h>

#include <functional>
#include <new>

#include "tests/engine/catalog/catalog_harness.h"
#include "tests/support/failing_memory.h"

namespace pigment {
namespace {

using Call = std::function<Status(Catalog&)>;

// `call` with no memory from its `at`-th allocation on, then an edit with all there is.
bool RunOut(const Call& call, uint64_t at, uint64_t span) {
  CatalogHarness harness;
  EXPECT_OK(harness.Open());
  for (uint8_t number = 1; number <= 4; ++number)
    EXPECT_OK(harness.catalog->CreateCollection(
        CatalogHarness::FullEntry(number, "collection" + std::to_string(number))));
  const std::string before = harness.Dump();
  Status status;
  FailAllocations(at, span);
  ResumeFailingAllocations();
  try {
    status = call(*harness.catalog);
  } catch (const std::bad_alloc&) {
    PauseFailingAllocations();
    status = ResourceExhausted(Detail::kMemory, "out of memory");
  }
  PauseFailingAllocations();
  const bool ran_out = AllocationsFailed() > 0;
  FailAllocations(0, 0);
  EXPECT_TRUE(status.ok() || harness.Dump() == before) << "an edit that failed is to be seen";
  const std::string seen = harness.Dump();
  const Status edit = harness.catalog->CreateTenant("behind");
  EXPECT_TRUE(edit.ok() || edit.detail() == Detail::kPoisoned) << edit.ToString();
  harness.files.CutPower({.keep = PowerCut::Keep::kNothing});
  EXPECT_OK(harness.Open());
  EXPECT_EQ(harness.catalog->GetTenant("behind").ok(), edit.ok()) << "edit: " << edit.ToString();
  if (edit.ok()) {
    EXPECT_OK(harness.catalog->DeleteTenant("behind"));
    EXPECT_EQ(harness.Dump(), seen);
  }
  return ran_out;
}

TEST(CatalogMemory, ACallThatRunsOutOfItLeavesNothingHalfDone) {
  const std::pair<const char*, Call> calls[] = {
      {"create",
       [](Catalog& catalog) { return catalog.CreateCollection(CatalogHarness::Entry(9, "new")); }},
      {"rename",
       [](Catalog& catalog) { return catalog.UpdateCollection(CatalogHarness::Entry(2, "new")); }},
      {"delete", [](Catalog& catalog) { return catalog.DeleteCollection(CatalogHarness::Id(3)); }},
      {"delete all",
       [](Catalog& catalog) { return catalog.DeleteTenant(std::string(kDefaultTenant)); }},
      {"checkpoint", [](Catalog& catalog) { return catalog.Checkpoint(); }},
  };
  for (const auto& [name, call] : calls) {
    for (const uint64_t span : {uint64_t{1}, uint64_t{4}, kForGood}) {
      bool ran_out = true;
      for (uint64_t at = 1; ran_out && !HasFailure(); ++at) {
        SCOPED_TRACE(std::string(name) + ", " + std::to_string(span) + " from allocation " +
                     std::to_string(at));
        ran_out = RunOut(call, at, span);
      }
    }
  }
}

}  // namespace
}  // namespace pigment
