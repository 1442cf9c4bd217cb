// SPDX-License-Identifier: Apache-2.0
//
// A moment of an open store that is held and let go again between any two steps of a flush or a
// merge takes no file with it.

#include "engine/collection/frozen_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "tests/support/failing_memory.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_history.h"

namespace pigment {
namespace {

// A check holds such a moment while it runs. Empty: it found nothing wrong.
std::string FindingsOf(Store& store) {
  const auto report = store.Check();
  if (!report.ok()) return report.status().ToString();
  std::string text;
  if (report->is_clean()) return text;
  for (const CheckFinding& finding : report->findings) text += finding.message + "\n";
  return text;
}

class HeldAmidst {
 public:
  explicit HeldAmidst(Store* store) : store_(store) {}
  // Waits for the check unless a lock of the interrupted call keeps it: then it runs behind that.
  static void Begin(void* held) {
    auto* const self = static_cast<HeldAmidst*>(held);
    self->check_ = std::async(std::launch::async, [self] { return FindingsOf(*self->store_); });
    self->check_.wait_for(std::chrono::milliseconds(5));
  }
  std::string End() { return check_.valid() ? check_.get() : ""; }

 private:
  Store* const store_;
  std::future<std::string> check_;
};

using Step = std::function<Status(Store&, Collection&)>;

// Interrupts `step` at its `at`-th allocation (0: nowhere); how many it makes.
uint64_t RunStep(const Step& step, uint64_t at) {
  MemoryFileSystem files;
  StoreOptions options;
  options.background_threads = 0;
  const auto store = Store::Open("db", options, &files).value();
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  BatchMaker maker(1, 3, 20);
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(docs->Write(maker.Batch(8)));
    EXPECT_OK(docs->Flush());
  }
  EXPECT_OK(docs->Write(maker.Batch(8)));
  HeldAmidst held(store.get());
  CallAtAllocation(at, HeldAmidst::Begin, &held);
  ResumeFailingAllocations();
  const Status status = step(*store, *docs);
  PauseFailingAllocations();
  EXPECT_OK(status);
  EXPECT_EQ(held.End(), "");
  EXPECT_EQ(FindingsOf(*store), "");
  return AllocationsMade();
}

void InterruptEverywhere(const Step& step) {
  const uint64_t allocations = RunStep(step, 0);
  ASSERT_GT(allocations, 20u);
  // The edit and what follows it is the end of each.
  constexpr uint64_t kLast = 150;
  for (uint64_t at = allocations > kLast ? allocations - kLast : 1; at <= allocations; ++at) {
    SCOPED_TRACE(::testing::Message() << "allocation " << at << " of " << allocations);
    RunStep(step, at);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(FrozenStore, KeepsEveryFileOfAFlushAroundIt) {
  InterruptEverywhere([](Store&, Collection& docs) { return docs.Flush(); });
}

TEST(FrozenStore, KeepsEveryFileOfAMergeAroundIt) {
  InterruptEverywhere([](Store&, Collection& docs) { return docs.Compact().status(); });
}

}  // namespace
}  // namespace pigment
