// SPDX-License-Identifier: Apache-2.0
//
// Pieces by a counter: who is done takes the next.

#include "engine/vector/shared_loop.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/base/out_of_memory.h"
#include "engine/base/thread_pool.h"

namespace pigment {
namespace {

// How long the caller's thread lets its pause wait while others run, which stand still for it.
constexpr std::chrono::milliseconds kPauseEvery{50};

// Where all threads but the caller's wait while it asks its pause.
class StandStill {
 public:
  // Of another thread, at its begin and its end: one that has ended is not waited for.
  void Enter() {
    std::unique_lock lock(mutex_);
    WaitUntilUnwanted(lock);
  }
  void Leave() {
    std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
  }
  // Of another thread, now and then.
  void WaitIfWanted() {
    if (!is_wanted_.load(std::memory_order_relaxed)) return;
    std::unique_lock lock(mutex_);
    --running_;
    changed_.notify_all();
    WaitUntilUnwanted(lock);
  }

  // Of the caller's thread: no other runs as long as it lives.
  class Scope {
   public:
    explicit Scope(StandStill& all) : all_(all) {
      std::unique_lock lock(all_.mutex_);
      all_.is_wanted_.store(true, std::memory_order_relaxed);
      all_.changed_.wait(lock, [this] { return all_.running_ == 0; });
    }
    ~Scope() {
      std::lock_guard lock(all_.mutex_);
      all_.is_wanted_.store(false, std::memory_order_relaxed);
      all_.changed_.notify_all();
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    StandStill& all_;
  };

 private:
  void WaitUntilUnwanted(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [this] { return !is_wanted_.load(std::memory_order_relaxed); });
    ++running_;
  }

  std::mutex mutex_;  // guards running_
  std::condition_variable changed_;
  std::atomic<bool> is_wanted_{false};
  uint32_t running_ = 0;
};

class SharedLoop {
 public:
  SharedLoop(uint32_t count, uint32_t piece, const std::function<LoopBody()>& make_body)
      : count_(count), piece_(piece), make_body_(make_body) {}

  // Of every thread but the caller's.
  void WorkBeside() {
    still_.Enter();
    Work([this] {
      still_.WaitIfWanted();
      return CheckOver();
    });
    still_.Leave();
  }
  // Of the caller's thread; `pause` may be empty.
  void WorkAsCaller(bool has_others, const BuildPause& pause) {
    auto due = std::chrono::steady_clock::time_point::min();
    Work([&]() -> Status {
      PIGMENT_RETURN_IF_ERROR(CheckOver());
      if (!pause) return Status::Ok();
      if (!has_others) return pause();
      if (std::chrono::steady_clock::now() < due) return Status::Ok();
      StandStill::Scope still(still_);
      const Status status = pause();
      due = std::chrono::steady_clock::now() + kPauseEvery;
      return status;
    });
  }
  const Status& failed() const { return failed_; }

 private:
  void Work(const BuildPause& pause) {
    const Status status = CatchOutOfMemory([&] { return WorkOrThrow(pause); });
    if (status.ok()) return;
    std::lock_guard lock(mutex_);
    if (failed_.ok()) failed_ = status;  // before others are told, whose errors say less
    is_over_.store(true, std::memory_order_relaxed);
  }
  Status WorkOrThrow(const BuildPause& pause) {
    LoopBody body;
    for (;;) {
      PIGMENT_RETURN_IF_ERROR(CheckOver());
      const uint64_t begin = next_.fetch_add(piece_, std::memory_order_relaxed);
      if (begin >= count_) return Status::Ok();
      if (!body) body = make_body_();
      const uint64_t end = std::min<uint64_t>(begin + piece_, count_);
      PIGMENT_RETURN_IF_ERROR(
          body(static_cast<uint32_t>(begin), static_cast<uint32_t>(end), pause));
    }
  }
  Status CheckOver() const {
    if (!is_over_.load(std::memory_order_relaxed)) return Status::Ok();
    return Status(Code::kCancelled, "another thread of the build has failed");
  }

  const uint32_t count_;
  const uint32_t piece_;
  const std::function<LoopBody()>& make_body_;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> is_over_{false};
  StandStill still_;
  std::mutex mutex_;  // guards failed_ while threads run
  Status failed_;
};

}  // namespace

Status ShareLoop(uint32_t threads, uint32_t count, uint32_t piece, const BuildPause& pause,
                 const std::function<LoopBody()>& make_body) {
  SharedLoop loop(count, piece, make_body);
  const uint32_t pieces = (count + piece - 1) / piece;
  std::vector<std::thread> others;
  others.reserve(threads);
  for (uint32_t i = 1; i < std::min(threads, pieces); ++i) {
    Result<std::thread> started = StartThread("pigment-build", [&loop] { loop.WorkBeside(); });
    if (!started.ok()) break;
    others.push_back(*std::move(started));
  }
  loop.WorkAsCaller(!others.empty(), pause);
  for (std::thread& other : others) other.join();
  return loop.failed();
}

}  // namespace pigment
