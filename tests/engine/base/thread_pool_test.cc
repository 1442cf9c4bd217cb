// SPDX-License-Identifier: Apache-2.0
//
// ThreadPool: every task runs once, signals stay with the host, exceptions stay inside.

#include "engine/base/thread_pool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

namespace pigment {
namespace {

size_t ThreadsOfThisProcess() {
  size_t threads = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++threads;
  return threads;
}

TEST(ThreadPool, EveryTaskRunsOnceAlsoThoseQueuedAtDestruction) {
  std::vector<std::atomic<int>> runs(2000);
  {
    ThreadPool pool("test", 3);
    for (auto& run : runs) pool.Run([&run] { ++run; });
  }
  for (const auto& run : runs) EXPECT_EQ(run, 1);
}

TEST(ThreadPool, ThreadsStartWithTheFirstTaskAndAreFixedInNumber) {
  const size_t before = ThreadsOfThisProcess();
  ThreadPool pool("test", 2);
  EXPECT_EQ(ThreadsOfThisProcess(), before);
  for (int i = 0; i < 50; ++i) pool.Run([] {});
  pool.WaitUntilIdle();
  EXPECT_EQ(ThreadsOfThisProcess(), before + 2);
}

TEST(ThreadPool, ItsThreadsTakeNoSignalOfTheHost) {
  ThreadPool pool("test", 1);
  sigset_t mask;
  sigemptyset(&mask);
  pool.Run([&] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); });
  pool.WaitUntilIdle();
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGHUP, SIGCHLD}) {
    EXPECT_EQ(sigismember(&mask, signal), 1) << signal;
  }
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGINT), 0);  // the caller's mask is as it was
}

TEST(ThreadPool, AnExceptionIsCountedAndTheNextTaskRuns) {
  ThreadPool pool("test", 1);
  bool has_run = false;
  pool.Run([] { throw std::runtime_error("lost"); });
  pool.Run([] { throw 42; });
  pool.Run([&] { has_run = true; });
  pool.WaitUntilIdle();
  EXPECT_TRUE(has_run);
  EXPECT_EQ(pool.escaped_exceptions(), 2u);
}

TEST(ThreadPool, WithoutThreadsTheCallerRunsTheTask) {
  ThreadPool pool("test", 0);
  std::thread::id ran_on;
  pool.Run([&] { ran_on = std::this_thread::get_id(); });
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

// The nice value of the calling thread.
int Nice() { return getpriority(PRIO_PROCESS, 0); }

TEST(ThreadPool, AThreadThatGivesWayTakesNoOtherWithItButThoseThatItStarts) {
  const int before = Nice();
  int given = 0, inherited = 0;
  Result<std::thread> thread = StartThread("test", [&] {
    GiveWay();
    given = Nice();
    std::thread([&] { inherited = Nice(); }).join();
  });
  ASSERT_TRUE(thread.ok());
  thread->join();
  EXPECT_EQ(given, std::min(before + 10, 19));
  EXPECT_EQ(inherited, given);
  EXPECT_EQ(Nice(), before);
}

}  // namespace
}  // namespace pigment
