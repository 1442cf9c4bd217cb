// SPDX-License-Identifier: Apache-2.0
//
// kill -9 of a process that writes to a store on the real disk. Each acknowledgement goes through a
// pipe, so the parent knows what must be there; each life goes on where the last one was killed.

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "engine/collection/store.h"
#include "tests/support/kill_soon.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

constexpr int kThreads = 2;
constexpr int kKills = 100;
constexpr std::chrono::milliseconds kDelayMax(40);

StoreOptions SmallSegments() {
  StoreOptions options;
  options.flush_rows_max = 40;
  return options;
}

// Batch `number` of thread `thread` in life `life`: two new records, and the first of the thread's
// last batch deleted. So exactly the second record of every batch but the newest stays, and halves
// of batches show.
std::string IdOf(int life, int thread, uint32_t number, char half) {
  return std::to_string(life) + "/" + std::to_string(thread) + "/" + std::to_string(number) + half;
}

struct Acknowledgement {
  int32_t thread;
  uint32_t number;
};

[[noreturn]] void WriteUntilKilled(const std::string& path, int life, int pipe_end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto store = Store::Open(path, SmallSegments());
  if (!store.ok()) _exit(3);
  auto docs = (*store)->GetCollection({}, "docs");
  if (!docs.ok()) docs = (*store)->CreateCollection(EntryNamed("docs"));
  if (!docs.ok()) _exit(4);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint32_t number = 0;; ++number) {
        WriteBatch batch;
        batch.ids = {IdOf(life, thread, number, 'a'), IdOf(life, thread, number, 'b')};
        batch.dimension = 4;
        batch.embeddings.assign(8, static_cast<float>(number));
        if (!(*docs)->Write(batch).ok()) _exit(5);
        const Acknowledgement acknowledgement{thread, number};
        if (write(pipe_end, &acknowledgement, sizeof acknowledgement) != sizeof acknowledgement)
          _exit(6);
        if (number % 7 != 6) continue;
        WriteBatch erase;
        erase.kind = WriteKind::kDelete;
        erase.ids = {IdOf(life, thread, number - 1, 'a'), IdOf(life, thread, number - 1, 'b')};
        if (!(*docs)->Write(erase).ok()) _exit(7);
      }
    });
  }
  for (;;) pause();
}

TEST(StoreKill, NothingAcknowledgedIsLostByKill9) {
  TemporaryDirectory directory;
  const std::string path = directory / "db";
  std::mt19937_64 random(20261121);
  int kills_with_work = 0;
  for (int life = 0; life < kKills && !HasFatalFailure(); ++life) {
    SCOPED_TRACE("life " + std::to_string(life));
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) WriteUntilKilled(path, life, ends[1]);
    close(ends[1]);
    KillSoon(child, ends[0], static_cast<uint64_t>(life), kDelayMax, random);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself with " << WEXITSTATUS(status);
    std::vector<uint32_t> acknowledged(kThreads, 0);  // batches, which each thread writes in order
    Acknowledgement read_back;
    while (read(ends[0], &read_back, sizeof read_back) == sizeof read_back) {
      acknowledged[static_cast<size_t>(read_back.thread)] = read_back.number + 1;
    }
    close(ends[0]);
    kills_with_work += acknowledged != std::vector<uint32_t>(kThreads, 0);

    const auto store = Store::Open(path, SmallSegments());
    ASSERT_OK(store);
    const auto docs = (*store)->GetCollection({}, "docs");
    if (!docs.ok()) {
      ASSERT_EQ(acknowledged, std::vector<uint32_t>(kThreads, 0));
      continue;
    }
    const auto version = (*docs)->Pin().value();
    const auto list = SelectIds(*version, {});
    ASSERT_OK(list);
    const std::set<std::string> ids(list->begin(), list->end());
    ASSERT_EQ(ids.size(), version->live_rows);
    for (int thread = 0; thread < kThreads; ++thread) {
      const uint32_t batches = acknowledged[static_cast<size_t>(thread)];
      // One batch more than was acknowledged may be there, not two.
      for (uint32_t number = 0; number <= batches + 1; ++number) {
        const bool a = ids.contains(IdOf(life, thread, number, 'a'));
        const bool b = ids.contains(IdOf(life, thread, number, 'b'));
        ASSERT_EQ(a, b) << "half of batch " << number << " of thread " << thread;
        // Batches 5, 12, 19 … are deleted after the one that follows them.
        const bool is_deleted = number % 7 == 5 && number + 2 < batches;
        const bool may_be_deleted = number % 7 == 5 && number + 1 <= batches;
        const bool must_be_there = number < batches && !may_be_deleted;
        ASSERT_FALSE(must_be_there && !a) << number << " of " << batches;
        ASSERT_FALSE((is_deleted || number > batches) && a) << number << " of " << batches;
      }
    }
    ASSERT_OK((*store)->Close());
  }
  EXPECT_GE(kills_with_work, kKills / 2);
}

}  // namespace
}  // namespace pigment
