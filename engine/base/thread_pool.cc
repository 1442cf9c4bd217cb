// SPDX-License-Identifier: Apache-2.0
//
// ThreadPool: a queue under one mutex.

#include "engine/base/thread_pool.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "engine/base/out_of_memory.h"

namespace pigment {

uint32_t UsableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;  // more cores than the set has
  return std::max(static_cast<uint32_t>(CPU_COUNT(&cores)), 1u);
}

void GiveWay() {
  constexpr int kMore = 10;
  // Linux has a nice value for each thread. Without one, this thread goes on as before.
  (void)!nice(kMore);
}

Result<std::thread> StartThread(const std::string& name, std::function<void()> body) {
  std::string short_name = name.substr(0, 15);
  // The new thread inherits the mask, so that no signal can reach it before it blocks them itself.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<std::thread> started = OutOfMemory();
  try {
    // Named by itself: the name of another thread is a file below /proc.
    started = std::thread([body = std::move(body), short_name = std::move(short_name)] {
      pthread_setname_np(pthread_self(), short_name.c_str());
      body();
    });
  } catch (const std::system_error& error) {
    started = CatchOutOfMemory([&]() -> Result<std::thread> {
      return ResourceExhausted(Detail::kLimit,
                               fmt::format("cannot start thread \"{}\": {}", name, error.what()));
    });
  } catch (const std::bad_alloc&) {
    started = OutOfMemory();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  has_work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Run(std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    if (threads_.empty()) StartThreads();
    if (!threads_.empty()) {
      tasks_.push_back(std::move(task));
      has_work_.notify_one();
      return;
    }
    ++running_;
  }
  Execute(task);
}

void ThreadPool::StartThreads() {
  threads_.reserve(threads_max_);
  while (threads_.size() < threads_max_) {
    Result<std::thread> thread = StartThread(name_, [this] { Work(); });
    if (!thread.ok()) return;  // fewer, or none: Run copes
    threads_.push_back(std::move(*thread));
  }
}

void ThreadPool::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    has_work_.wait(lock, [this] { return is_stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    ++running_;
    lock.unlock();
    Execute(task);
    lock.lock();
  }
}

void ThreadPool::Execute(std::function<void()>& task) {
  try {
    task();
  } catch (...) {
    escaped_exceptions_.fetch_add(1, std::memory_order_relaxed);
  }
  task = nullptr;  // what it captured dies before anybody is told that it is done
  std::lock_guard lock(mutex_);
  if (--running_ == 0 && tasks_.empty()) is_idle_.notify_all();
}

void ThreadPool::WaitUntilIdle() {
  std::unique_lock lock(mutex_);
  is_idle_.wait(lock, [this] { return running_ == 0 && tasks_.empty(); });
}

}  // namespace pigment
