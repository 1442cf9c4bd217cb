// SPDX-License-Identifier: Apache-2.0
//
// ThreadPool: a fixed number of threads, started when the first task comes (a library has no thread
// before it needs one), joined at destruction after every task has run. No thread of ours takes the
// host's signals. Any thread may Run; the owner destroys.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/status.h"

namespace pigment {

// Cores that this thread may run on, at least one. Asks the kernel and reads no file.
uint32_t UsableCores();

// Starts a thread with every signal blocked and `name` (15 characters count) for the debugger.
// The system has no thread to give: kResourceExhausted, Detail::kLimit.
Result<std::thread> StartThread(const std::string& name, std::function<void()> body);

// Makes this thread, and those that it starts from now on, give way to others that want its core.
void GiveWay();

class ThreadPool {
 public:
  ThreadPool(std::string name, size_t threads) : name_(std::move(name)), threads_max_(threads) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Queues `task`, which runs exactly once: on a thread of the pool or, where the system gives
  // none, before Run returns. A task reports its failures itself; an exception out of it is caught
  // and counted, so that it never ends the host.
  void Run(std::function<void()> task);

  // Returns when no task is queued or running.
  void WaitUntilIdle();

  size_t escaped_exceptions() const { return escaped_exceptions_.load(std::memory_order_relaxed); }

 private:
  void StartThreads();
  void Work();
  void Execute(std::function<void()>& task);

  const std::string name_;
  const size_t threads_max_;
  std::atomic<size_t> escaped_exceptions_{0};
  std::mutex mutex_;  // guards the rest
  std::condition_variable has_work_;
  std::condition_variable is_idle_;
  std::deque<std::function<void()>> tasks_;
  size_t running_ = 0;
  bool is_stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace pigment
