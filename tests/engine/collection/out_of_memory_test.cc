// SPDX-License-Identifier: Apache-2.0
//
// What a lack of memory once left behind: the claim of a merge, for which the next compaction
// waited for ever; the lock of a directory; a collection that was said not to be made; a signal
// mask. tests/fault/memory_fault_test.cc lets every allocation of every call fail.

#include "engine/base/out_of_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <new>

#include "engine/base/thread_pool.h"
#include "engine/collection/store.h"
#include "tests/support/failing_memory.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

constexpr unsigned kHangSeconds = 60;

class OutOfMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override { alarm(kHangSeconds); }
  void TearDown() override { alarm(0); }

  // `call` with no memory from its `at`-th allocation on; whether it came so far.
  template <typename Call>
  static bool RunOut(uint64_t at, const Call& call) {
    FailAllocations(at, kForGood);
    ResumeFailingAllocations();
    try {
      call();
    } catch (const std::bad_alloc&) {
    }
    PauseFailingAllocations();
    const bool ran_out = AllocationsFailed() > 0;
    FailAllocations(0, 0);
    return ran_out;
  }

  std::shared_ptr<Store> Open() {
    StoreOptions options;
    options.background_threads = 0;
    return Store::Open(directory_ / "db", options).value();
  }

  std::shared_ptr<Collection> MakeSegments(Store& store, int count) {
    const auto docs = store.CreateCollection(EntryNamed("docs")).value();
    BatchMaker maker(7, 3, 30);
    for (int i = 0; i < count; ++i) {
      for (int batch = 0; batch < 3; ++batch) {
        const WriteBatch given = maker.Batch(8);
        model_.Apply(given);
        EXPECT_OK(docs->Write(given));
      }
      EXPECT_OK(docs->Flush());
    }
    return docs;
  }

  TemporaryDirectory directory_;
  CollectionModel model_;
};

TEST_F(OutOfMemoryTest, ACompactionAfterOneThatRanOutWaitsForNobody) {
  for (uint64_t at = 1, step = 1;; at += step++ % 7) {
    SCOPED_TRACE(at);
    alarm(kHangSeconds);
    TemporaryDirectory directory;
    StoreOptions options;
    options.background_threads = 0;
    options.sync_mode = SyncMode::kOff;
    model_ = CollectionModel();
    auto store = Store::Open(directory / "db", options).value();
    const auto docs = MakeSegments(*store, 3);
    const bool ran_out = RunOut(at, [&] { (void)docs->Compact().ok(); });
    const auto again = docs->Compact();
    EXPECT_TRUE(again.ok() || again.status().detail() == Detail::kPoisoned)
        << again.status().ToString();
    EXPECT_EQ(DifferenceOfAll(*docs, model_), "");
    static_cast<void>(store->Close().ok());
    store = Store::Open(directory / "db", options).value();
    EXPECT_EQ(DifferenceOfAll(*store->GetCollection({}, "docs").value(), model_), "");
    if (!ran_out || HasFailure()) break;
  }
}

TEST_F(OutOfMemoryTest, AnOpenThatRanOutHoldsNoLock) {
  (void)MakeSegments(*Open(), 1);
  bool ran_out = true;
  for (uint64_t at = 1; ran_out && !HasFailure(); ++at) {
    SCOPED_TRACE(at);
    StoreOptions options;
    options.background_threads = 0;
    ran_out = RunOut(at, [&] { (void)Store::Open(directory_ / "db", options).ok(); });
    const auto store = Store::Open(directory_ / "db", options);
    ASSERT_OK(store);
    ASSERT_OK((*store)->Close());
  }
}

TEST_F(OutOfMemoryTest, ACloseThatRanOutHoldsNoLockAndLosesNothing) {
  bool ran_out = true;
  (void)MakeSegments(*Open(), 1);
  BatchMaker maker(8, 3, 30);
  for (uint64_t at = 1; ran_out && !HasFailure(); ++at) {
    SCOPED_TRACE(at);
    auto store = Open();
    const WriteBatch batch = maker.Batch(4);
    model_.Apply(batch);
    ASSERT_OK(store->GetCollection({}, "docs").value()->Write(batch));
    ran_out = RunOut(at, [&] { (void)store->Close().ok(); });
    store = Open();
    ASSERT_EQ(DifferenceOfAll(*store->GetCollection({}, "docs").value(), model_), "");
  }
}

TEST_F(OutOfMemoryTest, ACollectionThatWasSaidNotToBeMadeIsNotThere) {
  const auto store = Open();
  bool ran_out = true;
  for (uint64_t at = 1; ran_out && !HasFailure(); ++at) {
    SCOPED_TRACE(at);
    Result<std::shared_ptr<Collection>> made = OutOfMemory();
    CollectionEntry entry = EntryNamed("number " + std::to_string(at) + " of those to be made");
    const std::string name = entry.name;
    ran_out = RunOut(at, [&] { made = store->CreateCollection(std::move(entry)); });
    if (made.status().detail() == Detail::kPoisoned) return;
    EXPECT_EQ(store->GetCollection({}, name).ok(), made.ok());
  }
}

TEST_F(OutOfMemoryTest, AThreadThatCannotBeStartedChangesNoSignalMask) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  bool ran_out = true;
  for (uint64_t at = 1; ran_out; ++at) {
    std::thread started;
    ran_out = RunOut(at, [&] {
      Result<std::thread> thread = StartThread("a name of more than fifteen", [] {});
      if (thread.ok()) started = *std::move(thread);
    });
    if (started.joinable()) started.join();
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1})
      EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << at;
  }
}

}  // namespace
}  // namespace pigment
