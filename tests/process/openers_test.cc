// SPDX-License-Identifier: Apache-2.0
//
// Processes that open one directory at once: one writes, the others are told who does, at once; and
// nothing of a process outlives it.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/base/disk_files.h"
#include "engine/collection/store.h"
#include "tests/process/children.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

constexpr uint64_t kRaces = 2000;
constexpr int kOpeners = 3;  // each with directories of its own
constexpr int kRacesOfADirectory = 8;
constexpr double kRefusedMs = 100;
constexpr double kReopenedMs = 50;
constexpr double kSyncsOfAnOpen = 10;
// Of the races, how many may be late because somebody else had the processor.
constexpr double kLateShare = 0.01;

struct Racer {
  std::atomic<bool> is_done;
  bool is_open;
  bool is_refused;  // with kLocked
  double milliseconds;
  char message[400];
};

struct Race {
  std::atomic<int> ready;
  std::atomic<bool> is_started;
  Racer racers[2];
};

int RunRacer(Race& race, int number, const std::string& path) {
  ++race.ready;
  while (!race.is_started) std::this_thread::yield();
  Racer& racer = race.racers[number];
  const Stopwatch watch;
  const auto store = Store::Open(path, {});
  racer.milliseconds = watch.milliseconds();
  racer.is_open = store.ok();
  racer.is_refused = store.status().code() == Code::kFailedPrecondition &&
                     store.status().detail() == Detail::kLocked;
  snprintf(racer.message, sizeof racer.message, "%s", store.status().ToString().c_str());
  racer.is_done = true;
  for (;;) pause();
}

// What the disk takes for one sync just now, beside whatever else it is doing.
double SyncMs(const std::string& path) {
  const auto file = DiskFiles()->Open(path + "/probe", OpenMode::kCreate);
  EXPECT_OK(file);
  const std::byte byte{1};
  const Stopwatch watch;
  EXPECT_OK((*file)->WriteAt(0, std::span(&byte, 1)));
  EXPECT_OK((*file)->Sync());
  const double took = watch.milliseconds();
  EXPECT_OK(DiskFiles()->Remove(path + "/probe"));
  return took;
}

// Of all workers together.
struct OpenCounts {
  std::atomic<uint64_t> begun, races, late_refusals, late_locks, late_reopens;
};

