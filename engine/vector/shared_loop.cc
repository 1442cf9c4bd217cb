// SPDX-License-Identifier: Apache-2.0
//
// Pieces by a counter: who is done takes the next.

#include "engine/vector/shared_loop.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/base/out_of_memory.h"
#include "engine/base/thread_pool.h"

namespace pigment {
namespace {

class SharedLoop {
 public:
  SharedLoop(uint32_t count, uint32_t piece, const std::function<LoopBody()>& make_body)
      : count_(count), piece_(piece), make_body_(make_body) {}

  void Work(const BuildPause& pause) {
    const Status status = CatchOutOfMemory([&] { return WorkOrThrow(pause); });
    if (status.ok()) return;
    std::lock_guard lock(mutex_);
    if (failed_.ok()) failed_ = status;  // before others are told, whose errors say less
    is_over_.store(true, std::memory_order_relaxed);
  }
  // What those ask whose pause is somebody else's.
  Status CheckOver() const {
    if (!is_over_.load(std::memory_order_relaxed)) return Status::Ok();
    return Status(Code::kCancelled, "another thread of the build has failed");
  }
  const Status& failed() const { return failed_; }

 private:
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

  const uint32_t count_;
  const uint32_t piece_;
  const std::function<LoopBody()>& make_body_;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> is_over_{false};
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
    Result<std::thread> started =
        StartThread("pigment-build", [&loop] { loop.Work([&loop] { return loop.CheckOver(); }); });
    if (!started.ok()) break;
    others.push_back(*std::move(started));
  }
  const BuildPause both = [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(loop.CheckOver());
    return pause ? pause() : Status::Ok();
  };
  loop.Work(both);
  for (std::thread& other : others) other.join();
  return loop.failed();
}

}  // namespace pigment