void RunRace(const std::string& path, OpenCounts& counts) {
  Shared<Race> race;
  Child children[2];
  for (int i = 0; i < 2; ++i) children[i] = Child([&] { return RunRacer(*race, i, path); });
  while (race->ready < 2) std::this_thread::yield();
  race->is_started = true;
  const Stopwatch patience;
  while (!race->racers[0].is_done || !race->racers[1].is_done) {
    ASSERT_LT(patience.milliseconds(), 60'000);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  const int winner = race->racers[0].is_open ? 0 : 1;
  const Racer& loser = race->racers[1 - winner];
  ASSERT_TRUE(race->racers[winner].is_open) << race->racers[0].message << "\n"
                                            << race->racers[1].message;
  ASSERT_FALSE(loser.is_open) << "two writers";
  ASSERT_TRUE(loser.is_refused) << loser.message;
  const std::string holder = "pid " + std::to_string(children[winner].pid()) + " (";
  ASSERT_NE(std::string(loser.message).find(holder), std::string::npos) << loser.message;
  counts.late_refusals += loser.milliseconds > kRefusedMs;

  ASSERT_TRUE(children[winner].Kill());
  // The lock is free at once; opening then waits for the disk.
  const Stopwatch locking;
  ASSERT_OK(DiskFiles()->Lock(path + "/LOCK", "the next"));
  counts.late_locks += locking.milliseconds() > kReopenedMs;
  const Stopwatch watch;
  const auto store = Store::Open(path, {});
  ASSERT_OK(store);
  const double took = watch.milliseconds();
  counts.late_reopens += took > kReopenedMs && took - kSyncsOfAnOpen * SyncMs(path) > kReopenedMs;
  ASSERT_OK((*store)->Close());
  ++counts.races;
}

TEST(Openers, OfTwoProcessesOneWinsAndTheOtherIsToldByWhom) {
  Shared<OpenCounts> counts;
  const uint64_t races = AtEffort(kRaces);
  InParallel(kOpeners, [&](int) {
    std::unique_ptr<TemporaryDirectory> directory;
    for (uint64_t number = 0; counts->begun.fetch_add(1) < races; ++number) {
      SCOPED_TRACE("race " + std::to_string(number));
      // The first race of a directory is about making it.
      if (number % kRacesOfADirectory == 0) directory = std::make_unique<TemporaryDirectory>();
      RunRace(*directory / "db", *counts);
      if (HasFailure()) return;
    }
  });
  ExpectFloor("races to open for writing", counts->races, kRaces);
  // One that held the processors made all late that run beside each other.
  const double late_max = std::max<double>(kOpeners, static_cast<double>(races) * kLateShare);
  EXPECT_LE(static_cast<double>(counts->late_refusals), late_max)
      << "refused after more than " << kRefusedMs << " ms";
  EXPECT_LE(static_cast<double>(counts->late_locks), late_max)
      << "locked after more than " << kReopenedMs << " ms";
  EXPECT_LE(static_cast<double>(counts->late_reopens), 10 * late_max)
      << "reopened after more than " << kReopenedMs << " ms";
}

WriteBatch OneRecord(const std::string& id) {
  WriteBatch batch;
  batch.ids = {id};
  batch.dimension = 1;
  batch.embeddings = {1};
  return batch;
}

TEST(Openers, AForkedChildIsRefusedOnEveryCallAndClosesNothing) {
  TemporaryDirectory directory;
  auto store = Store::Open(directory / "db", {}).value();
  auto docs = store->CreateCollection(EntryNamed("docs")).value();
  ASSERT_OK(docs->Write(OneRecord("a")));
  const Uuid id = docs->entry().id;
  const std::string failure = RunInChild([&]() -> std::string {
    const auto forked = [](const Status& status) {
      return status.code() == Code::kFailedPrecondition && status.detail() == Detail::kForked;
    };
    const auto keep_all = [](const Version&) { return std::vector<std::string>(); };
    const auto change = [](CollectionEntry&) { return Status::Ok(); };
    PIGMENT_CHILD_CHECK(forked(docs->Pin().status()));
    PIGMENT_CHILD_CHECK(forked(docs->Write(OneRecord("b")).status()));
    PIGMENT_CHILD_CHECK(forked(docs->DeleteSelected(keep_all).status()));
    PIGMENT_CHILD_CHECK(forked(docs->Segments().status()));
    PIGMENT_CHILD_CHECK(forked(docs->Flush()));
    PIGMENT_CHILD_CHECK(forked(docs->Compact().status()));
    PIGMENT_CHILD_CHECK(forked(store->catalog().status()));
    PIGMENT_CHILD_CHECK(forked(store->CreateCollection(EntryNamed("b")).status()));
    PIGMENT_CHILD_CHECK(forked(store->GetCollection({}, "docs").status()));
    PIGMENT_CHILD_CHECK(forked(store->GetCollectionById(id).status()));
    PIGMENT_CHILD_CHECK(forked(store->ModifyCollection(id, change)));
    PIGMENT_CHILD_CHECK(forked(store->DeleteCollection({}, "docs")));
    PIGMENT_CHILD_CHECK(forked(store->DeleteDatabase("default_tenant", "default_database")));
    PIGMENT_CHILD_CHECK(forked(store->DeleteTenant("default_tenant")));
    PIGMENT_CHILD_CHECK(forked(store->ForkCollection(id, "copy").status()));
    PIGMENT_CHILD_CHECK(forked(store->Flush()));
    PIGMENT_CHILD_CHECK(forked(store->Refresh().status()));
    PIGMENT_CHILD_CHECK(forked(store->maintenance().status()));
    PIGMENT_CHILD_CHECK(forked(store->Close()));
    docs.reset();
    store.reset();
    // The child is a process like any other: it is told who writes, and may read.
    const Status second = Store::Open(directory / "db", {}).status();
    PIGMENT_CHILD_CHECK(second.detail() == Detail::kLocked);
    PIGMENT_CHILD_CHECK(second.message().find("pid " + std::to_string(getppid()) + " (") !=
                        std::string::npos);
    StoreOptions reading;
    reading.read_only = true;
    const auto reader = Store::Open(directory / "db", reading);
    PIGMENT_CHILD_OK(reader);
    PIGMENT_CHILD_OK((*reader)->GetCollection({}, "docs"));
    PIGMENT_CHILD_OK((*reader)->Close());
    return "";
  });
  ASSERT_EQ(failure, "");
  ASSERT_OK(docs->Write(OneRecord("b")));
  EXPECT_NE(RunInChild([&]() -> std::string {
              return Store::Open(directory / "db", {}).status().ToString();
            }).find("is locked"),
            std::string::npos)
      << "the child let go of the parent's lock";
  ASSERT_OK(store->Close());
}

TEST(Openers, AChildThatLivesOnDoesNotKeepTheLockOfADeadParent) {
  TemporaryDirectory directory;
  const std::string path = directory / "db";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Child parent([&] {
    const auto store = Store::Open(path, {});
    if (!store.ok()) return 1;
    if (fork() == 0) {
      const pid_t self = getpid();
      if (write(ends[1], &self, sizeof self) != sizeof self) _exit(1);
    }
    for (;;) pause();
  });
  pid_t grandchild = 0;
  ASSERT_EQ(read(ends[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof grandchild));
  EXPECT_EQ(Store::Open(path, {}).status().detail(), Detail::kLocked);
  ASSERT_TRUE(parent.Kill());
  EXPECT_OK(Store::Open(path, {}));
  EXPECT_EQ(kill(grandchild, SIGKILL), 0) << "it was to live on";
  close(ends[0]);
  close(ends[1]);
}

TEST(Openers, EveryThingOfAProcessIsFreeAtItsDeath) {
  TemporaryDirectory directory;
  const std::string path = directory / "db";
  { ASSERT_OK(Store::Open(path, {})); }
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    StoreOptions reading;
    reading.read_only = true;
    Child reader([&] {
      const auto store = Store::Open(path, reading);
      if (!store.ok() || write(ends[1], "r", 1) != 1) return 1;
      for (;;) pause();
    });
    Child writer([&] {
      const auto store = Store::Open(path, {});
      if (!store.ok() || write(ends[1], "w", 1) != 1) return 1;
      for (;;) pause();
    });
    char bytes[2];
    ASSERT_EQ(read(ends[0], bytes, 1), 1);
    ASSERT_EQ(read(ends[0], bytes + 1, 1), 1);
    ASSERT_TRUE(DiskFiles()->IsPinnedBelow(path + "/LOCK", UINT32_MAX).value());
    ASSERT_TRUE(writer.Kill());
    ASSERT_TRUE(reader.Kill());
    EXPECT_FALSE(DiskFiles()->IsPinnedBelow(path + "/LOCK", UINT32_MAX).value());
    const auto store = Store::Open(path, {});
    ASSERT_OK(store);
    ASSERT_OK((*store)->Close());
    close(ends[0]);
    close(ends[1]);
  }
}

}  // namespace
}  // namespace pigment
